"""Options that may read a table, by its columns, the most likely first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any

from annomodels.data.validation import LONGEST_LABEL, all_numbers, is_blank
from annomodels.io.likely import (
    ASKED_PEOPLE,
    CODER,
    ITEM,
    JUDGES,
    LABEL,
    NOT_NAMES,
    PERSON,
    QUESTION,
    SYSTEM,
    Column,
)
from annomodels.io.many import files_in
from annomodels.io.objects import is_list_of, keys_of
from annomodels.io.source import Source
from annomodels.io.tables.columns import matched
from annomodels.io.tables.guard import SAID
from annomodels.io.tables.guard import proposal as key_of_rows
from annomodels.io.tables.keys import Key, key_cells, parts_of, said_key
from annomodels.io.tables.known import concluded
from annomodels.io.tables.matrix import counts_in
from annomodels.io.tables.nested import places_of
from annomodels.io.tables.plain import GOLD_WORDS, no_header
from annomodels.io.tables.questions import (
    OF_PEOPLE,
    are_times,
    is_asked,
    is_derived,
    unsuitable,
)
from annomodels.io.tables.table import Table

_KEYED = 6  # columns of ids of which two may be the item together
_LOOKED_AT = 20  # columns that are compared, each with each
ROWS = 5_000  # rows that are looked at
_LABELS = 1.5  # labels of an item, from which a column of any name may name the items
_ANSWERS = 3  # answers of each, from which people who were asked are coders
_RATED = 5  # rows of each, from which those whom a column names made what the row holds
_OTHERS = 3  # times as many columns of numbers as look like coders: so do some of many measures
_KAPPA = 0.15  # agreement from which columns may be coders, whatever they are called
_SURE = 0.35  # agreement of each two columns of numbers from which they may be coders
_CODED = 3  # coders whose numbers may stand behind each variable, at most
_PHRASE = 2  # words that tell the names of columns of coders apart, at most
_CLASSES = 50  # most different labels of coders whose columns are told by the labels
_NUMBER = re.compile(r"\d+")
_NUMBERED = re.compile(r"(.*?)[_ .-]?(\d+|(?<=[_ .-])[A-Za-z])")
_NUMBER_WITHIN = re.compile(r"(.*?[A-Za-z])[_ .-]?\d+(\D*[A-Za-z]\D*)")  # entry_1_type
_LETTERS = {"A": "annotator", "C": "coder", "J": "judge", "R": "rater"}  # A1 tone, A2 tone
# names of columns of a survey, as tools of surveys number them
_OF_SURVEY = re.compile(r"[Qq]\d+\D*.*|.*\[\w+\]|.*\?|Answer\..*")


def candidates(source: Source, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Options that may read a table, most likely first."""
    if source.inside is not None:
        yield from _files(source, given)
    if source.inside is not None or source.kind == "xml":
        return
    is_text = source.kind in ("excel", "delimited") and given.keys() <= {"sheet", "encoding"}
    if is_text and (lines := _above(source.rows.rows)):
        yield {"skip_rows": lines}
        return
    table = source.table
    if len(table) < 2 or table.problems:
        return
    if "columns" not in given and no_header(table):
        yield from _without_header(table)
        return
    columns, lists = columns_in(table)
    absent = {
        role
        for role in ("item", "coder", "label")
        if not set(parts_of(said_key(given.get(role), table.header))) <= set(table.header)
    }
    given = {name: value for name, value in given.items() if name not in absent}
    used = {given[role] for role in ("truth", "group", "text") if isinstance(given.get(role), str)}
    free = [one for one in columns if one.name not in used]
    if counts_in(table) is not None:
        return
    if not given and _are_coders(columns):
        yield {"coder_columns": tuple(one.name for one in columns)}
    if not given.get("label"):
        yield from _in_cells(table)
        yield from ({"label": one.name} for one in lists)
    # numbered columns of coders tell more than a column of people, whom they may have judged
    numbered = any(Column(name, ()).has(CODER) for name, *_ in _groups(free))
    for road in (wide, _long) if numbered else (_long, wide):
        yield from road(free, given)


