"""Looking things up in records of JSON that may be anything."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["at", "is_list_of", "keys_of", "parsed"]


def at(record: Any, path: str) -> Any:
    """Value of a key, or of a path of keys with dots between; None if it is not there.

    Examples
    --------
    >>> at({"meta": {"id": "t1"}}, "meta.id"), at({"a.b": 1}, "a.b"), at([], "x")
    ('t1', 1, None)
    """
    if not isinstance(record, Mapping):
        return None
    if path in record:
        return record[path]
    first, dot, rest = path.partition(".")
    return at(record.get(first), rest) if dot else None


def keys_of(records: Iterable[Any], depth: int = 2) -> list[str]:
    """Paths that records hold, for messages."""
    found: dict[str, None] = {}
    for record in records:
        if isinstance(record, Mapping):
            for key, value in record.items():
                found[str(key)] = None
                if depth > 1 and isinstance(value, Mapping):
                    found |= {f"{key}.{inner}": None for inner in keys_of([value], depth - 1)}
    return list(found)


def is_list_of(value: Any, kind: type | tuple[type, ...]) -> bool:
    """Whether a value is a list with at least one part, all of one kind.

    Examples
    --------
    >>> is_list_of(["a"], str), is_list_of([], str), is_list_of("a", str)
    (True, False, False)
    """
    return isinstance(value, list) and bool(value) and all(isinstance(part, kind) for part in value)


def parsed(cell: Any) -> Any:
    """JSON within a cell, numbers as text; the cell itself if it holds none.

    Examples
    --------
    >>> parsed('["a", 1]'), parsed("pos"), parsed("[sic]")
    (['a', '1'], 'pos', '[sic]')
    """
    if not isinstance(cell, str) or cell[:1] not in ("[", "{"):
        return cell
    try:
        return json.loads(cell, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return cell
