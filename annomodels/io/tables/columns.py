"""Assign roles to columns, and convert item, coder and label columns to annotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, cycle
from typing import Any

from annomodels.data.annotations import Annotations, Scale
from annomodels.data.names import label_text
from annomodels.data.setting_aside import SetAside
from annomodels.data.validation import (
    LONGEST_LABEL,
    LONGEST_RATING,
    MANY_LABELS,
    all_numbers,
    at_rows,
    check_hashable,
    check_labels,
    check_names,
    counted,
    decimal_commas,
    is_blank,
    rare_texts,
    same_numbers,
    some,
    variants,
)
from annomodels.errors import AnnotationError, Option, Problem, meant, raise_all
from annomodels.io.border import NoLabels
from annomodels.io.tables.keys import Key
from annomodels.io.words import ALIASES, NO_LABEL, NO_LABEL_CODES, TEXT_COLUMNS

ROLES = ("item", "coder", "label")
_LISTED = 12  # maximum number of column names in a message


@dataclass
class Columns:
    """Labels of one question without skips, and the data of its items."""

    items: Sequence[Any] = ()
    coders: Sequence[Any] = ()
    labels: Sequence[Any] = ()
    rows: Sequence[int] = ()
    gold: Mapping[Any, Any] | None = None
    group: Mapping[Any, Any] | None = None
    texts: Mapping[Any, str] | None = None
    skips: int = 0
    unlabelled: Iterable[Any] = ()  # items that were skipped
    notes: list[str] = field(default_factory=list)
    alone: list[str] = field(default_factory=list)  # notes that apply if no other question is read
    problems: list[Problem] = field(default_factory=list)
    names: Mapping[str, str] = field(default_factory=dict)
    question: str = ""
    cells: Callable[[], Cells] | None = None  # cells of the source table


Cells = Mapping[str, Sequence[Any]]
Part = Callable[[], Columns]


def matched(header: Sequence[str]) -> dict[str, list[str]]:
    """Return the columns with a known name per role; the role's own name takes precedence."""
    found: dict[str, list[str]] = {}
    for role in ROLES:
        words = {word for alias in ALIASES[role] for word in (alias, f"{alias}_id", f"{alias}id")}
        hits = [name for name in header if name.strip().casefold() in words]
        own = [name for name in hits if name.strip().casefold() == role]
        found[role] = own if len(own) == 1 else hits
    found["label"] = [name for name in found["label"] if not name.strip().casefold().endswith("id")]
    return found


SHOWN = "Column {} is shown as the text of the items."


def known_column(header: Iterable[str], words: Iterable[str]) -> str | None:
    """Return the column that has the first of these names, in any case, or None.

    >>> known_column(["item", "Tweet", "label"], ["text", "tweet"])
    'Tweet'
    """
    known = {name.strip().casefold(): name for name in reversed([*header])}
    return next((known[word] for word in words if word in known), None)


def text_of_items(
    columns: Mapping[str, Sequence[object]], item: str, used: Iterable[str]
) -> str | None:
    text = known_column((name for name in columns if name not in used), TEXT_COLUMNS)
    if text is None or item not in columns:
        return None
    first: dict[str, object] = {}  # keys are strings, because a JSON cell can be a list
    pairs = zip(map(str, columns[item]), columns[text], strict=True)
    told = all(is_blank(cell) or first.setdefault(key, cell) == cell for key, cell in pairs)
    return text if told and first else None


def named_column(header: Sequence[str], name: str, role: str, source: str) -> list[Problem]:
    """Report a named column that does not exist, with the most similar names."""
    if name in header:
        return []
    if isinstance(name, Key):
        return [p for part in name.parts for p in named_column(header, part, role, source)]
    same = [other for other in header if other.casefold() == name.casefold()]
    what = f"Column {name!r} (given as {role}) does not exist."
    remedy = f"{meant(name, header, *same, most=3)}The columns are {some(header)}."
    return [Problem(what, source, remedy, code="no-such-column")]


