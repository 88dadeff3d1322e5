"""Qualtrics: a survey with one row for each respondent and one column for each item."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import combinations

from annomodels.data.validation import counted, some
from annomodels.errors import Option
from annomodels.io.objects import parsed
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tables.table import from_records

_MARK = '{"ImportId":'
_PREVIEW = ("Survey Preview", "1")
_NO_ANSWER = re.compile(
    r"_(FIRST_CLICK|LAST_CLICK|PAGE_SUBMIT|CLICK_COUNT|BROWSER|VERSION|OS|RESOLUTION|"
    r"FILE_(ID|NAME|SIZE|TYPE)|SCORE|DO(_\w+)?)$"
)
ENOUGH, FEWEST = 10, 20  # answers for each label, and at least, that show what a question asks for
_ALIKE = 0.5
_FINISHED = ("true", "1", "wahr", "ja", "yes")


def is_qualtrics(source: Source, options: Options) -> bool:
    """Return True if the cells of the third row begin with ``{"ImportId":``."""
    return any(row[:1] and row[0].startswith(_MARK) for row in source.rows.head(3)[2:])


def read_qualtrics(found: Records) -> None:
    """Answers of finished respondents; the questions are the items."""
    source, asked = found.source, found.options.question
    head, lines = source.rows.rows[:3], source.rows.lines
    if len({len(row) for row in head}) > 1:
        found.problem("The three header rows differ in length.", "Export it again as CSV.")
        return
    rows = [head[0], *source.rows.rows[3:]]
    table = found.taken(from_records([rows], lambda: [lines[0], *lines[3:]], source.name))
    coder = found.options.coder or "ResponseId"
    found.require(table.header, coder, "coder")
    if found.options.item is not None:
        found.problem("The questions are the items here.", f"Leave out {Option('item')}.")
    if found.problems:
        return
    body = []
    for row, cells in table.records():
        if cells.get("Status") in _PREVIEW:
            found.leave_out("their respondent was a preview of the survey")
        elif cells.get("Finished", "1").casefold() not in _FINISHED:
            found.leave_out("their respondent did not finish")
        else:
            body.append((row, cells))
    texts, marks = (dict(zip(table.header, row, strict=False)) for row in head[1:])
    numbers = {name: _number(mark) for name, mark in marks.items()}
    columns = {name: [cells[name] for _, cells in body] for name in table.header}
    items = _items(columns, texts, numbers, asked)
    if not items:
        begins = f" that begins with {asked!r}" if asked else ""
        asks = [n for n, number in numbers.items() if number.startswith("QID")] or table.header
        found.problem(f"No column holds a question{begins}.", f"The columns are {some(asks)}.")
    given = {item: [c for n in names for c in columns[n] if c] for item, names in items.items()}
    _refuse_kinds(found, given)
    left = sum(_NO_ANSWER.search(number) is not None for number in numbers.values())
    if left:
        found.note(
            f"{counted(left, 'column')} of timing, the browser, files or scores left out: they "
            "hold no answers."
        )
    for row, cells in body:
        for item, names in items.items():
            text = texts[names[0]]
            found.text(item, text if item == names[0] else text.split(" - ", 1)[0])
            found.add(item, cells[coder], asked or "answer", [cells[name] for name in names], row)


def _items(
    columns: Mapping[str, Sequence[str]],
    texts: Mapping[str, str],
    numbers: Mapping[str, str],
    asked: str | None,
) -> dict[str, list[str]]:
    """Columns of each item: its own, or those of the options that are ticked."""
    groups: dict[str, list[str]] = {}
    for name in columns:
        number = numbers[name]
        said = number.startswith("QID") and not number.endswith("TEXT")
        if said and not _NO_ANSWER.search(number) and _is_asked(name, asked):
            groups.setdefault(number.partition("_")[0], []).append(name)
    items: dict[str, list[str]] = {}
    for names in groups.values():
        if len(names) > 1 and all(_is_tick(texts[name], columns[name]) for name in names):
            items[names[0].rpartition("_")[0] or names[0]] = names
        else:
            items |= {name: [name] for name in names}
    return items


def _number(mark: str) -> str:
    """Return the identifier of a column, from its third header row."""
    value = parsed(mark)
    return str(value.get("ImportId", "")) if isinstance(value, dict) else ""


def _is_asked(name: str, asked: str | None) -> bool:
    """Return True if a column is of the question that was named, by its beginning or a pattern."""
    if asked is None or (set("*?[") & set(asked) and fnmatchcase(name, asked)):
        return True
    return re.match(re.escape(asked) + r"(?![A-Za-z])", name) is not None


def _is_tick(text: str, cells: Iterable[str]) -> bool:
    """Return True if a column only marks its option, which ends the question's text, as chosen."""
    said = {cell for cell in cells if cell}
    return len(said) <= 1 and all(text.endswith(option) for option in said)


def _refuse_kinds(found: Records, given: Mapping[str, Sequence[str]]) -> None:
    """Report questions that ask for something else than the others, or each for its own."""
    sets = {name: frozenset(answers) for name, answers in given.items()}
    odd = [
        name for name, own in sets.items()
        if len(own) > 1 and not any(own & other for n, other in sets.items() if n != name)
    ]  # fmt: skip
    if odd and len(sets) > 1:
        found.problem(
            f"These questions share no answer with the others: {', '.join(odd[:5])}.",
            f"Read questions of one kind: {Option('question', 'Q1')} takes the columns Q1, Q1_1, "
            "Q1_2 and so on.",
            code="several-kinds",
        )
    if found.options.question is not None or found.problems:
        return
    kinds: dict[frozenset[str], tuple[str, int]] = {}
    for name, own in sets.items():
        if len(given[name]) >= FEWEST:
            kinds.setdefault(own, (name, len(given[name])))
    for (one, (a, m)), (other, (b, n)) in combinations(kinds.items(), 2):
        union = one | other
        if min(m, n) >= ENOUGH * len(union) and len(one & other) < _ALIKE * len(union):
            stems = Counter(re.sub(r"_?\d+$", "", name) for name in sets)
            stem = stems.most_common(1)[0][0]
            found.problem(
                f"This looks like a survey, whose {counted(len(given), 'question')} have separate "
                f"answers, and not like items that share their labels: {a!r} has "
                f"{some(sorted(one))}, {b!r} {some(sorted(other))}.",
                "A survey of opinions has no agreement of coders. If some of its questions are "
                f"items to be labeled, choose these: {Option('question', stem)} takes "
                f"the columns {stem}, {stem}_1, {stem}_2 and so on, and a pattern such as "
                f"{Option('question', f'{stem[:1]}*')} all whose names fit.",
                code="survey",
            )
            return
