"""Qualtrics: a survey with one row for each respondent and one column for each item."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import combinations

from annomodels.data.validation import counted, some
from annomodels.errors import Option
from annomodels.io.objects import parsed
from annomodels.io.records import Records
from annomodels.io.source import Options, Source

_MARK = '{"ImportId":'
_PREVIEW = ("Survey Preview", "1")
_NO_ANSWER = re.compile(
    r"_(FIRST_CLICK|LAST_CLICK|PAGE_SUBMIT|CLICK_COUNT|BROWSER|VERSION|OS|RESOLUTION|"
    r"FILE_(ID|NAME|SIZE|TYPE)|SCORE|DO(_\w+)?)$"
)
ENOUGH, FEWEST = 10, 20  # answers for each label, and at least, that show what a question asks for
_ALIKE = 0.5
_FINISHED = ("true", "1", "wahr", "ja", "yes")


@dataclass(frozen=True)
class _Item:
    """An item of the survey: one column, or several that are options to tick."""

    name: str
    text: str
    places: tuple[int, ...]


def is_qualtrics(source: Source, options: Options) -> bool:
    """Whether the cells of the third row begin with ``{"ImportId":``."""
    return any(row[:1] and row[0].startswith(_MARK) for row in source.rows.head(3)[2:])


def read_qualtrics(found: Records) -> None:
    """Columns of the answers of finished respondents; the questions are the items."""
    source, options = found.source, found.options
    names, texts, marks = (list(row) for row in source.rows.rows[:3])
    width = len(names)
    if not len(names) == len(texts) == len(marks):
        found.problem("The three header rows differ in length.", "Export it again as CSV.")
        return
    coder = options.coder or "ResponseId"
    found.require(names, coder, "coder")
    if options.item is not None:
        found.problem("The questions are the items here.", f"Leave out {Option('item')}.")
    if found.problems:
        return
    body = [
        (line, row)
        for line, row in zip(source.rows.lines[3:], source.rows.rows[3:], strict=True)
        if any(row)
    ]
    wrong = [line for line, row in body if len(row) != width]
    if wrong:
        found.problem(
            f"{len(wrong):,} rows with another number of cells than the header.",
            "Export it again as CSV.",
            f"{source.name}, row {wrong[0]}",
        )
        return
    status, finished = _place(names, "Status"), _place(names, "Finished")
    rows = []
    for line, row in body:
        if status is not None and row[status] in _PREVIEW:
            found.leave_out("their respondent was a preview of the survey")
        elif finished is not None and row[finished].casefold() not in _FINISHED:
            found.leave_out("their respondent did not finish")
        else:
            rows.append((line, row))
    items = _items(names, texts, marks, [row for _, row in rows], options.question)
    if not items:
        asked = f" that begins with {options.question!r}" if options.question else ""
        found.problem(
            f"There is no column for a question{asked}.",
            f"The columns are {', '.join(names[:30])}.",
        )
    cells = [row for _, row in rows]
    _refuse_mixture(found, items, cells)
    if options.question is None and not found.problems:
        _refuse_survey(found, items, cells)
    left = sum(_NO_ANSWER.search(_number(mark)) is not None for mark in marks)
    if left:
        found.note(
            f"{counted(left, 'column')} of timing, the browser, files or scores left out: they "
            "hold no answers."
        )
    who = names.index(coder)
    for line, row in rows:
        for item in items:
            answers = [row[place] for place in item.places]
            found.text(item.name, item.text)
            found.add(item.name, row[who], options.question or "answer", answers, line)


def _place(names: Sequence[str], name: str) -> int | None:
    return names.index(name) if name in names else None


def _items(
    names: Sequence[str],
    texts: Sequence[str],
    marks: Sequence[str],
    rows: Sequence[Sequence[str]],
    asked: str | None,
) -> list[_Item]:
    """Columns of questions; options to tick of one question are put together."""
    groups: dict[str, list[int]] = {}
    for place, mark in enumerate(marks):
        number = _number(mark)
        said = number.startswith("QID") and not number.endswith("TEXT")
        if said and not _NO_ANSWER.search(number) and _is_asked(names[place], asked):
            groups.setdefault(number.partition("_")[0], []).append(place)
    items = []
    for places in groups.values():
        if len(places) > 1 and all(_is_tick(texts[p], [row[p] for row in rows]) for p in places):
            first = names[places[0]].rpartition("_")[0] or names[places[0]]
            items.append(_Item(first, _question(texts[places[0]]), tuple(places)))
        else:
            items += [_Item(names[p], texts[p], (p,)) for p in places]
    return items


def _number(mark: str) -> str:
    """Give the identifier of a column, from its third header row."""
    value = parsed(mark)
    return str(value.get("ImportId", "")) if isinstance(value, dict) else ""


def _is_asked(name: str, asked: str | None) -> bool:
    """Whether a column is of the question that was named, by its beginning or as a pattern."""
    if asked is None or (set("*?[") & set(asked) and fnmatchcase(name, asked)):
        return True
    return re.match(re.escape(asked) + r"(?![A-Za-z])", name) is not None


def _is_tick(text: str, cells: Sequence[str]) -> bool:
    """Whether a column only says that its option, which ends the question's text, was chosen."""
    said = {cell for cell in cells if cell}
    return len(said) <= 1 and all(text.endswith(option) for option in said)


def _question(text: str) -> str:
    return text.split(" - ", 1)[0]


def _refuse_mixture(found: Records, items: Sequence[_Item], rows: Sequence[Sequence[str]]) -> None:
    """Report questions that share no answer with the others: they ask for something else."""
    answers = {item.name: {row[p] for row in rows for p in item.places} - {""} for item in items}
    odd = [
        name
        for name, own in answers.items()
        if len(own) > 1 and not any(own & other for n, other in answers.items() if n != name)
    ]
    if odd and len(items) > 1:
        found.problem(
            f"These questions share no answer with the others: {', '.join(odd[:5])}.",
            f"Read questions of one kind: {Option('question', 'Q1')} takes the columns Q1, Q1_1, "
            "Q1_2 and so on.",
        )


def _refuse_survey(found: Records, items: Sequence[_Item], rows: Sequence[Sequence[str]]) -> None:
    """Stop where well answered questions have label sets of their own: they are no items."""
    sets: dict[str, tuple[frozenset[str], int]] = {}
    for item in items:
        answers = [row[place] for row in rows for place in item.places if row[place]]
        sets.setdefault(item.name, (frozenset(answers), len(answers)))
    kinds: dict[frozenset[str], tuple[str, int]] = {}
    for name, (own, n) in sets.items():
        if n >= FEWEST:
            kinds.setdefault(own, (name, n))
    for (one, (a, m)), (other, (b, n)) in combinations(kinds.items(), 2):
        union = one | other
        if min(m, n) >= ENOUGH * len(union) and len(one & other) < _ALIKE * len(union):
            stems = Counter(re.sub(r"_?\d+$", "", name) for name in sets)
            stem = stems.most_common(1)[0][0]
            found.problem(
                f"This looks like a survey, whose {counted(len(items), 'question')} have answers "
                f"of their own, and not like items that share their labels: {a!r} has "
                f"{some(sorted(one))}, {b!r} {some(sorted(other))}.",
                "A survey of opinions has no agreement of coders. If some of its questions are "
                f"items to be labelled, choose these: {Option('question', stem)} takes "
                f"the columns {stem}, {stem}_1, {stem}_2 and so on, and a pattern such as "
                f"{Option('question', f'{stem[:1]}*')} all whose names fit.",
            )
            return