def _in_cells(table: Table) -> Iterator[dict[str, object]]:
    """Columns whose cells each hold the labels of several coders."""
    for name, whole in table.columns.items():
        cells = [cell for cell in whole[:ROWS] if not is_blank(cell)]
        keys = [k for c in cells for k in keys_of(c if isinstance(c, list) else [c], 1)]
        judges = Column(name, ()).has(CODER | JUDGES)
        if cells and all(is_list_of(cell, dict) for cell in cells):
            who = [k for k in dict.fromkeys(keys) if Column(k, ()).has(CODER)]
            who += [k for k in dict.fromkeys(keys) if judges and Column(k, ()).has(SYSTEM)]
            for key in who[:1]:
                yield {"label": name, "coder": key}
        elif cells and all(isinstance(cell, dict) and cell for cell in cells):
            shown = [key for key, n in Counter(keys).items() if 2 * n > len(cells)]
            votes = [[str(cell.get(key, "")) for cell in cells] for key in shown[:_LOOKED_AT]]
            plain = not any(is_asked(key) for key in shown)
            if len(shown) > 1 and plain and (judges or agree(votes, _SURE)):
                yield {"label": name}
        elif len({*map(str, cells)}) > 1 and (places := places_of(cells)) and agree(places):
            yield {"label": name}


def columns_in(table: Table) -> tuple[list[Column], list[Column]]:
    """Columns with plain cells, and those of lists that may hold the labels of several coders."""
    columns = [Column(n, cells[:ROWS]) for n, cells in table.columns.items() if n.strip()]
    columns = [one for one in columns if one.filled]
    lists = [one for one in columns if str(one.filled[0])[:1] == "["]
    plain = [one for one in columns if one.is_plain]
    return plain[:200], [one for one in lists if one.has(LABEL) or one.has(CODER)]


def _above(rows: Sequence[Sequence[str]]) -> int:
    """Count the lines above a header that stands lower down."""
    filled = [{cell.strip() for cell in row if cell.strip()} for row in rows[:12]]
    width = max(map(len, filled), default=0)
    first = next((n for n, cells in enumerate(filled) if 2 * len(cells) > width), 0)
    is_header = width > 2 and len(filled[first]) >= 0.8 * width
    return first if is_header and any(filled[:first]) and not all_numbers(filled[first]) else 0


