"""Sorting of names outside Python: byte keys in the order of ``coding.natural_key``."""

# A key is 00, the number as eight bytes, the text; or 01, the parts of the text, 00, the text. A
# part of digits is 01, their count without leading zeros in four bytes, the digits; any other part
# is 02, the case-folded text with 00 as 00 ff, and 00 01. UTF-8 bytes sort like code points.

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa

from annomodels.data.coding import natural_key
from annomodels.types import AnyArray


def key_of(name: str) -> bytes:
    """Return the key of one name."""
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


def keys_of(names: pa.LargeStringArray) -> pa.LargeBinaryArray:
    """Return the keys of a ``large_string`` array without nulls, as ``large_binary``."""
    from annomodels.kernels.ordering import key_sizes, write_keys

    text, offsets = _bytes_of(names)
    sizes = np.zeros(len(names), dtype=np.int64)
    kinds = np.zeros(len(names), dtype=np.int8)
    key_sizes(text, offsets, sizes, kinds)
    slow = {int(i): key_of(names[int(i)].as_py()) for i in np.flatnonzero(kinds == 2)}
    for i, key in slow.items():
        sizes[i] = len(key)
    places = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    out = np.empty(int(places[-1]), dtype=np.uint8)
    write_keys(text, offsets, kinds, np.zeros(1), places, out)
    for i, key in slow.items():
        out[places[i] : places[i + 1]] = np.frombuffer(key, dtype=np.uint8)
    buffers = [None, pa.py_buffer(places), pa.py_buffer(out)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(names), buffers)


def buckets(keys: pa.LargeBinaryArray, edges: pa.LargeBinaryArray) -> AnyArray:
    """Return the interval between sorted `edges` of each key; an edge starts an interval."""
    from annomodels.kernels.ordering import buckets_of

    out = np.zeros(len(keys), dtype=np.int16)
    buckets_of(*_bytes_of(keys), *_bytes_of(edges), out)
    return out


def _bytes_of(array: pa.Array) -> tuple[AnyArray, AnyArray]:
    """Return the bytes of a large array, and the offsets of its elements [element + 1]."""
    _, where, data = array.buffers()
    offsets = np.frombuffer(where, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    text = np.frombuffer(data, dtype=np.uint8) if data else np.zeros(0, dtype=np.uint8)
    for part in (offsets, text):  # Arrow buffers may be writable or not; one type is compiled
        part.setflags(write=False)
    return text, offsets
