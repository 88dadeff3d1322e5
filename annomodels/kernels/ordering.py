"""Names and rows in order: keys whose bytes sort as names do, and the rows of each item together.

The layout of a key is described in ``scale.naturalorder``; only names of plain ASCII are done here.
"""

from __future__ import annotations

import numpy as np

from annomodels.kernels.compile import Array, inlined, kernel

# a whole number with this many digits is exact in double precision
EXACT_DIGITS = 15
ZERO, NINE, UPPER_A, UPPER_Z, PLAIN_END = 48, 57, 65, 90, 128


@inlined
def kind_of(text: Array, begin: int, end: int) -> int:
    """Whether a name is a whole number (0), a text (1), or something Python has to look at (2)."""
    digits, numeric = True, True
    for n in range(begin, end):
        c = text[n]
        if c >= PLAIN_END:
            return 2
        if c < ZERO or c > NINE:
            digits = False
            # + - . _ e E and blanks may be parts of a number
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
    """Write the key of a text, or only say where it would end."""
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
    """Fill the length of the key of each name and who writes it: 2 means Python."""
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
    """Write the keys of whole numbers and texts; `values` is room for one number."""
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
            out[to + 1] += 128  # the sign of a number that is not negative
            for n in range(begin, end):
                out[to + 9 + n - begin] = text[n]


@inlined
def before(a: Array, a_begin: int, a_end: int, b: Array, b_begin: int, b_end: int) -> bool:
    """Whether the bytes of one key stand before those of another."""
    size = min(a_end - a_begin, b_end - b_begin)
    for n in range(size):
        x, y = a[a_begin + n], b[b_begin + n]
        if x != y:
            return bool(x < y)
    return a_end - a_begin < b_end - b_begin


@kernel
def buckets_of(keys: Array, places: Array, edges: Array, edge_places: Array, out: Array) -> None:
    """Fill how many edges do not stand after each key."""
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
def key_words(keys: Array, places: Array, skip: int, words: Array) -> None:
    """Fill numbers [word, name] that sort as the bytes of the keys after the first `skip` do."""
    for i in range(len(places) - 1):
        at, end = places[i] + skip, places[i + 1]
        for w in range(words.shape[0]):
            word = np.uint64(0)
            for n in range(at + 8 * w, at + 8 * w + 8):
                word = word << np.uint64(8)
                if n < end:
                    word |= np.uint64(keys[n])
            words[w, i] = word


@kernel
def common_start(keys: Array, places: Array) -> int:
    """Count the first bytes that all keys share."""
    size = places[1] - places[0]
    for i in range(1, len(places) - 1):
        size = min(size, places[i + 1] - places[i])
        n = 0
        while n < size and keys[places[i] + n] == keys[places[0] + n]:
            n += 1
        size = n
    return int(size)


@kernel
def group(rank: Array, coder: Array, starts: Array, order: Array) -> None:
    """Fill the order of rows by item, then coder, equal rows as they stood.

    `starts` [item + 1] is filled with where the rows of each item begin.
    """
    n_items = len(starts) - 1
    for n in range(len(rank)):
        starts[rank[n] + 1] += 1
    for i in range(n_items):
        starts[i + 1] += starts[i]
    place = starts[:-1].copy()
    for n in range(len(rank)):
        order[place[rank[n]]] = n
        place[rank[n]] += 1
    for i in range(n_items):
        lo, hi = starts[i], starts[i + 1]
        if hi - lo > 32:
            rows = order[lo:hi].copy()
            order[lo:hi] = rows[np.argsort(coder[rows], kind="mergesort")]
            continue
        for n in range(lo + 1, hi):
            row = order[n]
            at = n
            while at > lo and coder[order[at - 1]] > coder[row]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = row


@inlined
def root_of(parent: Array, j: int) -> int:
    """Give the coder that stands for all that share items with coder j."""
    while parent[j] != j:
        parent[j] = parent[parent[j]]
        j = parent[j]
    return j


@kernel
def survey(
    starts: Array, coder: Array, label: Array, n_labels: int,
    per_coder: Array, pairs: Array, same: Array, parent: Array, found: Array,
) -> None:  # fmt: skip
    """Add what sorted labels say of their coders.

    `per_coder` counts labels, `pairs` and `same` [coder] count pairs of labels of one coder on one
    item and those that are equal, `parent` joins coders who share an item. `found` counts repeats,
    repeats that differ from the label before, items with two coders, and holds the fewest and most
    labels of an item.
    """
    votes = np.zeros(n_labels, dtype=np.int64)
    for i in range(len(starts) - 1):
        lo, hi = starts[i], starts[i + 1]
        found[3] = min(found[3], hi - lo)
        found[4] = max(found[4], hi - lo)
        first = root_of(parent, coder[lo])
        at = lo
        while at < hi:
            stop = at
            j = coder[at]
            while stop < hi and coder[stop] == j:
                stop += 1
            per_coder[j] += stop - at
            other = root_of(parent, j)
            if other != first:
                parent[other] = first
            if stop - at > 1:
                votes[:] = 0
                for n in range(at, stop):
                    votes[label[n]] += 1
                    if n > at:
                        found[0] += 1
                        found[1] += label[n] != label[n - 1]
                pairs[j] += (stop - at) * (stop - at - 1) // 2
                for k in range(n_labels):
                    same[j] += votes[k] * (votes[k] - 1) // 2
            if at == lo and stop < hi:
                found[2] += 1
            at = stop
