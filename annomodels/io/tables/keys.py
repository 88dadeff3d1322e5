"""Keys: several columns that together name the items."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from typing import cast

from annomodels.data.names import label_text
from annomodels.data.validation import is_blank
from annomodels.errors import AnnotationError, Option

Names = str | Sequence[str]
_QUOTED = re.compile(r'[,"\r\n]')


class Key(str):
    """Columns that together name the items: ``Key(["doc", "seg"])`` is ``doc,seg``."""

    __slots__ = ("parts",)
    parts: tuple[str, ...]

    def __new__(cls, parts: Iterable[str]) -> Key:
        names = tuple(parts)
        made = super().__new__(cls, ",".join(map(quoted, names)))
        made.parts = names
        return made


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def parts_of(name: str | None) -> tuple[str, ...]:
    """Return the columns of a key, or the single column."""
    if isinstance(name, Key):
        return name.parts
    return () if name is None else (name,)


def said_key(item: Names | None, known: Iterable[str] = ()) -> str | None:
    """Return the given column or key; commas separate columns unless a column has that name."""
    if item is None or isinstance(item, Key):
        return item
    if isinstance(item, str):
        found = next((name for name in known if name == item), None)  # may already be a key
        if "," not in item or found is not None:
            return found or item
        try:
            row = next(csv.reader([item], skipinitialspace=True), [])
        except csv.Error:
            return item
        names = [name.strip() for name in row if name.strip()]
    else:
        given: object = item
        names = list(item) if isinstance(given, (list, tuple)) else []
        if not names or not all(isinstance(name, str) for name in cast("list[object]", names)):
            what = f"{Option('item', item)} is neither a name nor a list of names."
            remedy = "Give the name of a column as text, or a list of such names."
            raise AnnotationError(what, remedy=remedy, code="no-key")
    names = list(dict.fromkeys(names))
    if not names:
        return str(item)
    return names[0] if len(names) == 1 else Key(names)


def key_cells(columns: Sequence[Sequence[object]]) -> list[str]:
    """Join the cells of several columns to item names, as rows of CSV."""
    written = []
    for cells in columns:
        texts = {cell: quoted("" if is_blank(cell) else label_text(cell)) for cell in set(cells)}
        same = all(cell is text or cell == text for cell, text in texts.items())
        written.append(cells if same else [texts[cell] for cell in cells])
    names = list(map(",".join, zip(*written, strict=True)))
    nothing = "," * (len(columns) - 1)
    return ["" if name == nothing else name for name in names] if nothing in set(names) else names


def key_of(values: Iterable[object]) -> str:
    """Return the name of one item as in :func:`key_cells`; "" if all values are missing."""
    texts = ["" if is_blank(value) else label_text(value) for value in values]
    return ",".join(map(quoted, texts)) if any(texts) else ""
