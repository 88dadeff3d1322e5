"""Sorting names outside Python: keys of bytes that stand in the order of ``coding.natural_key``.

A key is ``00``, the number as eight bytes, the text; or ``01``, the parts of the text, ``00``, the
text. A part of digits is ``01``, their count without leading zeros in four bytes, the digits; any
other part is ``02``, the folded text with ``00`` as ``00 ff``, and ``00 01``. Bytes of UTF-8 sort
as code points do.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.coding import natural_key

__all__ = ["Keys", "buckets", "key_of", "keys_of", "ranks"]

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
# the bytes of all keys, and where each begins, shape [name + 1]
Keys = tuple[Bytes, Ints]
MOST_WORDS = 16


def key_of(name: str) -> bytes:
    """Key of one name.

    Parameters
    ----------
    name
        The name.

    Examples
    --------
    >>> sorted(["t10", "T2", "a", "10", "9.5"], key=key_of)
    ['9.5', '10', 'a', 'T2', 't10']
    """
    kind, *rest = natural_key(name)
    text = name.encode("utf-8", "surrogatepass")
    if kind == 0:
        (bits,) = struct.unpack(">Q", struct.pack(">d", rest[0] + 0.0))
        bits = bits ^ 0xFFFFFFFFFFFFFFFF if bits >> 63 else bits | 1 << 63
        return b"\0" + struct.pack(">Q", bits) + text
    out = b"\1"
    for is_text, size, part in rest[0]:
        code = part.encode("utf-8", "surrogatepass")
        if is_text:
            out += b"\2" + code.replace(b"\0", b"\0\xff") + b"\0\1"
        else:
            out += b"\1" + struct.pack(">I", size) + code
    return out + b"\0" + text


def keys_of(names: Any) -> Keys:
    """Keys of an Arrow array of texts without gaps.

    Parameters
    ----------
    names
        A ``large_string`` array.

    Examples
    --------
    >>> import pyarrow as pa
    >>> keys, places = keys_of(pa.array(["b", "a1"], pa.large_string()))
    >>> [keys[a:b].tobytes() == key_of(n) for a, b, n in zip(places, places[1:], ["b", "a1"])]
    [True, True]
    """
    from annomodels.kernels.ordering import key_sizes, write_keys

    _, where, data = names.buffers()
    offsets = np.frombuffer(where, dtype=np.int64)[names.offset : names.offset + len(names) + 1]
    text = np.frombuffer(data, dtype=np.uint8) if data else np.zeros(0, dtype=np.uint8)
    for array in (offsets, text):  # Arrow says now this, now that; the loops are compiled for one
        array.setflags(write=False)
    sizes = np.zeros(len(names), dtype=np.int64)
    kinds = np.zeros(len(names), dtype=np.int8)
    key_sizes(text, offsets, sizes, kinds)
    slow = np.flatnonzero(kinds == 2)
    by_hand = {int(i): key_of(names[int(i)].as_py()) for i in slow}
    for i, key in by_hand.items():
        sizes[i] = len(key)
    places = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    out = np.empty(int(places[-1]), dtype=np.uint8)
    write_keys(text, offsets, kinds, np.zeros(1), places, out)
    for i, key in by_hand.items():
        out[places[i] : places[i + 1]] = np.frombuffer(key, dtype=np.uint8)
    return out, places


def ranks(keys: Keys) -> tuple[Ints, Ints]:
    """Order of distinct keys, and the rank of each.

    Parameters
    ----------
    keys
        At least one key.
    """
    from annomodels.kernels.ordering import common_start, key_words

    data, places = keys
    skip = common_start(data, places)
    longest = int(np.diff(places).max()) - skip
    n_words = max(1, -(-longest // 8))
    n = len(places) - 1
    if n_words > MOST_WORDS:
        order = _sorted_by_arrow(keys)
    else:
        words = np.empty((n_words, n), dtype=np.uint64)
        key_words(data, places, skip, words)
        order = np.argsort(words[0])
        first = words[0][order]
        if (first[1:] == first[:-1]).any():
            order = np.lexsort(words[::-1])
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    return order.astype(np.int64), rank


def _sorted_by_arrow(keys: Keys) -> Ints:
    import pyarrow as pa
    import pyarrow.compute as pc

    data, places = keys
    buffers = [None, pa.py_buffer(np.ascontiguousarray(places)), pa.py_buffer(data)]
    array = pa.Array.from_buffers(pa.large_binary(), len(places) - 1, buffers)
    return np.asarray(pc.sort_indices(array).to_numpy(), dtype=np.int64)


def buckets(keys: Keys, edges: list[bytes]) -> NDArray[np.int32]:
    """Give the stretch between sorted `edges` into which each key falls; an edge begins one."""
    from annomodels.kernels.ordering import buckets_of

    out = np.zeros(len(keys[1]) - 1, dtype=np.int32)
    if edges:
        joined = np.frombuffer(b"".join(edges), dtype=np.uint8)
        sizes = np.cumsum([0, *map(len, edges)]).astype(np.int64)
        buckets_of(*keys, joined, sizes, out)
    return out