def find_roles(
    header: Sequence[str],
    given: Mapping[str, str | None],
    source: str,
    taken: Sequence[str] = (),
    added: str | None = None,
) -> tuple[dict[str, str], list[Problem]]:
    """Return the item, coder and label columns: as named, or else by known names."""
    chosen: dict[str, str] = {}
    problems: list[Problem] = []
    for role in ROLES:
        name = given.get(role)
        if name is not None:
            problems += named_column(header, name, role, source)
            chosen[role] = name
    free = [name for name in header if name not in chosen.values() and name not in taken]
    roles_of = {name: role for role, name in given.items() if name is not None}
    called = matched(header)
    missing: list[str] = []
    for role, hits in matched(free).items():
        if role in chosen:
            continue
        if len(hits) == 1:
            chosen[role] = hits[0]
        elif hits:
            what = f"{counted(len(hits), 'column')} could hold the {role}: {some(hits)}."
            remedy = f"Choose one: {role}={hits[0]!r}."
            problems.append(Problem(what, source, remedy))
        elif spent := [name for name in called[role] if name in roles_of]:
            other = roles_of[spent[0]]
            what = f"The column {spent[0]!r} is given as {other}, so the {role} has no column."
            remedy = f"Name another column with {role}=... (--{role}) or {other}=... (--{other})."
            problems.append(Problem(what, source, remedy, code="two-roles"))
        else:
            missing.append(role)
    if missing:
        known = {role: name for role, name in chosen.items() if name != added}
        header = [name for name in header if name != added]
        problems.append(_not_found(header, known, missing, taken, source, added is not None))
    named = [name for name in chosen.values() if list(chosen.values()).count(name) > 1]
    if named:
        what = f"The column {named[0]!r} is used for two things."
        problems.append(
            Problem(what, source, "Name a different column for each.", code="two-roles")
        )
    return chosen, problems


def _not_found(
    header: Sequence[str],
    chosen: Mapping[str, str],
    missing: Sequence[str],
    taken: Sequence[str],
    source: str,
    several: bool,
) -> Problem:
    words = " and ".join(missing) if len(missing) < 3 else "item, coder and label"
    what = f"{words} column{'' if len(missing) == 1 else 's'} not found: the columns are "
    what += some(header, most=_LISTED, width=60)
    options = ", ".join(str(Option(role, ...)) for role in missing)
    free = [name for name in header if name not in chosen.values() and name not in taken]
    if len(missing) == 1 and len(free) == 1:
        options = str(Option(missing[0], free[0]))
    remedy = f"Name {'it' if len(missing) == 1 else 'them'} with {options}."
    wide = str(Option("format", "wide"))
    if several:
        wide = f"{Option('coder_columns', [...])} with {Option('label', ...)}"
    if not chosen or set(chosen) == {"item"}:
        remedy += f" If the table has one column for each coder, use {wide}."
    return NoLabels(what[0].upper() + what[1:] + ".", source, remedy, code="no-columns")


def without_label(skips: int, labeled: int) -> str:
    total = skips + labeled
    return (
        f"Left out because they have no label (skipped or empty): {skips:,} of {total:,} answers."
    )


