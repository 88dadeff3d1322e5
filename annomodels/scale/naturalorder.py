"""Keys whose bytes sort like names in the order of ``coding.natural_key``, for many names."""

# The key of a number is 00 and its eight bytes. That of a text is its case-folded parts: before
# digits without leading zeros are 01 and their count; before a text that follows a text is 02. In
# texts, bytes up to 03 become 03 and the byte plus 1. UTF-8 bytes sort like code points.

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from annomodels.data.coding import natural_key
from annomodels.types import AnyArray

# integers that are exact in double precision, and ASCII with a character that no number has
INTEGER = "^[0-9]{1,15}$"
TEXT = "^[\\x04-\\x7f]*[!-*,/:-DF-^`-df-\\x7f][\\x04-\\x7f]*$"
MOST_DIGITS = 255  # a count from here on is 255 and four bytes


def key_of(name: str) -> bytes:
    """Return the key of one name."""
    kind, *rest = natural_key(name)
    if kind == 0:
        (bits,) = struct.unpack(">Q", struct.pack(">d", rest[0] + 0.0))
        bits = bits ^ 0xFFFFFFFFFFFFFFFF if bits >> 63 else bits | 1 << 63
        return b"\0" + struct.pack(">Q", bits)
    out, after_text = b"", False
    for is_text, size, part in rest[0]:
        code = part.encode("utf-8", "surrogatepass")
        if is_text:
            escaped = (b"\3" + bytes([c + 1]) if c < 4 else bytes([c]) for c in code)
            out += b"\2" * after_text + b"".join(escaped)
        elif size < MOST_DIGITS:
            out += bytes([1, size]) + code
        else:
            out += bytes([1, MOST_DIGITS]) + struct.pack(">I", size) + code
        after_text = is_text
    return out or b"\1"


def keys_of(names: pa.Array) -> pa.Array:
    """Return the keys of an array of strings without nulls; most are made without Python."""
    names = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
    is_text = pc.match_substring_regex(names, TEXT)
    is_integer = pc.match_substring_regex(names, INTEGER)
    others = pc.invert(pc.or_(is_integer, is_text))
    keys = pa.nulls(len(names), pa.large_binary())
    for chosen, make in ((is_text, _of_texts), (is_integer, _of_integers), (others, _of_any)):
        if chosen.true_count:
            keys = pc.replace_with_mask(keys, chosen, make(names.filter(chosen)))
    return keys.cast(pa.binary())


def _of_any(names: pa.Array) -> pa.Array:
    return pa.array(map(key_of, names.to_pylist()), pa.large_binary())


def _of_integers(names: pa.Array) -> pa.Array:
    values = pc.cast(pc.cast(names, pa.int64()), pa.float64()).to_numpy()
    keys = np.zeros((len(values), 9), dtype=np.uint8)
    keys[:, 1:] = values.astype(">f8").view(np.uint8).reshape(-1, 8)
    keys[:, 1] += 128  # the sign bit of a nonnegative number
    return _binary(keys.ravel(), np.arange(len(values) + 1) * 9)


def _of_texts(names: pa.Array) -> pa.Array:
    """Make room before the digits of all names together, and move their characters."""
    _, offsets, data = names.cast(pa.large_string()).buffers()
    starts = np.frombuffer(offsets, dtype=np.int64, count=len(names) + 1)
    text = np.frombuffer(data, dtype=np.uint8, count=int(starts[-1]))
    digit = text - np.uint8(ord("0")) < 10  # below 0 wraps around
    first, last = digit.copy(), digit.copy()  # of digits
    first[1:] &= ~digit[:-1]
    last[:-1] &= ~digit[1:]
    first[starts[:-1]] = digit[starts[:-1]]
    last[starts[1:] - 1] = digit[starts[1:] - 1]
    begin, end = np.flatnonzero(first), np.flatnonzero(last) + 1
    width = np.ones(len(text), dtype=np.int32)
    size = end - begin
    if (text[begin] == ord("0")).any():
        other = np.append(np.flatnonzero(text != ord("0")), len(text))
        zeros = np.minimum(other[np.searchsorted(other, begin)], end) - begin
        place = np.repeat(begin - np.cumsum(zeros) + zeros, zeros) + np.arange(zeros.sum())
        width[place] = 0
        size -= zeros
    if size.max(initial=0) >= MOST_DIGITS:
        return _of_any(names)
    kept = width == 1
    width[begin] += 2
    ends = np.cumsum(width, dtype=np.int64)
    out = np.empty(int(ends[-1]), dtype=np.uint8)
    upper = text - np.uint8(ord("A")) < 26
    out[ends[kept] - 1] = (text + upper * np.uint8(32))[kept]
    head = ends[begin] - width[begin]
    out[head], out[head + 1] = 1, size
    return _binary(out, np.append(0, ends)[starts])


def _binary(data: AnyArray, starts: AnyArray) -> pa.Array:
    buffers = [None, pa.py_buffer(starts.astype(np.int64)), pa.py_buffer(data)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(starts) - 1, buffers)