def _files(source: Source, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Columns of items and labels in files that each hold the work of one coder."""
    files = files_in(source)
    tables = [file.source.table for file in files]
    if len(files) < 2 or given.get("coder") or any(table.problems for table in tables):
        return
    if "columns" not in given and all(no_header(t) and len(t.header) == 2 for t in tables):
        sizes = [Column("", cells).distinct for cells in tables[0].columns.values()]
        yield {"columns": ("item", "label") if sizes[0] > sizes[1] else ("label", "item")}
        return
    names = [n for n in tables[0].header if n.strip() and all(n in t.columns for t in tables)]
    if sum(Column(name, ()).has(CODER) for name in names) > 1:
        return  # the columns are of coders, so the files are of something else
    lacking = [t for t in tables if not matched(t.header)["label"]]
    if len(lacking) == 1 and not given.get("label"):  # one file calls its labels otherwise
        only = lacking[0].columns
        free = [Column(n, cells) for n, cells in only.items() if n not in names]
        free = [one for one in free if one.is_plain and 1 < one.distinct <= _CLASSES]
        yield from ({"label": one.name} for one in free)
    size = ROWS // len(tables)
    columns = [
        Column(name, [cell for table in tables for cell in table.columns[name][:size]])
        for name in names
        if name != "coder"
    ]
    who = [file.who for file, t in zip(files, tables, strict=True) for _ in t.rows[:size]]
    plain = [one for one in columns if one.is_plain and one.filled]
    shared = {one.name for one in plain if one.distinct <= 0.8 * len(one.cells)}
    for options in _with_coder(plain, Column("coder", who), {**given, "coder": "coder"}):
        if shared.intersection(parts_of(options.get("item"))) or "item" in given:
            yield options


def _are_coders(columns: Sequence[Column]) -> bool:
    """Return True if each column holds labels of one set, so that none names the items."""
    sets = [{str(cell) for cell in one.filled} for one in columns]
    union = set().union(*sets)
    return (
        1 < len(columns) <= len(columns[0].cells)
        and all(one.distinct < len(one.cells) for one in columns)
        and all(3 * len(one) >= len(union) for one in sets)
        and (
            all(one.has(CODER) for one in columns) or agree([[*map(str, c.cells)] for c in columns])
        )
    )


def _long(columns: Sequence[Column], given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Columns of item, coder and label, by their names and by what they hold."""
    if given.get("coder_columns") is not None:
        return
    by_name = {one.name: one for one in columns}
    coders = [by_name[given["coder"]]] if given.get("coder") in by_name else coders_in(columns)
    for coder in coders[:2]:
        yield from _with_coder(columns, coder, given)


def coders_in(columns: Sequence[Column]) -> list[Column]:
    """Columns that may name the coders, most likely first."""
    numbered = {name for group in _groups(columns) for name in group}
    maybe = [
        one
        for one in columns
        if one.name not in numbered
        and 1 < one.distinct < len(one.cells)
        and one.length <= LONGEST_LABEL
        and not are_times(one.filled)
        and "agree" not in one.words
    ]
    coders = [one for one in maybe if one.names_coders]
    common = set.intersection(*({*one.words} for one in coders)) if len(coders) > 1 else set()
    if common & CODER and _share(coders):
        return []  # such as ana (judge) and ben (judge), which hold the labels of a coder each
    # authors of a text or two each wrote it; those who were asked gave several answers
    asked = [c for c in maybe if c.has(ASKED_PEOPLE) or c.words == ["id"]]
    asked = [c for c in asked if len(c.cells) >= _ANSWERS * c.distinct]
    coders = coders or _whose(maybe, columns) or asked
    # what is said of coders repeats with each of them and tells fewer apart
    coders = [c for c in coders if not any(_tells(o, c) for o in coders if o is not c)]
    return sorted(coders, key=lambda c: (not (c.is_id or {*c.words[-1:]} & CODER), -c.distinct))


def _whose(maybe: Sequence[Column], columns: Sequence[Column]) -> list[Column]:
    """Column that tells people apart, as their age and gender show."""
    people = [one for one in columns if OF_PEOPLE.fullmatch(one.name.strip())]
    found = [
        one
        for one in maybe
        if len(people) > 1
        and one.distinct < len(one.cells) / 2
        and all(_tells(one, other) for other in people)
    ]
    return sorted(found, key=lambda one: one.distinct)[:1]


def _tells(one: Column, other: Column) -> bool:
    """Return True if each value of a column goes with one value of another, which has fewer."""
    value: dict[str, str] = {}
    return other.distinct < one.distinct and all(
        value.setdefault(str(a), str(b)) == str(b)
        for a, b in zip(one.cells, other.cells, strict=True)
    )


def _with_coder(
    columns: Sequence[Column], coder: Column, given: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    options: dict[str, Any] = {} if given.get("coder") else {"coder": coder.name}
    rest = [one for one in columns if one is not coder]
    label = given.get("label") or given.get("question")
    items = items_in(rest, coder, label) if given.get("item") is None else [None]
    for item in items[:3]:
        said = dict(options) if item is None else {**options, "item": item.name}
        if label is not None:
            yield said
            continue
        own = item or next((one for one in rest if one.name == given.get("item")), coder)
        cells = [str(cell) for cell in own.cells]
        for asked, first in _asked([one for one in rest if one is not own], cells, coder):
            options = {"question_column": asked.name, "question": first}
            labels = [one for one in rest if one not in (own, asked) and one.has(LABEL)]
            yield from ({**said, **options, "label": one.name} for one in labels[:1])
        if item is not None and (key := _key(rest, item, coder)) is not None:
            if pairs_of(key, coder) < _LABELS * key.distinct and not item.is_id:
                continue  # any columns tell rows apart if there are enough of them
            said = {**said, "item": key.name}
            cells = list(map(str, key.cells))
        labels = [
            one
            for one in rest
            if one.name not in parts_of(said.get("item") or given.get("item"))
            and _is_label(one, cells, coder)
        ]
        labels = [one for one in labels if not one.is_id]
        labels = [one for one in labels if not OF_PEOPLE.fullmatch(one.name.strip())] or labels
        labels = [one for one in labels if not _is_shown(one, cells)] or labels
        # Score 1 is no label of Prompt 5
        if number := _NUMBER.search(str(own.name)):
            labels = [
                c for c in labels if (n := _NUMBER.search(c.name)) is None or n[0] == number[0]
            ]
        named = [one for one in labels if one.has(LABEL) and not one.is_id]
        for one in named if len(named) == 1 else labels if len(labels) == 1 else []:
            yield {**said, "label": one.name}
        if len(labels) > 1:
            yield {**said, "question": (named or labels)[0].name}


def pairs_of(one: Column, other: Column) -> int:
    """Count the different pairs of cells."""
    return len(set(zip(map(str, one.cells), map(str, other.cells), strict=True)))


def _key(rest: Sequence[Column], item: Column, coder: Column) -> Column | None:
    """Columns that name the items together, where one alone leaves rows that repeat."""
    cells = {one.name: one.cells for one in (*rest, coder)}
    found = key_of_rows(cells, {"item": item.name, "coder": coder.name})
    pairs = pairs_of(item, coder)
    names = (item.name, *(found.columns if found and pairs <= 0.9 * len(item.cells) else ()))
    for one in rest if len(names) == 1 else ():  # each system's output for an input is an item
        whole = Column(one.name, key_cells([item.cells, one.cells]))
        if one.has(SYSTEM) and pairs < pairs_of(whole, coder) == len(item.cells):
            names = (item.name, one.name)
    if len(names) == 1:
        return None
    return Column(Key(names), key_cells([cells[name] for name in names]))


def _asked(
    columns: Sequence[Column], item: Sequence[str], coder: Column
) -> Iterator[tuple[Column, str]]:
    """Columns by whose name and cells a row answers one question of several, with the first."""
    pairs = list(zip(item, map(str, coder.cells), strict=True))
    for one in columns:
        if one.has(QUESTION) and 1 < one.distinct <= _CLASSES and len(set(pairs)) < len(pairs):
            asked = set(zip(pairs, map(str, one.cells), strict=True))
            if len(asked) > 0.99 * len(pairs):
                yield one, str(one.filled[0])


def _is_label(one: Column, items: Sequence[str], coder: Column) -> bool:
    kept = [n for n, cell in enumerate(one.cells) if not is_blank(cell)]
    cells = [one.cells[n] for n in kept]
    whose = [str(coder.cells[n]) for n in kept]
    why = unsuitable(one.name, [items[n] for n in kept], whose, cells)
    few = len(set(map(str, cells))) <= max(_CLASSES, len(kept) // 20)
    return why is None and (few or (one.has(LABEL) and all_numbers(cells)))


def _is_shown(one: Column, items: Sequence[str]) -> bool:
    """Return True if a column hardly differs within an item, like what the coders were shown."""
    first: dict[str, str] = {}
    other = sum(
        first.setdefault(i, str(c)) != str(c) for i, c in zip(items, one.cells, strict=True)
    )
    return other < 0.05 * (len(items) - len(first))


def items_in(rest: Sequence[Column], coder: Column, label: str | None) -> list[Column]:
    """Columns whose values several coders have, and no coder often twice."""
    found = []
    for one in rest:
        pairs = set(zip(map(str, one.cells), map(str, coder.cells), strict=True))
        if one.name == label or not 1 < one.distinct < len(pairs) or are_times(one.filled):
            continue
        if (
            one.measures
            or {"seconds", "agree"}.intersection(one.words)
            or SAID.fullmatch(one.name.strip())
        ):
            continue
        cells = [str(cell) for cell in one.cells]
        known = (
            one.has(ITEM)
            or one.is_id
            or any(_asked([c for c in rest if c is not one], cells, coder))
        )
        few = len(pairs) < max(0.9 * len(one.cells), _LABELS * one.distinct)
        if (few or one.distinct < 0.02 * len(one.cells)) and not known:
            continue
        if not (one.is_id or coder.has(CODER)) and coder.is_id and one.has(QUESTION):
            continue  # the id is that of the items, and what is asked about each another column
        repeats = 1 - len(pairs) / len(one.cells)
        kind = (
            not (one.has(ITEM) and one.is_id),
            one.has(QUESTION),
            repeats > 0,
            not (one.is_id or one.has(ITEM)),
            one.length > LONGEST_LABEL,
        )
        found.append(((repeats > 0.1, *kind, repeats, one.length), one))
    if not found and label is None:
        return list(islice(_crossed(rest, coder), 1))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _crossed(rest: Sequence[Column], coder: Column) -> Iterator[Column]:
    """Two columns that name the items together, where each alone repeats for every coder."""
    names = [c for c in rest if c.distinct > 1 and not (c.has(LABEL) or c.measures)]
    names = [c for c in names if not (is_asked(c.name) or is_derived(c.name) or c.has(CODER))]
    for a, b in combinations(names[:_KEYED], 2):
        both = Column(Key((a.name, b.name)), key_cells([a.cells, b.cells]))
        if pairs_of(both, coder) == len(both.cells) >= _LABELS * both.distinct:
            yield both


def wide(columns: Sequence[Column], given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Columns of coders that are numbered, or share a set of labels of their own."""
    if given.get("coder") is not None or given.get("label") is not None:
        return
    asked = given.get("coder_columns")
    people = [one.name for one in columns if PERSON.fullmatch(one.name.strip())]
    groups = [people] if len(people) > 1 else [*_groups(columns), *_alike(columns)]
    for group in groups if asked is None else [asked]:
        said: dict[str, Any] = {}
        if asked is None:
            if all(one.holds_marks for one in columns if one.name in group):
                continue
            derived = [n for n in group if is_derived(n) or n.strip().casefold() in GOLD_WORDS]
            group = [name for name in group if name not in derived]
            if len(group) < 2:
                continue
            said = {"coder_columns": tuple(group)}
            truths = [name for name in derived if name.casefold() in GOLD_WORDS] or derived
            if len(truths) == 1 and "truth" not in given:
                said["truth"] = truths[0]
        if given.get("item") is not None:
            yield said
            continue
        labels = [one.cells for one in columns if one.name in group]
        rows = [n for n, row in enumerate(zip(*labels, strict=True)) if not all(map(is_blank, row))]
        rest = [
            Column(one.name, [one.cells[n] for n in rows])
            for one in columns
            if one.name not in group and one.distinct > 1 and not are_times(one.filled)
        ]
        unique = [one for one in rest if one.distinct == len(one.cells)]
        known = [one for one in rest if one.has(ITEM) or one.is_id]
        both = (one for one in unique if one in known)
        order = sorted(both, key=lambda one: (not one.is_id, one.length > LONGEST_LABEL))
        for a, b in combinations([] if unique else known[:_KEYED], 2):
            pair = Column(Key((a.name, b.name)), key_cells([a.cells, b.cells]))
            unique += [pair] if pair.distinct == len(pair.cells) else []
        nearly = sorted(known, key=lambda one: -one.distinct)[:1]
        items = list(dict.fromkeys([*order, *unique, *nearly]))[:3]
        yield from ({**said, "item": one.name} for one in items)
        if not items and len(group) < len(rows):  # each row is an item
            yield said


def _groups(columns: Sequence[Column]) -> list[list[str]]:
    """Columns that are called alike but for a number, and share their labels."""
    by_stem: dict[tuple[str, str], dict[str, Column]] = {}
    for one in columns:
        name = one.name.strip()
        within = _NUMBER_WITHIN.fullmatch(name)
        if found := _NUMBERED.fullmatch(name):
            by_stem.setdefault((found[1], ""), {})[found[2]] = one
        elif within and Column(stem := _LETTERS.get(within[1], within[1]), ()).has(CODER):
            by_stem.setdefault((stem, within[2]), {})[name] = one
    for one in columns:  # the first of category, category2, category3 has no number
        group = by_stem.get((one.name.strip(), ""), {})
        cells = [other.cells for other in group.values()]
        made = len(cells) > 1 and concluded(one.cells, cells, is_blank) is not None
        if group and "1" not in group and not made:
            by_stem[one.name.strip(), ""] = {"1": one, **group}
    groups = {
        key: group
        for key, group in by_stem.items()
        if len(group) > 1 and (Column(key[0], ()).has(CODER | LABEL) or _coded_twice(key, by_stem))
    }
    of_coders = {key: one for key, one in groups.items() if Column(key[0], ()).has(CODER)}
    of_labels = {key: one for key, one in groups.items() if key not in of_coders}
    # columns of names, such as annotator1 beside label1: the labels of that place are theirs
    named = [
        one
        for one in of_labels.values()
        if any(one.keys() == other.keys() for other in of_coders.values())
    ]
    ids = any(not key[1] and not _share([*one.values()]) for key, one in of_coders.items())
    chosen = named or [*of_coders.values(), *([] if ids else of_labels.values())]
    return [[c.name for c in one.values()] for one in chosen if _share([*one.values()])]


def _coded_twice(
    key: tuple[str, str], by_stem: Mapping[tuple[str, str], Mapping[str, Column]]
) -> bool:
    """Return True if a few columns agree that are numbered like those of another variable."""
    ends, group = by_stem[key].keys(), by_stem[key].values()
    like = sum(other.keys() == ends for other in by_stem.values())
    cells = [[*map(str, one.cells)] for one in group]
    return len(group) <= _CODED and like > 1 and _share([*group]) and agree(cells, _SURE)


def _share(group: Sequence[Column]) -> bool:
    """Return True if columns hold labels of one set, and are not numbers that measure something."""
    sets = [{str(cell) for cell in one.filled} for one in group]
    union = set().union(*sets)
    if len(union) > max(_CLASSES, sum(map(len, (one.filled for one in group))) // 20):
        return False
    if all_numbers(union) and 3 * sum(float(label) * 2 % 1 > 0 for label in union) > len(union):
        return False  # such as means
    times = [sum(label in one for one in sets) for label in union]
    return sum(n > 1 for n in times) >= 0.5 * len(union) and max(map(len, union), default=0) <= 80


def _alike(columns: Sequence[Column]) -> list[list[str]]:
    """Columns of labels from one small set."""
    found: list[list[Column]] = []
    parts = Counter(_NUMBER_WITHIN.sub(r"\1 \2", one.name.strip()) for one in columns)
    for one in columns:
        labels = {str(cell) for cell in one.filled}
        within = _NUMBER_WITHIN.sub(r"\1 \2", one.name.strip())
        if (
            "agree" in one.words
            or not 2 <= len(labels) <= 20
            or (len(within.split()[0]) > 1 and parts[within] > 1)
        ):
            continue  # what is said of the first and the second of several things
        for group in found:
            other = {str(cell) for cell in group[0].filled}
            if len(labels & other) >= 0.5 * len(labels | other):
                group.append(one)
                break
        else:
            found.append([one])
    named = [one for one in columns if one.names_coders and one.distinct == len(one.cells)]
    named += [one for one in coders_in(columns) if len(one.cells) >= _RATED * one.distinct]
    if any(one.names_coders for one in named):
        return []  # each row is of the one who is named there
    numbers = sum(all_numbers(one.filled) for one in columns)
    return [
        [one.name for one in group]
        for group in found
        if _are_people(group)
        and not (all_numbers(group[0].filled) and numbers > _OTHERS * len(group))
    ]


def _are_people(group: Sequence[Column]) -> bool:
    """Return True if columns that share labels may be coders: no questions, and they agree."""
    labels = {str(cell).casefold() for one in group for cell in one.filled}
    # boxes, and ratings of several things, look alike: their names must say who, and no more
    plain = all_numbers(labels) or labels <= NOT_NAMES
    names = [{*(re.split(r"[\s_.]+", c.name.casefold()) if plain else c.words)} for c in group]
    common = set.intersection(*names)
    asked = [
        one
        for one, words in zip(group, names, strict=True)
        if _OF_SURVEY.fullmatch(one.name.strip()) or is_asked(one.name)
        or len(words - common) > (1 if plain else _PHRASE)
    ]  # fmt: skip
    if len(group) < 2 or len(asked) > (0 if plain else len(group) / 2):
        return False
    cells = [[*map(str, one.cells)] for one in group[:_LOOKED_AT]]
    return all(agree(pair, _SURE) for pair in combinations(cells, 2)) if plain else agree(cells)


def agree(columns: Sequence[Sequence[str]], least: float = _KAPPA) -> bool:
    """Return True if labels side by side agree beyond chance."""
    same = chance = whole = 0.0
    for one, other in combinations(columns[:_LOOKED_AT], 2):
        pairs = [
            pair
            for pair in zip(one, other, strict=True)
            if not is_blank(pair[0]) and not is_blank(pair[1])
        ]
        first, second = (
            (Counter(cells) for cells in zip(*pairs, strict=True)) if pairs else ({}, {})
        )
        same += sum(a == b for a, b in pairs)
        chance += sum(n * second.get(label, 0) for label, n in first.items()) / max(len(pairs), 1)
        whole += len(pairs)
    return same - chance >= least * (whole - chance)


def _without_header(table: Table) -> Iterator[dict[str, object]]:
    """Names for three columns of a file without a header, if the cells tell which is which."""
    cells = [[name, *map(str, column)] for name, column in table.columns.items()]
    sizes = [len(set(column)) for column in cells]
    places = sorted(range(len(cells)), key=sizes.__getitem__)
    if len(places) != 3 or sizes[places[0]] == sizes[places[1]]:
        return
    label, *rest = places
    coders = [place for place in rest if Column(cells[place][0], ()).has(CODER)]
    if len(coders) == 1 or sizes[rest[0]] < sizes[rest[1]]:
        coder = coders[0] if len(coders) == 1 else rest[0]
        names = {label: "label", coder: "coder"}
        yield {"columns": tuple(names.get(place, "item") for place in range(3))}