def assemble(
    cells: Mapping[str, Sequence[object]],
    rows: Sequence[int],
    source: str,
    names: Mapping[str, str],
    missing: Callable[[object], bool] = is_blank,
) -> Columns:
    """Drop skipped labels, and collect the values per item and all problems.

    A row may hold several labels. Then `coder` has one name per label, or the names of each row.
    """
    items, coders, labels = cells["item"], cells["coder"], cells["label"]
    out = Columns(names=names)
    for role in ROLES:
        if check_hashable(cells[role], role, source):
            each = max(len(cells[role]) // max(len(rows), 1), 1)
            places = [row for row in rows for _ in range(each)]
            out.problems += check_hashable(cells[role], role, source, places)
    if out.problems:
        return out
    skipped = {label for label in set(labels) if missing(label)}
    out.items, out.coders, out.labels, out.rows = items, coders, labels, rows
    repeat = len(labels) // max(len(items), 1)
    if skipped or len(coders) < len(labels) or repeat > 1:
        chosen = [label not in skipped for label in labels]
        out.items = [*compress((name for name in items for _ in range(repeat)), chosen)]
        out.rows = [*compress((row for row in rows for _ in range(repeat)), chosen)]
        out.coders = [*compress(cycle(coders), chosen)]
        out.labels = [*compress(labels, chosen)]
    out.skips = len(labels) - len(out.labels)
    for role, word, column in (("item", "an item", out.items), ("coder", "a coder", out.coders)):
        kinds = set(column)
        plain = {*map(type, kinds)} == {str}
        blank = kinds & {""} if plain else {name for name in kinds if is_blank(name)}
        if blank:
            rows_of = zip(out.rows, column, strict=True)
            empty = list(dict.fromkeys(row for row, name in rows_of if name in blank))
            what = f"{counted(len(empty), 'row')} with a label but without {word}."
            where = at_rows(source, empty, names.get(role, role))
            remedy = f"Name the {role} of every label, or drop the rows."
            out.problems.append(Problem(what, where, remedy, code="empty-cell"))
    out.unlabelled = set(items) if skipped else ()
    for role in ("truth", "group", "text"):
        if role in cells:
            found, problems = _per_item(items, cells[role], rows, role, source, names, missing)
            out.problems += problems
            texts = {name: str(text) for name, text in found.items()} if role == "text" else found
            setattr(out, {"text": "texts", "truth": "gold"}.get(role, role), texts)
    return out


def _per_item(
    items: Sequence[object],
    values: Sequence[object],
    rows: Sequence[int],
    role: str,
    source: str,
    names: Mapping[str, str],
    missing: Callable[[object], bool],
) -> tuple[dict[object, object], list[Problem]]:
    """Return one value per item; items with several values are a problem."""
    problems = check_hashable(values, role, source, rows)
    if problems:
        return {}, problems
    absent = missing if role == "truth" else is_blank
    ignored = {value for value in set(values) if absent(value)}
    found: dict[Any, Any] = {}
    twice: dict[Any, int] = {}
    for name, value, row in zip(items, values, rows, strict=True):
        if value not in ignored and found.setdefault(name, value) != value:
            twice.setdefault(name, row)
    if twice:
        what = f"{counted(len(twice), 'item')} with more than one {role}: {some(twice)}."
        where = at_rows(source, list(twice.values()), names.get(role, role))
        problems = [Problem(what, where, f"Give every item one {role}.", code="contradiction")]
    return found, problems


def _without_texts(columns: Columns, source: str) -> None:
    texts = rare_texts(columns.labels)
    if texts:
        out = set(texts)
        keep = [n for n in range(len(columns.labels)) if n not in out]
        where = at_rows(source, [columns.rows[n] for n in texts])
        columns.notes.append(
            f"Left out because they are longer than {LONGEST_LABEL} characters: "
            f"{counted(len(texts), 'label')} ({where})."
        )
        for role in ("items", "coders", "labels", "rows"):
            cells = getattr(columns, role)
            setattr(columns, role, [cells[n] for n in keep])
    distinct = len(set(columns.labels))
    if max(MANY_LABELS, len(columns.labels) / 2) < distinct and not all_numbers(columns.labels):
        columns.notes.append(
            f"{distinct:,} different labels on {counted(len(columns.labels), 'annotation')}: if "
            "they are free texts, only identical texts agree."
        )


def read_with_points(points: Mapping[object, str], number: int) -> str:
    comma, point = next(iter(sorted(points.items(), key=str)))
    return f"Read as numbers with a decimal comma: {counted(number, 'label')} ({comma} as {point})."


def _with_points(
    columns: Columns, labels: Sequence[Hashable] | None, dont_know: Sequence[Hashable]
) -> Sequence[Hashable] | None:
    """Replace decimal commas in numeric labels with points, and add a note."""
    truths = columns.gold or {}
    given = {*columns.labels, *truths.values(), *(labels or ())} - set(dont_know)
    points = decimal_commas(given)
    if not points:
        return labels
    number = sum(label in points for label in columns.labels)
    columns.labels = [points.get(label, label) for label in columns.labels]
    columns.gold = {item: points.get(truth, truth) for item, truth in truths.items()} or None
    columns.notes.append(read_with_points(points, number))
    return None if labels is None else [points.get(label, label) for label in labels]


def finished(
    columns: Columns,
    source: str,
    labels: Sequence[Hashable] | None,
    scale: Scale,
    dont_know: Sequence[Hashable] = (),
) -> Annotations:
    problems = list(columns.problems)
    if not problems and not len(columns.labels):
        what = "No cell contains a label."
        remedy = (
            "Check the label column, and which texts mean a missing label "
            f"({Option('missing', ...)})."
        )
        problems.append(Problem(what, source, remedy, code="no-labels"))
    raise_all(problems)
    if scale in ("interval", "ratio"):
        labels = _with_points(columns, labels, dont_know)
    declared = labels is not None
    if not declared:
        _without_texts(columns, source)
    classes, rows = columns.labels, columns.rows
    given = {label_text(label) for label in set(classes)} if len(dont_know) else set()
    if len(dont_know):
        aside = SetAside(dont_know)
        _, _, classes, rows = aside.split(columns.items, columns.coders, classes, rows)
    problems += check_labels(classes, rows, declared=declared, scale=scale, source=source)
    named = zip(ROLES, (columns.items, columns.coders, columns.labels), strict=True)
    for word, values in named:
        problems += check_names(dict.fromkeys(values), word, source)
    lost = {name for name in set(columns.unlabelled) - set(columns.items) if not is_blank(name)}
    left_out = f"Left out because nobody labeled them: {counted(len(lost), 'item')}."
    notes = [
        *columns.notes,
        *([left_out] if lost else []),
        *variants(columns.labels, "label"),
        *variants(columns.coders, "coder"),
        *remarks_on(columns.items, classes, (columns.gold or {}).values(), scale, declared),
        *unused("dont_know", map(label_text, dont_know), given, given),
    ]
    try:
        data = Annotations._from_columns(
            columns.items,
            columns.coders,
            columns.labels,
            labels=labels,
            scale=scale,
            gold=columns.gold,
            group=columns.group,
            texts=columns.texts,
            skips=columns.skips,
            source=source,
            notes=notes,
            rows=columns.rows,
            dont_know=dont_know,
        )
    except AnnotationError as error:
        found = no_labels_undeclared(classes, labels or ())
        codes = {"options": (("missing", found),)} if found else {}
        more = f" If {some(found)} means that there is no label: {Option('missing', list(found))}."
        problems += [
            replace(one, remedy=one.remedy + more * bool(found), **codes)  # type: ignore[arg-type]
            for one in error.problems
        ]
    raise_all(problems)
    if data.unanimous:
        question = (
            f"No two coders differ on any item ({data.unanimous:,} labels). Did they decide "
            "independently, or are these consensus labels, known truth or copies?"
        )
        data = data.replace(notes=(*data.notes, question))
    return data


# -- notes on labels: codes for missing labels, numbers, options that match nothing ----------------


class Missing(frozenset[str]):
    """Texts that mean a missing label; `met` collects those that occur."""

    met: set[str]

    def __new__(cls, texts: Iterable[str] = ()) -> Missing:
        made = super().__new__(cls, texts)
        made.met = set()
        return made

    def __contains__(self, text: object) -> bool:
        for form in spellings(text) if self else ():
            if super().__contains__(form):
                self.met.add(str(form))
                return True
        return False


def spellings(text: object) -> tuple[object, ...]:
    """Return a text and, for a number, its other form: gaps turn -1 into -1.0."""
    if not isinstance(text, str) or not all_numbers([text]):
        return (text,)
    return text, text.removesuffix(".0") if text.endswith(".0") else f"{text}.0"


def unused(
    name: str, words: Iterable[object], used: Collection[object], labels: Collection[object]
) -> list[str]:
    absent = [word for word in words if word not in used]
    if not absent:
        return []
    known = some(sorted({label_text(label) for label in labels}))
    return [
        f"Given with {Option(name)}, but no cell holds it: {some(absent)}. The labels are {known}."
    ]


def remarks_on(
    items: Sequence[object],
    labels: Sequence[object],
    gold: Iterable[object],
    scale: str,
    declared: bool,
) -> list[str]:
    every = map(Counter, (items, labels, gold))
    named, counts, truths = (
        Counter({name: n for name, n in one.items() if isinstance(name, str)}) for one in every
    )
    notes = _no_labels(counts, "label", "labels") if not declared else []
    notes += _no_labels(truths, "known truth", "items")
    if scale == "nominal" and len(counts) > LONGEST_RATING and all_numbers(counts):
        notes.append(
            f"The labels are {len(counts):,} different numbers, each a class without an order: if "
            f"their distances count, use {Option('scale', 'interval')}, and if their order does, "
            f"{Option('scale', 'ordinal')}."
        )
    return notes + same_numbers(named, "item")


def no_labels(labels: Collection[str]) -> list[str]:
    """Return labels that may mean a missing label: words such as NA, and out-of-range codes."""
    words = [label for label in labels if label.strip().casefold() in NO_LABEL]
    rest = [label for label in labels if label not in words]
    if not rest:
        return []
    codes = [label for label in rest if not NO_LABEL_CODES.isdisjoint(spellings(label))]
    others = [float(label) for label in rest if label not in codes] if all_numbers(rest) else []
    if codes and len(others) > 1:
        low, top = min(others), max(others)  # with 0 and 1, -1 is a label
        below = [c for c in codes if float(c) < 0 <= low and float(c) != -top]
        words += [*below, *(c for c in codes if float(c) >= max(2 * top, 50))]
    return words


def _no_labels(counts: Counter[str], word: str, of: str) -> list[str]:
    found = no_labels(list(counts))
    if not found:
        return []
    named = some(found, lambda name: f"{name!r} ({counts[name]:,} {of})")
    them = "it" if len(found) == 1 else "them"
    return [
        f"Read as a {word}, but perhaps a mark for a missing one: {named}. "
        f"{Option('missing', found)} leaves {them} out."
    ]


def no_labels_undeclared(labels: Sequence[object], declared: Collection[object]) -> tuple[str, ...]:
    unknown = dict.fromkeys(label for label in labels if label not in declared) if declared else {}
    texts = map(label_text, unknown)
    return tuple(
        t for t in texts
        if not NO_LABEL_CODES.isdisjoint(spellings(t)) or t.strip().casefold() in NO_LABEL
    )  # fmt: skip
