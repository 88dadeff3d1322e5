"""Tables with one row per text span: document, coder, start, end, label."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from annomodels.data.validation import at_rows, counted, is_blank
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import known_column, matched
from annomodels.io.words import OF_SPANS

_LOOKED_AT = 50  # spans that are inspected
_LARGEST = 10**8  # maximum number of characters in a text; larger numbers are timestamps


def is_span_table(source: Source, options: Options) -> bool:
    """Return True if rows have positions that differ within a document."""
    if options.coder_columns is not None:
        return False
    names = _roles(source.header, options)
    if not {"document", "start", "end", "label"} <= names.keys():
        return False
    table = source.table
    if not set(names.values()) <= {*table.header}:
        return False
    rows = zip(*(table.columns[names[role]] for role in ("document", "start", "end")), strict=True)
    places: dict[str, set[tuple[int, int]]] = {}
    # rows without a position only record who read which document, and may all come first
    marks = (row for row in rows if not all(map(_is_nowhere, row[1:])))
    for document, *ends in islice(marks, _LOOKED_AT):
        place = _place(ends)
        if place is None:
            return False
        places.setdefault(str(document), set()).add(place)
    # positions that are constant within a document describe the item
    return any(len(found) > 1 for found in places.values())


def read_span_table(found: Records) -> None:
    """Read one span per row; a row without a position means that its coder read the document."""
    source, options = found.source, found.options
    table = found.taken(source.table, used=())
    names = _roles(table.header, options)
    if found.problems:
        return
    found.lists_readers = False
    cells = {role: table.columns[name] for role, name in names.items()}
    size = len(cells["document"])
    coders = cells.get("coder", [source.stem] * size)
    quotes = cells.get("text", [""] * size)
    rows = zip(
        table.rows, cells["document"], coders, cells["start"], cells["end"], cells["label"], quotes,
        strict=True,
    )  # fmt: skip
    question = names["label"]
    found.stretches[question] = None
    wrong: list[int] = []
    for row, document, coder, start, end, label, words in rows:
        place = _place((start, end))
        if not _is_nowhere(start) and place is None:
            wrong.append(row)
            continue
        # a text column holds either the words of the span or the document
        quoted = place is not None and len(str(words)) <= place[1] - place[0]
        found.document(document, coder, "" if quoted or is_blank(words) else str(words))
        if place is not None:
            found.mark(document, coder, question, place, label, quote=str(words) if quoted else "")
    if wrong:
        found.problem(
            f"{counted(len(wrong), 'row')} where start and end are not whole numbers.",
            "Write the first character, counted from 0, and the first one after the mark.",
            at_rows(source.name, wrong),
            code="no-place",
        )


def _roles(header: Sequence[str], options: Options) -> dict[str, str]:
    """Return the column of each role, as named or by a known name."""
    said = {"document": options.item, "coder": options.coder, "label": options.label}
    said["text"] = options.text
    found = {role: name for role, name in said.items() if name is not None}
    places = places_in(header)
    for role, words in OF_SPANS.items():
        name = known_column(header, words) or places.get(role)
        if name is not None and name not in found.values():
            found.setdefault(role, name)
    coder = matched(header)["coder"]
    if len(coder) == 1 and coder[0] not in found.values():
        found.setdefault("coder", coder[0])
    return found


def places_in(header: Sequence[str]) -> dict[str, str]:
    """Return the columns that end in a known name of two words: error_span_start."""
    places: dict[str, str] = {}
    for role in ("start", "end"):
        ends = tuple(f"_{word}" for word in OF_SPANS[role] if "_" in word)
        found = [name for name in header if name.strip().casefold().endswith(ends)]
        places |= {role: found[0]} if len(found) == 1 else {}
    return places


def _is_nowhere(value: object) -> bool:
    """Return True if a place is empty or -1, as programs write where they found nothing."""
    return is_blank(value) or str(value) in ("-1", "-1.0")


def _place(ends: Sequence[object]) -> tuple[int, int] | None:
    """Return start and end as integers, or None if they are invalid."""
    try:
        start, end = (int(str(value).removesuffix(".0")) for value in ends)
    except ValueError:
        return None
    return (start, end) if start >= 0 and end < _LARGEST else None
