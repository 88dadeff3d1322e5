"""Sorting of names and rows: keys whose bytes sort like the names, and rows by item."""

# scale.naturalorder describes the layout of a key; only ASCII names are handled here.

from __future__ import annotations

import numpy as np

from annomodels.kernels.compile import Array, inlined, kernel

# an integer with this many digits is exact in double precision
EXACT_DIGITS = 15
ZERO, NINE, UPPER_A, UPPER_Z, PLAIN_END = 48, 57, 65, 90, 128


@inlined
def kind_of(text: Array, begin: int, end: int) -> int:
    """Classify a name as an integer (0), text (1), or a name that Python must check (2)."""
    digits, numeric = True, True
    for n in range(begin, end):
        c = text[n]
        if c >= PLAIN_END:
            return 2
        if c < ZERO or c > NINE:
            digits = False
            # + - . _ e E and whitespace may be parts of a number
            if not (
                c == 43 or c == 45 or c == 46 or c == 95 or c == 101 or c == 69
                or c == 32 or (9 <= c <= 13)
            ):  # fmt: skip
                numeric = False
    if end == begin:
        return 1
    if digits:
        return 0 if end - begin <= EXACT_DIGITS else 2
    return 2 if numeric else 1


@inlined
def write_text_key(text: Array, begin: int, end: int, out: Array, to: int, write: bool) -> int:
    """Return the end of the key of a text, and write the key if `write`."""
    n = to
    if write:
        out[n] = 1
    n += 1
    at = begin
    while at < end:
        stop = at
        if ZERO <= text[at] <= NINE:
            while stop < end and ZERO <= text[stop] <= NINE:
                stop += 1
            while at < stop and text[at] == ZERO:
                at += 1
            size = stop - at
            if write:
                out[n] = 1
                for byte in range(4):
                    out[n + 1 + byte] = (size >> (8 * (3 - byte))) & 255
                for place in range(size):
                    out[n + 5 + place] = text[at + place]
            n += 5 + size
        else:
            if write:
                out[n] = 2
            n += 1
            while stop < end and not ZERO <= text[stop] <= NINE:
                c = text[stop]
                if UPPER_A <= c <= UPPER_Z:
                    c += 32
                if write:
                    out[n] = c
                n += 1
                if c == 0:
                    if write:
                        out[n] = 255
                    n += 1
                stop += 1
            if write:
                out[n] = 0
                out[n + 1] = 1
            n += 2
        at = stop
    if write:
        out[n] = 0
        for place in range(end - begin):
            out[n + 1 + place] = text[begin + place]
    return n + 1 + end - begin


@kernel
def key_sizes(text: Array, offsets: Array, sizes: Array, kinds: Array) -> None:
    """Fill the length of each key and its kind; keys of kind 2 are left to Python."""
    nowhere = np.empty(0, dtype=np.uint8)
    for i in range(len(offsets) - 1):
        begin, end = offsets[i], offsets[i + 1]
        kinds[i] = kind_of(text, begin, end)
        if kinds[i] == 0:
            sizes[i] = 9 + end - begin
        elif kinds[i] == 1:
            sizes[i] = write_text_key(text, begin, end, nowhere, 0, False)


@kernel
def write_keys(
    text: Array, offsets: Array, kinds: Array, values: Array, places: Array, out: Array
) -> None:
    """Write the keys of integers and texts; `values` is a buffer for one number."""
    bits = values.view(np.uint64)
    for i in range(len(offsets) - 1):
        begin, end, to = offsets[i], offsets[i + 1], places[i]
        if kinds[i] == 1:
            write_text_key(text, begin, end, out, to, True)
        elif kinds[i] == 0:
            number = np.int64(0)
            for n in range(begin, end):
                number = number * 10 + (text[n] - ZERO)
            values[0] = number
            out[to] = 0
            for byte in range(8):
                out[to + 1 + byte] = np.uint8(bits[0] >> np.uint64(8 * (7 - byte)))
            out[to + 1] += 128  # the sign bit of a nonnegative number
            for n in range(begin, end):
                out[to + 9 + n - begin] = text[n]


@inlined
def before(a: Array, a_begin: int, a_end: int, b: Array, b_begin: int, b_end: int) -> bool:
    """Return True if one key sorts before another."""
    size = min(a_end - a_begin, b_end - b_begin)
    for n in range(size):
        x, y = a[a_begin + n], b[b_begin + n]
        if x != y:
            return bool(x < y)
    return a_end - a_begin < b_end - b_begin


@kernel
def buckets_of(keys: Array, places: Array, edges: Array, edge_places: Array, out: Array) -> None:
    """Fill the number of edges that are not greater than each key."""
    for i in range(len(places) - 1):
        low, high = 0, len(edge_places) - 1
        while low < high:
            middle = (low + high) // 2
            if before(
                keys, places[i], places[i + 1],
                edges, edge_places[middle], edge_places[middle + 1],
            ):  # fmt: skip
                high = middle
            else:
                low = middle + 1
        out[i] = low


@kernel
def in_order(codes: Array, order: Array, starts: Array, out: Array) -> None:
    """Fill `out` with rows sorted by code, ties in `order`, and `starts` [code + 1]."""
    # linear in the rows; to sort by several codes, sort by each in turn, the primary one last
    for n in range(len(codes)):
        starts[codes[n] + 1] += 1
    for code in range(len(starts) - 1):
        starts[code + 1] += starts[code]
    place = starts[:-1].copy()
    for row in order:
        out[place[codes[row]]] = row
        place[codes[row]] += 1


@inlined
def root_of(parent: Array, j: int) -> int:
    """Return the root of the component of coders that share items with coder j."""
    while parent[j] != j:
        parent[j] = parent[parent[j]]
        j = parent[j]
    return j


@kernel
def survey(
    starts: Array, coder: Array, label: Array, n_labels: int,
    pairs: Array, same: Array, parent: Array,
) -> tuple[int, int, int]:  # fmt: skip
    """Count repeats, repeats that differ, and items with two coders among sorted labels."""
    # also adds to pairs [coder], label pairs of one coder on one item, and to same [coder], the
    # equal ones; joins coders who share an item in parent
    repeats, conflicts, shared = 0, 0, 0
    votes = np.zeros(n_labels, dtype=np.int64)
    for i in range(len(starts) - 1):
        lo, hi = starts[i], starts[i + 1]
        first = root_of(parent, coder[lo])
        at = lo
        while at < hi:
            stop = at
            j = coder[at]
            while stop < hi and coder[stop] == j:
                stop += 1
            other = root_of(parent, j)
            if other != first:
                parent[other] = first
            if stop - at > 1:
                votes[:] = 0
                for n in range(at, stop):
                    votes[label[n]] += 1
                    if n > at:
                        repeats += 1
                        conflicts += label[n] != label[n - 1]
                pairs[j] += (stop - at) * (stop - at - 1) // 2
                for k in range(n_labels):
                    same[j] += votes[k] * (votes[k] - 1) // 2
            if at == lo and stop < hi:
                shared += 1
            at = stop
    return repeats, conflicts, shared
