"""Records whose cells hold the labels of all coders, as lists or objects.

Examples are ``{"annotators": ["a", "b"], "labels": [1, 0]}``,
``{"annotations": [{"annotator": "a", "label": 1}]}``, ``{"labels": {"a": 1, "b": 0}}`` and, for
spans, ``{"PER": {"a": [[0, 4]]}}``. Table cells can hold them as text. Answers can be deeper:
``{"sentences": [{"text": "..", "responses": [{"worker": "a", "response": "yes"}]}]}``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from annomodels.data.validation import LONGEST_LABEL
from annomodels.io.objects import KEY, at, cell_value, is_list_of, named_records
from annomodels.io.records import Records
from annomodels.io.roles import GAIN, agree
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import matched
from annomodels.io.tables.keys import key_of, parts_of
from annomodels.io.words import ALIASES, BOXES, NamedColumn, is_asked

_SAMPLE = 50
_MOST = 50  # maximum number of distinct labels in cells that list them by coder
_IDS = ("id", "_id", "uid", "uuid", "idx", "index", "key", "docid", "doc_id")
_SCALAR = (str, int, float, bool)
_MARKS = (", ", ",", ";", "|")
_ANSWERS = "responses"  # field of the answers to an item nested in a record

Record = Mapping[str, Any]
Answer = tuple[Any, str, Any]  # coder, question ("" if lists differ in length) and label
Fields = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class NestedLayout:
    """Label fields, and a function from record, label field and coder field to answers."""

    labels: tuple[str, ...]
    answers: Callable[[Record, str, str], Iterable[Answer]]
    coder: str = ""
    note: str = ""
    is_deep: bool = False  # a record holds several items


def is_nested(source: Source, options: Options) -> bool:
    return _layout(source, options) is not None


def read_nested(found: Records) -> None:
    source, options = found.source, found.options
    layout = _layout(source, options)
    assert layout is not None  # or the format does not fit
    name = KEY if layout.is_deep else _item_field(source, options, layout)
    uneven = 0
    for row, record in _deep(source) if layout.is_deep else _records(source):
        item = row if name is None else at(record, name)
        text = at(record, found.text_field(record))
        found.text(item, text)
        for field in layout.labels:
            for coder, question, label in layout.answers(record, field, layout.coder):
                if layout.answers is _held:  # spans of text
                    found.document(str(item), coder, text)
                    for place in label if isinstance(label, list) else ():
                        *ends, word = _span(place, field) or (field,)
                        found.mark(str(item), coder, "label", ends, word)
                elif question:
                    found.add(item, coder, question, label, row)
                else:
                    uneven += 1
            if options.truth is not None and layout.answers is not _held:
                found.gold(item, field, at(record, options.truth))
    if layout.note:
        found.note(layout.note)
    if uneven:
        what = f"lists of coders and labels have different lengths in {uneven:,} records"
        found.leave_out(f"their {what}", uneven)


# -- find the labels -------------------------------------------------------------------------


def _records(source: Source) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield records, named records or table rows, each as one object."""
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


