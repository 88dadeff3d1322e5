"""Cells of an Arrow column as the texts that ``annomodels.read`` makes of them."""

from __future__ import annotations

from typing import Any

__all__ = ["is_fractional", "texts"]


def texts(column: Any, fractional: bool) -> Any:
    """Give a column as ``large_string`` without gaps; a missing cell is the empty text.

    Parameters
    ----------
    column
        An Arrow array, in pieces or not.
    fractional
        Whether floats keep their fractions; else they are whole numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts(pa.array([1.0, None, 2.0]), False).to_pylist()
    ['1', '', '2']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_null(column.type):
        return pa.array([""] * len(column), pa.large_string())
    simple = (
        pa.types.is_integer(column.type)
        or pa.types.is_string(column.type)
        or pa.types.is_large_string(column.type)
        or pa.types.is_boolean(column.type)
    )
    if simple:
        cells = column.cast(pa.large_string())
    else:
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        values = [_text(value, fractional) for value in coded.dictionary.to_pylist()]
        cells = pa.array(values, pa.large_string()).take(coded.indices)
    if cells.null_count:
        cells = pc.fill_null(cells, "")
    return cells


def is_fractional(column: Any) -> bool:
    """Whether some number of a column of floats is not whole.

    Examples
    --------
    >>> import pyarrow as pa
    >>> is_fractional(pa.array([1.0, None, 2.5])), is_fractional(pa.array([1.0, float("nan")]))
    (True, False)
    """
    import pyarrow.compute as pc

    column = column.filter(pc.is_finite(column))
    return bool(pc.any(pc.not_equal(pc.floor(column), column)).as_py())


def _text(value: Any, fractional: bool) -> str | None:
    if value is None or value != value:
        return None
    if isinstance(value, float) and not fractional and value.is_integer():
        return str(int(value))
    return str(value)
