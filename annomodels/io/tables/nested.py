"""Records whose cells hold the labels of all coders, as lists or objects.

Data sets with the answers of each coder come so: ``{"annotators": ["a", "b"], "labels": [1, 0]}``,
``{"annotations": [{"annotator": "a", "label": 1}]}``, ``{"labels": {"a": 1, "b": 0}}``, or, where
text is marked, ``{"PER": {"a": [[0, 4]]}}``; and as texts in the cells of a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from annomodels.errors import Option
from annomodels.io.border import NoLabels
from annomodels.io.objects import KEY, at, cell_value, is_list_of, named_records
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import matched
from annomodels.io.tables.keys import parts_of
from annomodels.io.words import ALIASES, BOXES, is_asked

_SAMPLE = 50
_MOST = 50  # most different labels of coders who stand side by side in a cell
_IDS = ("id", "_id", "uid", "uuid", "idx", "index", "key", "docid", "doc_id")
_SCALAR = (str, int, float, bool)
_MARKS = (", ", ",", ";", "|")

Record = Mapping[str, Any]
Answer = tuple[Any, str, Any]  # coder, question ("" where lists are uneven) and label
Fields = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Layout:
    """Where the labels are, and the answers that one field of a record holds."""

    labels: tuple[str, ...]
    answers: Callable[[Record, str], Iterable[Answer]]
    coder: str = ""
    note: str = ""


def is_nested(source: Source, options: Options) -> bool:
    return _layout(source, options) is not None


def read_nested(found: Records) -> None:
    source, options = found.source, found.options
    layout = _layout(source, options)
    if layout is None:
        what = "No field holds labels by coder."
        remedy = f"Name the fields of coders and labels: {Option('coder')}, {Option('label')}."
        found.problems.append(NoLabels(what, source.name, remedy))
        return
    name = _item_field(source, options, layout)
    uneven = 0
    for row, record in _records(source):
        item = row if name is None else at(record, name)
        text = at(record, found.text_field(record))
        found.text(item, text)
        for field in layout.labels:
            if layout.answers is _places_by_coder:
                for coder, _, places in _places_by_coder(record, field):
                    found.document(str(item), coder, text)
                    for place in places if isinstance(places, list) else ():
                        *ends, label = _span(place, field) or (field,)
                        found.mark(str(item), coder, "label", ends, label)
                continue
            for coder, question, label in layout.answers(record, field):
                if question:
                    found.add(item, coder, question, label, row)
                else:
                    uneven += 1
            if options.truth is not None:
                found.gold(item, field, at(record, options.truth))
    if layout.note:
        found.note(layout.note)
    if uneven:
        what = f"lists of coders and labels have different lengths in {uneven:,} records"
        found.leave_out(f"their {what}", uneven)


# -- where the labels are --------------------------------------------------------------------


def _records(source: Source) -> Iterator[tuple[int, dict[str, object]]]:
    """Return records; those under names, or rows of a table, as one object each."""
    if not source.is_json:
        yield from source.table.records()
        return
    is_alone = len(list(islice(source.objects, 2))) == 1
    for row, record in source.objects:
        named = named_records(record) if is_alone else None
        if named is not None:
            yield from enumerate(named, 1)
        elif isinstance(record, dict):
            yield row, record
        elif is_list_of(record, dict):
            yield row, {"responses": record}


def _layout(source: Source, options: Options) -> Layout | None:
    if not source.is_json and not _has_brackets(source, options):
        return None
    records = [record for _, record in islice(_records(source), _SAMPLE)]
    fields: dict[str, list[Any]] = {}
    for record in records:
        for name, cell in record.items():
            value = cell_value(cell)
            if value not in (None, "", [], {}):
                fields.setdefault(name, []).append(value)
    asked = options.label or (options.coder_columns[0] if options.coder_columns else None)
    wanted = {n: vs for n, vs in fields.items() if n == asked or (asked is None and _is_word(n))}
    return (
        _of_objects(wanted, options)
        or _by_coder(wanted)
        or _beside(fields, records, options)
        or _of_spans({n: vs for n, vs in fields.items() if options.label in (None, n)})
        or _of_places(fields, options)
    )


def _has_brackets(source: Source, options: Options) -> bool:
    """Return True if cells begin like a list or object, or hold the labels of several coders."""
    alone = options.coder is None and not matched(source.table.header)["coder"]
    for name, cells in source.table.columns.items():
        few = [cell for cell in cells[:_SAMPLE] if cell != ""]
        if few and all(isinstance(c, (list, dict)) or str(c)[:1] in ("[", "{") for c in few):
            return True
        if alone and name == options.label and places_of(few):
            return True
        several = name.strip().casefold().endswith("s") and _is_word(name, "coder")
        if several and few and all(_listed(cell) is not None for cell in few):
            return True
    return False


def _plain(name: str) -> str:
    """Name of a field as a word of ours: in the singular, without what tools add."""
    plain = name.strip().casefold().rsplit(".", 1)[-1]
    for end in ("_ids", "ids", "_id", "s"):
        plain = plain.removesuffix(end) or plain
    return {"judgement": "judgment", "response": "answer"}.get(plain, plain)


def _is_word(name: str, role: str = "") -> bool:
    words = {*ALIASES["coder"], *ALIASES["label"]} if not role else set(ALIASES[role])
    plain = _plain(name)
    of_coders = role != "label" and re.split(r"[_. -]", plain)[-1] in ALIASES["coder"]
    return plain in words or (of_coders and role != "item")


def _of_objects(fields: Fields, options: Options) -> Layout | None:
    """Find ``[{"annotator": "a", "label": 1}]``."""
    for name, values in fields.items():
        if not all(is_list_of(value, dict) for value in values):
            continue
        inner = [part for value in values for part in value]
        keys = list(dict.fromkeys(key for part in inner for key in part))
        coder = next((key for key in keys if key == options.coder or _is_word(key, "coder")), None)
        if coder is None or not all(isinstance(part.get(coder), _SCALAR) for part in inner):
            continue

        def answers(record: Record, field: str, coder: str = coder) -> Iterator[Answer]:
            cell = cell_value(record.get(field))
            for part in cell if isinstance(cell, list) else ():
                if isinstance(part, dict):
                    yield from _answers(part, coder)

        return Layout((name,), answers, coder)
    return None


def _answers(part: Record, coder: str) -> Iterator[Answer]:
    """Answers in the object of one coder: what is called a label, else all that it says."""
    own = [name for name in part if name != coder and _is_word(name, "label")]
    rest = [name for name in part if name != coder and _plain(name) not in ("", *_IDS)]
    for name in own or rest:
        value = part[name]
        for question, label in value.items() if isinstance(value, dict) else [(name, value)]:
            yield part.get(coder), question, label


def _by_coder(fields: Fields) -> Layout | None:
    """Find ``{"a": 1, "b": 0}``, or objects with answers to several questions by coder."""

    def is_label(label: object) -> bool:
        if isinstance(label, dict):
            return all(isinstance(value, _SCALAR) for value in label.values())
        return isinstance(label, (*_SCALAR, type(None))) or is_list_of(label, _SCALAR)

    def answers(record: Record, field: str) -> Iterator[Answer]:
        for coder, _, label in _places_by_coder(record, field):
            for question, one in label.items() if isinstance(label, dict) else [(field, label)]:
                yield coder, question, one

    found = [
        name
        for name, values in fields.items()
        if all(isinstance(value, dict) and not _is_share(value, name) for value in values)
        and all(is_label(label) for value in values for label in value.values())
    ]
    return Layout(tuple(found), answers) if found else None


def _is_share(value: Record, name: str) -> bool:
    """Return True for shares of labels, which add up to one, and for counts."""
    try:
        numbers = [float(share) for share in value.values()]
    except (TypeError, ValueError):
        return False
    if not any(n % 1 for n in numbers):
        labels = all(is_asked(key) or key.casefold() in BOXES for key in value)
        return _plain(name) in ("count", "tally") or (labels and max(numbers, default=0) > 1)
    return abs(sum(numbers) - 1) < 0.02


def _beside(fields: Fields, records: Sequence[Record], options: Options) -> Layout | None:
    """Find ``"annotators": ["a", "b"], "labels": [1, 0]``, also as texts with commas."""
    for coder in (name for name in fields if name == options.coder or _is_word(name, "coder")):

        def answers(record: Record, field: str, coder: str = coder) -> Iterator[Answer]:
            who, what = (
                _listed(cell_value(record.get(coder))),
                _listed(cell_value(record.get(field))),
            )
            if who is not None and what is not None and len(who) == len(what):
                yield from ((one, field, label) for one, label in zip(who, what, strict=True))
            elif record.get(field) not in (None, "", [], "[]"):
                yield "", "", ""

        names = [cell_value(record.get(coder)) for record in records]
        alike = [
            name
            for name in fields
            if name != coder
            and all(
                _is_even(who, cell_value(record.get(name)))
                for who, record in zip(names, records, strict=True)
            )
        ]
        labels = [name for name in alike if _is_word(name, "label")] or alike
        if options.label is not None:
            labels = [name for name in alike if name == options.label]
        if labels:
            return Layout(tuple(labels), answers, coder)
    return None


def _is_even(coders: object, labels: object) -> bool:
    who, what = _listed(coders), _listed(labels)
    if who is None or what is None:
        return coders in (None, "") and labels in (None, "")
    return len(who) == len(what)


def _listed(cell: Any) -> list[Any] | None:
    """Members of a list, or of a text with signs between them; None if it is neither."""
    if isinstance(cell, list):
        return cell
    mark = next((mark for mark in _MARKS if isinstance(cell, str) and mark in cell), None)
    return None if mark is None else [part.strip() for part in cell.split(mark)]


def _side_by_side(cell: object) -> Sequence[object]:
    """Members of a list, or of a text with signs or blanks between them."""
    return _listed(cell) or (cell.split() if isinstance(cell, str) else [])


def places_of(cells: Iterable[object]) -> list[list[str]]:
    """Labels of each place in cells of as many labels; nothing if places share no labels."""
    cells = list(cells)
    if not cells or len(_side_by_side(cell_value(cells[0]))) < 2:
        return []
    rows = [_side_by_side(cell_value(cell)) for cell in cells]
    if len({*map(len, rows)}) != 1:
        return []
    if not all(isinstance(label, _SCALAR) for row in rows for label in row):
        return []
    places = [[str(row[n]) for row in rows] for n in range(len(rows[0]))]
    union = set().union(*places)
    few = len(union) <= _MOST and not all(any("." in c for c in p) for p in places)
    return (
        places if few and all(2 * len(union.intersection(p)) >= len(union) for p in places) else []
    )


def _of_places(fields: Fields, options: Options) -> Layout | None:
    """Find lists of one length that were named as labels: then the place is the coder."""

    def answers(record: Record, field: str) -> Iterator[Answer]:
        for place, label in enumerate(_side_by_side(cell_value(record.get(field))), 1):
            yield str(place), field, label

    if not places_of(fields.get(options.label or "", ())):
        return None
    note = "The lists name no coders: a place in the list counts as a coder."
    return Layout((str(options.label),), answers, note=note)


def _of_spans(fields: Fields) -> Layout | None:
    """Find ``{"a": [[0, 4], [7, 9]]}``."""
    found = []
    for name, values in fields.items():
        if not all(isinstance(value, dict) for value in values):
            continue
        lists = [places for value in values for places in value.values()]
        if not all(isinstance(one, list) for one in lists):
            continue
        places = [place for some_places in lists for place in some_places]
        if places and all(_span(place, name) is not None for place in places):
            found.append(name)
    return Layout(tuple(found), _places_by_coder) if found else None


def _places_by_coder(record: Record, field: str) -> Iterator[Answer]:
    """Return what an object holds for each coder."""
    value = cell_value(record.get(field))
    for coder, held in value.items() if isinstance(value, dict) else ():
        yield str(coder), field, held


def _span(place: object, label: str) -> tuple[int, int, str] | None:
    """Start, end and label of ``[0, 4]``, ``[0, 4, "PER"]`` or an object that says the same."""
    if isinstance(place, dict):
        named = place.get("label", place.get("labels", label))
        place = [place.get("start"), place.get("end"), named]
    if not isinstance(place, list) or len(place) not in (2, 3):
        return None
    try:
        start, end = (int(place[0]), int(place[1]))
    except (TypeError, ValueError):
        return None
    return start, end, str(place[2]) if len(place) == 3 else label


def _item_field(source: Source, options: Options, layout: Layout) -> str | None:
    """Field that names the records: as said, by a known name, or none, so that rows are counted."""
    if options.item is not None:
        return options.item
    few = [record for _, record in islice(_records(source), _SAMPLE)]
    taken = {layout.coder, *layout.labels, *parts_of(options.text)}
    known = [
        name for name in dict.fromkeys(name for record in few for name in record)
        if name not in taken and (_is_word(name, "item") or name.casefold() in _IDS)
        and all(isinstance(record.get(name), _SCALAR) for record in few)
    ]  # fmt: skip
    known.sort(key=lambda name: name == KEY)  # a field of its own before the name it stands under
    unique = [name for name in known if len({str(r[name]) for r in few}) == len(few)]
    return next(iter(unique or known), None)