def _deep(source: Source) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield each item nested in a record as a separate record with its fields and answers.

    Its name joins the parts of the record's name and its path that differ between items.
    """
    records = list(_records(source))
    own = [name for name in records[0][1] if name.casefold() in _IDS] if records else []
    names = [str(record.get(own[0], row)) if own else str(row) for row, record in records]
    if len({*names}) < len(names):
        names = [str(row) for row, _ in records]
    found = [
        (row, (name, *path), within)
        for (row, record), name in zip(records, names, strict=True)
        for path, within in _items_in(record)
    ]
    width = max((len(path) for _, path, _ in found), default=0)
    even = all(len(path) == width for _, path, _ in found)
    told = [n for n in range(width) if not even or len({path[n] for _, path, _ in found}) > 1]
    for row, path, within in found:
        yield row, {KEY: key_of(path[n] for n in told if n < len(path)), **within}


def _items_in(
    value: object, most: int | None = None
) -> Iterator[tuple[tuple[str, ...], dict[str, object]]]:
    """Yield the path of each list of answers with coders, and the scalar fields next to it.

    `most` limits the number of fields and members that are searched at each level.
    """
    if isinstance(value, dict):
        for name, held in islice(value.items(), most):
            if is_list_of(held, dict) and any(_who([part]) is not None for part in held[:_SAMPLE]):
                beside = {n: v for n, v in value.items() if isinstance(v, _SCALAR) and n != KEY}
                yield (name,), {**beside, _ANSWERS: held}
            else:
                yield from (((name, *path), within) for path, within in _items_in(held, most))
    elif isinstance(value, list):
        for n, part in enumerate(islice(value, most), 1):
            yield from (((str(n), *path), within) for path, within in _items_in(part, most))


def _who(answers: Sequence[Record], coder: str | None = None) -> str | None:
    """Return the field that names the coder in every answer, or None."""
    keys = dict.fromkeys(key for part in answers for key in part)
    who = next((key for key in keys if key == coder or _is_word(key, "coder")), None)
    named = who is not None and all(isinstance(part.get(who), _SCALAR) for part in answers)
    return who if named else None


def _layout(source: Source, options: Options) -> NestedLayout | None:
    if not source.is_json and not _has_brackets(source, options):
        return None
    records = [record for _, record in islice(_records(source), _SAMPLE)]
    names = dict.fromkeys(name for record in records for name in record)
    every = {name: [cell_value(record.get(name)) for record in records] for name in names}
    fields = {name: [v for v in vs if v not in (None, "", [], {})] for name, vs in every.items()}
    fields = {name: values for name, values in fields.items() if values}
    asked = options.label or (options.coder_columns[0] if options.coder_columns else None)
    wanted = {n: vs for n, vs in fields.items() if n == asked or (asked is None and _is_word(n))}
    coders = [name for name in fields if name == options.coder or _is_word(name, "coder")]
    objects = {n: vs for n, vs in wanted.items() if all(is_list_of(v, dict) for v in vs)}
    for name, values in objects.items():
        inner = [part for value in values for part in value]
        who = _who(inner, options.coder)
        if who is not None:
            return NestedLayout((name,), _answers_in(inner), who)
    found = [n for n, values in wanted.items() if all(_is_by_coder(v, n) for v in values)]
    if found := [n for n in found if asked is not None or not _are_texts(fields[n])]:
        return NestedLayout(tuple(found), _by_coder)
    for who in coders:
        pairs = {n: zip(every[who], vs, strict=True) for n, vs in every.items() if n in fields}
        alike = [n for n, both in pairs.items() if n != who and all(_is_even(*p) for p in both)]
        labels = [name for name in alike if _is_word(name, "label")] or alike
        if options.label is not None:
            labels = [name for name in alike if name == options.label]
        if labels:
            return NestedLayout(tuple(labels), _beside, who)
    if found := [n for n in fields if options.label in (None, n) and _are_spans(n, fields[n])]:
        return NestedLayout(tuple(found), _held)
    if places_of(fields.get(options.label or "", ())):
        note = "The lists do not name coders: each position in a list counts as a coder."
        return NestedLayout((str(options.label),), _in_places, note=note)
    if source.is_json and asked is None and options.item is None:
        return _deep_layout([record for _, record in islice(_records(source), _SAMPLE)])
    return None


def _deep_layout(records: Sequence[Record]) -> NestedLayout | None:
    """Return the layout of answers nested below the fields of records, or None."""
    found = [one for record in records for _, one in _items_in(record, _SAMPLE)]
    inner: list[Record] = [part for one in found for part in one[_ANSWERS]]  # type: ignore[attr-defined]
    named = Counter(who for part in inner if (who := _who([part])) is not None)
    answers = _answers_in(inner)
    for who, _ in named.most_common(1):
        asked = {question for one in found for _, question, _ in answers(one, _ANSWERS, who)}
        if len(asked) > 1 or any(_is_word(question, "label") for question in asked):
            return NestedLayout((_ANSWERS,), answers, who, is_deep=True)
    return None


def _has_brackets(source: Source, options: Options) -> bool:
    """Return True if cells look like lists or objects, or hold the labels of several coders."""
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
    """Normalize a field name: singular, without the prefixes and suffixes of tools."""
    plain = name.strip().casefold().rsplit(".", 1)[-1]
    for end in ("_ids", "ids", "_id", "s"):
        plain = plain.removesuffix(end) or plain
    return {"judgement": "judgment", "response": "answer"}.get(plain, plain)


def _is_word(name: str, role: str = "") -> bool:
    words = {*ALIASES["coder"], *ALIASES["label"]} if not role else set(ALIASES[role])
    plain = _plain(name)
    of_coders = role != "label" and re.split(r"[_. -]", plain)[-1] in ALIASES["coder"]
    return plain in words or (of_coders and role != "item")


# -- read the answers in a field -------------------------------------------------------------


def _answers_in(parts: Iterable[Record]) -> Callable[[Record, str, str], Iterator[Answer]]:
    """Return a reader of answers like `parts`, in which lists of objects are not labels."""
    held = {n for part in parts for n, value in part.items() if is_list_of(value, dict)}
    return partial(_in_objects, held=frozenset(held))


def _in_objects(record: Record, field: str, coder: str, held: Collection[str]) -> Iterator[Answer]:
    """Yield answers in ``[{"annotator": "a", "label": 1}]``: label fields, else all fields."""
    cell = cell_value(record.get(field))
    for part in cell if isinstance(cell, list) else ():
        fields = part if isinstance(part, dict) else ()
        names = [name for name in fields if name != coder and name not in held]
        own = [name for name in names if _is_word(name, "label")]
        for name in own or [name for name in names if _plain(name) not in ("", *_IDS)]:
            value = part[name]
            for question, label in value.items() if isinstance(value, dict) else [(name, value)]:
                yield part.get(coder), question, label


def _held(record: Record, field: str, _: str = "") -> Iterator[Answer]:
    """Yield the value per coder of an object such as ``{"a": [[0, 4], [7, 9]]}``."""
    value = cell_value(record.get(field))
    for coder, held in value.items() if isinstance(value, dict) else ():
        yield str(coder), field, held


def _by_coder(record: Record, field: str, _: str) -> Iterator[Answer]:
    """Yield answers in ``{"a": 1, "b": 0}``, or in objects with several questions per coder."""
    for coder, _, label in _held(record, field):
        for question, one in label.items() if isinstance(label, dict) else [(field, label)]:
            yield coder, question, one


def _are_texts(values: Sequence[Mapping[str, object]]) -> bool:
    """Return True if objects hold what each coder saw or wrote: mostly longer than any label."""
    held = [label for value in values for label in value.values()]
    return 2 * sum(len(str(label)) > LONGEST_LABEL for label in held) > len(held)


def _is_by_coder(value: object, name: str) -> bool:
    """Return True for labels by coder, but not for counts or proportions that add up to 1."""
    if not isinstance(value, dict):
        return False
    for label in value.values():
        parts = label.values() if isinstance(label, dict) else label
        several = isinstance(label, dict) or is_list_of(label, object)
        if not all(
            one is None or isinstance(one, _SCALAR) for one in (parts if several else [label])
        ):
            return False
    try:
        numbers = [float(share) for share in value.values()]
    except (TypeError, ValueError):
        return True
    if any(n % 1 for n in numbers):
        return abs(sum(numbers) - 1) >= 0.02
    labels = all(is_asked(key) or key.casefold() in BOXES for key in value)
    return _plain(name) not in ("count", "tally") and not (labels and max(numbers, default=0) > 1)


def _beside(record: Record, field: str, coder: str) -> Iterator[Answer]:
    """Yield answers in ``"annotators": ["a", "b"], "labels": [1, 0]``, or in delimited text."""
    who, what = (_listed(cell_value(record.get(name))) for name in (coder, field))
    if who is not None and what is not None and len(who) == len(what):
        yield from ((one, field, label) for one, label in zip(who, what, strict=True))
    elif record.get(field) not in (None, "", [], "[]"):
        yield "", "", ""


def _is_even(coders: object, labels: object) -> bool:
    who, what = _listed(coders), _listed(labels)
    if who is None or what is None:
        return coders in (None, "") and labels in (None, "")
    return len(who) == len(what)


def _listed(cell: Any) -> list[Any] | None:
    """Return the members of a list or of delimited text; None if it is neither."""
    if isinstance(cell, list):
        return cell
    mark = next((mark for mark in _MARKS if isinstance(cell, str) and mark in cell), None)
    return None if mark is None else [part.strip() for part in cell.split(mark)]


def _side_by_side(cell: object) -> Sequence[object]:
    """Return the members of a list, or of text with delimiters or spaces."""
    return _listed(cell) or (cell.split() if isinstance(cell, str) else [])


def places_of(cells: Iterable[object]) -> list[list[str]]:
    """Return labels by position if all cells have equally many; [] if positions share too few."""
    cells = list(cells)
    if not cells or len(_side_by_side(cell_value(cells[0]))) < 2:
        return []
    rows = [_side_by_side(cell_value(cell)) for cell in cells]
    if len({*map(len, rows)}) != 1:
        return []
    if not all(label is None or isinstance(label, _SCALAR) for row in rows for label in row):
        return []
    places = [["" if row[n] is None else str(row[n]) for row in rows] for n in range(len(rows[0]))]
    union = set().union(*places) - {""}
    few = len(union) <= _MOST and not all(any("." in c for c in p) for p in places)
    return (
        places if few and all(2 * len(union.intersection(p)) >= len(union) for p in places) else []
    )


def lists_labels(cells: Sequence[object]) -> bool:
    """Return True if cells list labels that agree as those of coders do."""
    places = places_of(cells)
    return bool(places) and agree([NamedColumn("", place) for place in places]) >= GAIN


def _in_places(record: Record, field: str, _: str) -> Iterator[Answer]:
    for place, label in enumerate(_side_by_side(cell_value(record.get(field))), 1):
        yield str(place), field, label


def _are_spans(name: str, values: Sequence[Any]) -> bool:
    if not all(isinstance(value, dict) for value in values):
        return False
    lists = [held for value in values for held in value.values()]
    if not all(isinstance(held, list) for held in lists):
        return False
    places = [place for held in lists for place in held]
    return bool(places) and all(_span(place, name) is not None for place in places)


def _span(place: object, label: str) -> tuple[int, int, str] | None:
    """Return start, end and label of ``[0, 4]``, ``[0, 4, "PER"]`` or an equivalent object."""
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


def _item_field(source: Source, options: Options, layout: NestedLayout) -> str | None:
    """Return the field that names the records: as given, by a known name, or None."""
    if options.item is not None:
        return options.item
    few = [record for _, record in islice(_records(source), _SAMPLE)]
    taken = {layout.coder, *layout.labels, *parts_of(options.text)}
    known = [
        name for name in dict.fromkeys(name for record in few for name in record)
        if name not in taken and (_is_word(name, "item") or name.casefold() in _IDS)
        and all(isinstance(record.get(name), _SCALAR) for record in few)
    ]  # fmt: skip
    known.sort(key=lambda name: name == KEY)  # prefer a field of the record to its key in the file
    unique = [name for name in known if len({str(r[name]) for r in few}) == len(few)]
    return next(iter(unique or known), None)
