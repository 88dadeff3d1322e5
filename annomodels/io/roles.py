"""Assign the roles item, coder and label to columns by a score.

The score of a :class:`Reading` is a sum of terms: the proportion of rows whose item has several
coders, minus penalties for repeated rows and for coders with few rows; points for column names;
and the proportion of the information in a label that the other labels of its item explain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from annomodels.data.validation import LONGEST_LABEL, all_numbers, is_blank
from annomodels.io.tables.grids import CUTS, is_coder
from annomodels.io.tables.keys import Key, parts_of
from annomodels.io.tables.questions import (
    about_coders,
    about_items,
    are_times,
    concluded,
    is_mean,
    of_cells,
)
from annomodels.io.words import (
    ASKED_PEOPLE,
    CODER,
    ITEM,
    LABEL,
    NOT_NAMES,
    QUESTION,
    STATISTICS,
    Codes,
    NamedColumn,
    is_asked,
    is_called,
    is_derived,
    is_truth,
    joint,
    kinds_of,
)

ROWS = 5_000  # maximum rows that are analyzed
# weights of the terms of the score
COVERED, REPEATED, THIN, WIDE = 1.0, -2.0, -0.4, -0.005
NAMED = {"item": 0.10, "id": 0.08, "coder": 0.50, "label": 0.15, "answer": -0.30}
NAMED |= {"columns": 0.80, "people": -0.20}
UNIQUE = 0.005  # proportion of rows that may repeat under a key
MANY = 0.1  # minimum proportion of affected labels for a report
GAIN, SURE_GAIN = 0.015, 0.08  # minimum information for coder columns, and for numeric ones
ITEMS = 0.95  # information above which a column describes the item
_CODERS, _KEYS, _SEEN, _WIDEST = 3, 14, 8, 4  # maximum coders, key columns, layouts, parts of a key
_CLASSES = 50  # maximum distinct labels
_ANSWERS = 3  # minimum rows per respondent for respondents to be coders
_PHRASE = 2  # maximum words by which names of coder columns differ
_TOLD = 0.1  # information above which a group of columns scores no higher
_RATES = 101  # maximum distinct numbers on a scale
_LABELS = 1.5  # minimum rows per item for a column of any name to identify items
_SPARE = 0.0005  # additional proportion of repeated rows allowed for a shorter key
_EVEN = 0.5  # minimum proportion of labels that coder columns share
_PHRASES, _FEW = 80, 0.05  # maximum characters of a label, proportion that may be longer
_COMPARED = 20  # maximum columns, or distinct labels, compared
_NUMBERED = re.compile(r"(.*?)[_ .-]?(\d+|(?<=[_ .-])[A-Za-z]|(?<=[a-z])[A-Z])")  # ExpertA
_NUMBER_FIRST = re.compile(r"(\d+)[_ .-](\D+)")
_NUMBER_WITHIN = re.compile(r"(.*?[A-Za-z])[_ .-]?\d+(\D*[A-Za-z]\D*)")  # entry_1_type


@dataclass(frozen=True)
class Said:
    item: tuple[str, ...] = ()
    coder: str | None = None
    label: str | None = None  # or the question
    coders: tuple[str, ...] = ()
    truth: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Said:
        label = given.get("label") or given.get("question")
        names = parts_of(given.get("item")), given.get("coder"), label
        return cls(*names, tuple(given.get("coder_columns") or ()), "truth" in given)


@dataclass(frozen=True)
class Reading:
    """Roles of columns; `coder` is one column, or one column per coder."""

    item: tuple[str, ...]
    coder: str | tuple[str, ...]
    score: float
    labels: Mapping[str, float]  # information that coders share, by question
    asked: tuple[str, str] | None = None  # column of questions, and its first question
    truth: str | None = None

    def options(self, given: Said) -> Iterator[dict[str, object]]:
        is_wide = isinstance(self.coder, tuple)
        said: dict[str, object] = {}
        if not (given.coders or given.coder):
            said["coder_columns" if is_wide else "coder"] = self.coder
        if self.truth is not None:
            said["truth"] = self.truth
        if self.item and not given.item:
            said["item"] = str(Key(self.item)) if len(self.item) > 1 else self.item[0]
        if is_wide or given.label:
            yield said
            return
        if self.asked is not None:
            said |= {"question_column": self.asked[0], "question": self.asked[1]}
        called = [name for name in self.labels if NamedColumn(name, ()).has(LABEL)]
        one = called if len(called) == 1 else [*self.labels] if len(self.labels) == 1 else []
        for name in one[:1] if self.asked is None else [*called, *self.labels][:1]:
            yield {**said, "label": name}
        if len(self.labels) > 1 and self.asked is None:
            names = called or [*self.labels]
            told = max(map(self.labels.__getitem__, names))
            first = next(name for name in names if self.labels[name] >= min(told, told / 2))
            yield {**said, "question": first}


def readings(columns: Sequence[NamedColumn], said: Said) -> list[Reading]:
    found = [*long(columns, said), *wide(columns, said)]
    return sorted(found, key=lambda one: -one.score)


# -- the terms of the score ------------------------------------------------------------------


def structure(item: Codes, coder: Codes) -> tuple[float, float, float]:
    """Return the proportions of rows of shared items and repeated rows, and coders per row."""
    width = int(coder.max(initial=0)) + 1
    pairs = kinds_of(item * width + coder)
    coders = np.bincount(pairs // width, minlength=int(item.max(initial=0)) + 1)
    n = max(len(item), 1)
    return float((coders[item] > 1).mean()), 1 - len(pairs) / n, len(kinds_of(coder)) / n


def gain(item: Codes, coder: Codes, label: Codes) -> float:
    """Return the proportion of a label's information that other coders' labels explain."""
    _, first = np.unique(joint(item, coder), return_index=True)
    items, labels = (np.unique(part[first], return_inverse=True)[1] for part in (item, label))
    p = np.bincount(labels) / max(len(labels), 1)
    _, places, own = np.unique(items * len(p) + labels, return_inverse=True, return_counts=True)
    size, same = np.bincount(items)[items], own[places]
    several = size > 1
    if not several.any() or len(p) < 2:
        return 0.0
    size, same, p = size[several], same[several], p[labels[several]]

    def bits(agreeing: Codes, prior: float) -> float:
        return float(np.log2((agreeing - 1 + prior * p) / (size - 1 + prior) / p).sum())

    most = bits(size, 0.1)  # if all agreed
    return max(bits(same, prior) for prior in (0.1, 0.3, 1, 3, 10, 100)) / most if most > 0 else 0.0


def classes(column: NamedColumn, rows: Codes) -> Codes:
    """Return label codes; many distinct numbers become eight classes."""
    codes = column.codes[rows]
    if len(set(codes.tolist())) <= _COMPARED or not column.is_numeric:
        return codes
    numbers = np.array([float(column.texts[n]) for n in rows])
    return np.searchsorted(np.quantile(numbers, np.arange(1, 8) / 8), numbers).astype(np.int64)


def _of_names(key: Sequence[NamedColumn], coder: NamedColumn) -> float:
    item = sum(
        NAMED["item"] * one.has(ITEM) + NAMED["id"] * one.is_id
        + NAMED["people"] * (one.has(CODER) and not one.is_id)
        + NAMED["answer"] * ((one.has(LABEL) and not one.is_id) or is_asked(one.name))
        for one in key
    )  # fmt: skip
    who = NAMED["coder"] * coder.names_coders + NAMED["id"] * coder.is_id
    return item / max(len(key), 1) + who


# -- a row for each label --------------------------------------------------------------------


def long(columns: Sequence[NamedColumn], said: Said) -> Iterator[Reading]:
    if said.coders:
        return
    by_name = {one.name: one for one in columns}
    coders = [one for one in columns if one.name == said.coder] or coders_in(columns)
    found: list[tuple[float, tuple[NamedColumn, ...], NamedColumn]] = []
    for coder in coders[:_CODERS]:
        rest = [one for one in columns if one is not coder]
        if said.item:
            given = tuple(by_name[name] for name in said.item if name in by_name)
            found.append((_layout(given, coder), given, coder))
            continue
        names = keys_in(rest, said.label)
        keys = {frozenset(key): key for one in names if (key := minimal(one, coder, names))}
        found += [(_layout(key, coder), key, coder) for key in keys.values()]
    of_coders = [c for group in _numbered(columns) if group[0].has(CODER) for c in group]
    columns = [c for c in columns if c not in of_coders and not c.is_id and _may_label(c)]
    for score, key, coder in sorted(found, key=lambda one: -one[0])[:_SEEN]:
        asked = [c for c in key if c.has(QUESTION) and not c.has(ITEM) and c.distinct <= _CLASSES]
        if len(key) > 1 and len(asked) == 1 and not said.item:
            key = tuple(one for one in key if one is not asked[0])
        else:
            asked = []
        labels = questions([one for one in columns if one not in asked], key, coder)
        if labels or said.label:
            best = max(labels.values(), default=0)
            called = NAMED["label"] * any(by_name[name].has(LABEL) for name in labels)
            names_of = tuple(one.name for one in key) if not said.item else ()
            first = (asked[0].name, str(asked[0].filled[0])) if asked else None
            yield Reading(names_of, coder.name, score + best + called, labels, first)


def _layout(key: Sequence[NamedColumn], coder: NamedColumn) -> float:
    if not key:
        return _of_names((), coder)
    covered, repeated, thin = structure(joint(*(one.codes for one in key)), coder.codes)
    score = COVERED * covered + REPEATED * repeated + THIN * thin
    return score + WIDE * (len(key) - 1) + _of_names(key, coder)


def coders_in(columns: Sequence[NamedColumn]) -> list[NamedColumn]:
    numbered = {one.name for group in _numbered(columns) for one in group}
    maybe = [
        one
        for one in columns
        if one.name not in numbered
        and 1 < one.distinct < len(one.cells) < 2 * len(one.filled)
        and one.length <= LONGEST_LABEL
        and not (are_times(one.filled) or one.measures)
        and not (one.sums_up or str(one.filled[0])[:1] in ("[", "{"))
        and not is_called(one.name, "of_people")
    ]
    coders = [one for one in maybe if one.names_coders]
    common = set.intersection(*({*one.words} for one in coders)) if len(coders) > 1 else set()
    if common & CODER and _share(coders):
        return []  # such as ana (judge) and ben (judge), each with the labels of one coder
    # authors wrote one or two texts each; respondents gave several answers
    asked = [c for c in maybe if c.has(ASKED_PEOPLE) or c.words == ["id"]]
    asked = [c for c in asked if len(c.cells) >= _ANSWERS * c.distinct]
    coders = coders or _whose(maybe, columns) or asked
    # attributes of coders are constant per coder and have fewer distinct values
    coders = [c for c in coders if not any(_tells(o, c) for o in coders if o is not c)]
    return sorted(coders, key=lambda c: (not (c.is_id or {*c.words[-1:]} & CODER), -c.distinct))


def _whose(maybe: Sequence[NamedColumn], columns: Sequence[NamedColumn]) -> list[NamedColumn]:
    people = [one for one in columns if is_called(one.name, "of_people")]
    found = [
        one
        for one in maybe
        if len(people) > 1
        and one.distinct < len(one.cells) / 2
        and all(_tells(one, other) for other in people)
    ]
    return sorted(found, key=lambda one: one.distinct)[:1]


def _tells(one: NamedColumn, other: NamedColumn) -> bool:
    """Return True if a column determines another one with fewer distinct values."""
    if other.distinct >= one.distinct:
        return False
    return len(kinds_of(joint(one.codes, other.codes))) == len(kinds_of(one.codes))


def keys_in(rest: Sequence[NamedColumn], label: str | None) -> list[NamedColumn]:
    found = [
        one
        for one in rest
        if one.name != label
        and 1 < one.distinct < len(one.cells)
        and 2 * len(one.filled) > len(one.cells)
        and not (
            (one.measures and not one.is_id) or are_times(one.filled) or is_called(one.name, "said")
        )
        and not ("seconds" in one.words or one.sums_up)
        and not is_called(one.name, "of_people")
        and not one.name.startswith("(")
    ]
    found.sort(key=lambda one: (not one.names_items, -one.distinct))
    return found[:_KEYS]


def minimal(
    first: NamedColumn, coder: NamedColumn, names: Sequence[NamedColumn]
) -> tuple[NamedColumn, ...] | None:
    """Return the smallest key with few repeats, grown from one column, or None."""
    more, item = grown(first.codes, coder.codes, [c for c in names if not c.has(LABEL)])
    key = (first, *more)
    covered, repeats, _ = structure(item, coder.codes)
    for part in [part for size in range(1, len(key)) for part in combinations(key, size)]:
        alone = structure(joint(*(one.codes for one in part)), coder.codes)
        if alone[1] <= repeats + _SPARE and alone[0] >= covered:
            key = part
            break
    known = all(one.names_items for one in key)
    pairs, kinds = (1 - repeats) * len(item), len(kinds_of(item))
    if covered < 0.02 or (not known and (not coder.names_coders or pairs < _LABELS * kinds)):
        return None  # enough columns of any kind distinguish all rows
    item = joint(*(one.codes for one in key))
    for one in key if len(key) > 1 else ():
        rest = joint(*(other.codes for other in key if other is not one))
        if not (one.names_items or _crosses(rest, item, coder.codes)):
            return None
    return tuple(sorted(key, key=lambda one: not one.is_id))


def _crosses(item: Codes, parts: Codes, coder: Codes) -> bool:
    """Return True if coders share the parts of an item; an answer would separate them."""
    sizes = [len(kinds_of(joint(one, coder))) - len(kinds_of(one)) for one in (item, parts)]
    return sizes[1] >= sizes[0]


def grown(
    item: Codes, coder: Codes, names: Sequence[NamedColumn], *, crossed: bool = True
) -> tuple[tuple[NamedColumn, ...], Codes]:
    """Add columns that reduce repeats per coder; return them with the new item codes.

    With `crossed`, columns that may be answers are not added.
    """
    more: tuple[NamedColumn, ...] = ()
    covered, repeats, _ = structure(item, coder)
    score = COVERED * covered + REPEATED * repeats
    while repeats > 0 and len(more) < _WIDEST - (repeats <= UNIQUE):
        found = []
        shared = round((1 - repeats) * len(item)) - len(kinds_of(item))
        for n, one in enumerate(names):
            if one in more:
                continue
            both = joint(item, one.codes)
            covered, left, _ = structure(both, coder)
            # as in _crosses; joint codes have no gaps
            parted = round((1 - left) * len(both)) - int(both.max(initial=-1)) - 1
            if not crossed or one.names_items or parted >= shared:
                found.append((COVERED * covered + REPEATED * left, n, left, both))
        best = max(found, key=lambda one: one[0], default=None)
        if best is None or best[0] <= score + 0.002 or (repeats <= UNIQUE and best[2] > 0):
            break  # add this column only if it removes all repeats
        score, place, repeats, item = best
        more = (*more, names[place])
    return more, item


def questions(
    columns: Sequence[NamedColumn], key: Sequence[NamedColumn], coder: NamedColumn
) -> dict[str, float]:
    """Return possible label columns, with the information that coders share."""
    item = joint(*(one.codes for one in key)) if key else coder.codes
    found: dict[str, float] = {}
    shown: dict[str, float] = {}
    for one in columns:
        rows = np.flatnonzero(one.codes)
        if one in (*key, coder):
            continue
        items, coders, codes = item[rows], coder.codes[rows], one.codes[rows]
        if about_coders(coders, codes) or about_items(items, coders, codes):
            continue
        if numbers := [word for word in one.words if word.isdigit()]:
            # Score 1 is not a label of Prompt 5
            of_key = {word for part in key for word in part.words if word.isdigit()}
            if of_key and of_key.isdisjoint(numbers):
                continue
        shared = gain(items, coders, classes(one, rows))
        of_people = is_called(one.name, "of_people")
        odd = shared > ITEMS or of_people or is_derived(one.name)
        (shown if odd else found)[one.name] = shared
    return found or shown


def _may_label(one: NamedColumn) -> bool:
    filled = len(one.filled)
    if filled < max(4, 0.02 * len(one.cells)) or of_cells(one.name, one.filled) is not None:
        return False
    few = one.distinct <= max(_CLASSES, filled // 20)
    return few or (one.has(LABEL) and one.is_numeric)


# -- a column for each coder -----------------------------------------------------------------


def wide(columns: Sequence[NamedColumn], said: Said) -> Iterator[Reading]:
    """Yield groups of columns with similar names or labels, without derived columns."""
    if said.coder or said.label:
        return
    asked = [one for one in columns if one.name in said.coders]
    for group in [asked] if asked else groups(columns):
        truth, coders = None, group
        if not asked:
            if all(one.holds_marks for one in group):
                continue
            made = [one for one in group if is_derived(one.name) or is_truth(one.name)]
            coders = [one for one in group if one not in made and not _is_mean(one, group)]
            truths = [one.name for one in made if is_truth(one.name)]
            truths = truths or [one.name for one in made]
            truth = truths[0] if len(truths) == 1 and not said.truth else None
        if len(coders) < 2:
            continue
        rows = np.flatnonzero(np.any([one.codes for one in coders], axis=0))
        rest = [
            NamedColumn(one.name, [one.cells[n] for n in rows.tolist()])
            for one in columns
            if one not in group and one.distinct > 1 and not are_times(one.filled)
        ]
        score = _of_group(coders, rows)
        names = tuple(one.name for one in coders)
        reading = Reading((), names, score, {}, truth=truth)
        keys = [()] if said.item else unique_keys(rest)
        for place, key in enumerate(keys):
            item = tuple(one.name for one in key)
            yield replace(reading, item=item, score=score - 0.001 * place)
        if not keys and len(coders) < len(rows):  # each row is an item
            yield reading


def unique_keys(rest: Sequence[NamedColumn]) -> list[tuple[NamedColumn, ...]]:
    """Return keys that identify each row, or nearly so, most likely first; `()` is the row."""
    unique = [one for one in rest if one.distinct == len(one.cells)]
    known = [one for one in rest if one.names_items and not is_called(one.name, "said")]
    both = [one for one in unique if one in known]
    both.sort(key=lambda one: (not one.is_id, one.length > LONGEST_LABEL))
    found: list[tuple[NamedColumn, ...]] = [(one,) for one in dict.fromkeys([*both, *unique])]
    pairs = [*combinations(known[:6], 2)]  # or an item with all values of any other column
    pairs += [(a, b) for a in known for b in rest if a.distinct * b.distinct == len(a.cells)]
    for pair in [] if unique else pairs:
        codes = joint(*(one.codes for one in pair))
        found += [pair] if len(kinds_of(codes)) == len(codes) else []
    nearly = sorted(known, key=lambda one: -one.distinct)[:1]
    # so few equal cells would be merged to repeats without a report
    found += [() for one in nearly if not found and one.distinct > (1 - MANY) * len(one.cells)]
    return [*found, *((one,) for one in nearly if (one,) not in found)][:3]


def groups(columns: Sequence[NamedColumn]) -> list[list[NamedColumn]]:
    """Return groups of possible coder columns: people, numbered, or with shared labels."""
    people = [one for one in columns if is_called(one.name, "person")]
    return [people] if len(people) > 1 else [*_numbered(columns), *_alike(columns)]


def _of_group(coders: Sequence[NamedColumn], rows: Codes) -> float:
    item = np.tile(rows, len(coders))
    who = np.repeat(np.arange(len(coders)), len(rows))
    whole = NamedColumn("", [one.texts[n] for one in coders for n in rows])
    kept = np.flatnonzero(whole.codes)
    covered, _, thin = structure(item[kept], who[kept])
    shared = gain(item[kept], who[kept], classes(whole, kept))
    score = COVERED * covered + THIN * thin + min(shared, _TOLD)
    # numbered coder columns outweigh a column of people, who may be the items
    return score + NAMED["columns"] * all(one.has(CODER) for one in coders)


def _numbered(columns: Sequence[NamedColumn]) -> list[list[NamedColumn]]:
    by_stem: dict[str, dict[str, NamedColumn]] = {}
    for one in columns:
        name = one.name.strip()
        if len(name) > LONGEST_LABEL:  # no name of a coder, and the patterns take long
            continue
        if found := _NUMBER_FIRST.fullmatch(name):
            by_stem.setdefault(found[2], {})[found[1]] = one
        elif found := _NUMBERED.fullmatch(name):
            by_stem.setdefault(found[1], {})[found[2]] = one
        elif found := _NUMBER_WITHIN.fullmatch(name):
            who, what = found.groups()
            if is_coder(f"{who}1") and not NamedColumn(what, ()).has(STATISTICS):
                by_stem.setdefault(f"coder {who} {what}", {})[name] = one
    for one in columns:  # the first of category, category2, category3 has no number
        group = by_stem.get(one.name.strip(), {})
        cells = [other.cells for other in group.values()]
        made = len(cells) > 1 and concluded(one.cells, cells, is_blank) is not None
        if group and "1" not in group and not made:
            by_stem[one.name.strip()] = {"1": one, **group}
    found_groups = {
        stem: group
        for stem, group in by_stem.items()
        if len(group) > 1
        and (NamedColumn(stem, ()).has(CODER | LABEL) or _coded_twice(stem, by_stem))
    }
    of_coders = {stem: g for stem, g in found_groups.items() if NamedColumn(stem, ()).has(CODER)}
    of_labels = {stem: g for stem, g in found_groups.items() if stem not in of_coders}
    # columns of names, such as annotator1 for label1: use the label columns
    named = [g for g in of_labels.values() if any(g.keys() == o.keys() for o in of_coders.values())]
    chosen = named or [*of_coders.values(), *of_labels.values()]
    return [[*one.values()] for one in chosen if _share([*one.values()])]


def _coded_twice(stem: str, by_stem: Mapping[str, Mapping[str, NamedColumn]]) -> bool:
    """Return True if columns agree and are numbered like those of another variable.

    Ends that other columns count are questions: 12-A, 40-A and 40-B are answers of coders.
    """
    ends, group = by_stem[stem].keys(), [*by_stem[stem].values()]
    like = sum(other.keys() == ends for other in by_stem.values())
    if len(group) > 3 or like < 2 or not by_stem.keys().isdisjoint(ends):
        return False
    return _share(group) and agree(group) >= SURE_GAIN


def _share(group: Sequence[NamedColumn]) -> bool:
    """Return True if columns share a label set and are not measurements."""
    sets = [one.kinds for one in group]
    union = set().union(*sets)
    numbers = all_numbers(union)
    most = _RATES if numbers else _CLASSES
    if len(union) > max(most, sum(len(one.filled) for one in group) // 20):
        return False
    if numbers and 3 * sum(float(label) * 2 % 1 > 0 for label in union) > len(union):
        return False  # such as means
    votes = Counter(text for one in group for text in one.texts if text)
    total = sum(votes.values())
    shared = sum(n for label, n in votes.items() if sum(label in one for one in sets) > 1)
    long = sum(n for label, n in votes.items() if len(label) > _PHRASES)
    return shared >= _EVEN * total and long <= _FEW * total


def of_things(names: Sequence[str]) -> set[str]:
    """Return names of properties of a first and a second thing: answer_1_score, answer_2_score."""
    short = [name for name in names if len(name) <= LONGEST_LABEL]
    found = {name: _NUMBER_WITHIN.fullmatch(name.strip()) for name in short}
    parts = {name: (match[1], match[2]) for name, match in found.items() if match}
    times = Counter(parts.values())
    return {
        name for name, part in parts.items()
        if times[part] > 1 and len(part[0]) > 1 and not NamedColumn(part[0], ()).has(CODER)
    }  # fmt: skip


def _alike(columns: Sequence[NamedColumn]) -> list[list[NamedColumn]]:
    """Return groups of columns that share a small label set and may be named after people."""
    found: list[list[NamedColumn]] = []
    things = of_things([one.name for one in columns])
    for one in columns:
        labels = one.kinds
        if "agree" in one.words or not 2 <= len(labels) <= _COMPARED or one.name in things:
            continue
        for group in found:
            other = group[0].kinds
            if len(labels & other) >= _EVEN * len(labels | other):
                group.append(one)
                break
        else:
            found.append([one])
    named = [one for one in columns if one.names_coders and one.distinct == len(one.cells)]
    named += [one for one in coders_in(columns) if len(one.cells) >= 5 * one.distinct]
    if any(one.names_coders for one in named):
        return []  # each row belongs to the coder named there
    whole = [group for group in found if _are_people(group)]
    parts = [part for group in found if group not in whole for part in _of_variables(group)]
    return [*whole, *(part for part in parts if _are_people(part) or _has_mean(part, columns))]


def _has_mean(group: Sequence[NamedColumn], columns: Sequence[NamedColumn]) -> bool:
    """Return True if a column is the mean of the others of a group, which are thus coders."""
    return any(_is_mean(one, group) for one in columns)


def _is_mean(one: NamedColumn, group: Sequence[NamedColumn]) -> bool:
    others = [other.cells for other in group if other is not one]
    return len(others) > 1 and is_mean(one.cells, others)


def _of_variables(group: Sequence[NamedColumn]) -> list[list[NamedColumn]]:
    """Return the columns of each variable that names combine with a coder, as in ann_tone."""
    found: dict[tuple[int, str], list[NamedColumn]] = {}
    for one in group:
        for part, cut in enumerate(CUTS[1:3]):
            if match := cut.fullmatch(one.name.strip()):
                found.setdefault((part, match[1 + part]), []).append(one)
    parts = [part for part in found.values() if len(part) > 1]
    times = Counter(one.name for part in parts for one in part)
    # names in which both parts recur are a grid, whose questions are chosen
    return [part for part in parts if all(times[one.name] == 1 for one in part)]


def _are_people(group: Sequence[NamedColumn]) -> bool:
    """Return True if columns may be coders: they agree and are not named like questions."""
    labels = {text.casefold() for one in group for text in one.kinds}
    # check boxes and ratings of several things look alike: names must differ only by coder
    plain = all_numbers(labels) or labels <= NOT_NAMES
    names = [
        {*re.split(r"[\s_.]+", c.name.casefold())} - LABEL if plain else {*c.words} for c in group
    ]
    common = set.intersection(*names)
    asked = [
        one
        for one, words in zip(group, names, strict=True)
        if is_called(one.name, "of_survey") or is_asked(one.name)
        or not words or len(words - common) > (1 if plain else _PHRASE)
    ]  # fmt: skip
    if len(group) < 2 or len(asked) > (0 if plain else 1):
        return False
    pairs = combinations(group[:_COMPARED], 2) if plain else [group[:_COMPARED]]
    return all(agree(pair) >= (SURE_GAIN if plain else GAIN) for pair in pairs)


def agree(group: Sequence[NamedColumn]) -> float:
    """Return the information about a label in the other labels of its row."""
    size = len(group[0].cells)
    whole = NamedColumn("", [text for one in group for text in one.texts])
    kept = np.flatnonzero(whole.codes)
    item, who = np.tile(np.arange(size), len(group)), np.repeat(np.arange(len(group)), size)
    return gain(item[kept], who[kept], classes(whole, kept))
