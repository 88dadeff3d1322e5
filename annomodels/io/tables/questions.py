"""Several questions in one file: one is chosen by name, and none is ever guessed."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from annomodels.data.validation import counted, some
from annomodels.errors import Problem
from annomodels.io.tables.suitable import Unsuitable, listed


def question_column(
    header: Sequence[str], taken: Collection[Any], asked: Any, source: str
) -> tuple[str | None, list[Problem]]:
    """Name of the column of questions, if there is one, and what is wrong if one is missed.

    Examples
    --------
    >>> question_column(["item", "Question"], [], "tone", "a.csv")
    ('Question', [])
    """
    name = next((name for name in header if name.strip().casefold() == "question"), None)
    name = None if name in taken else name
    if name is not None or asked is None:
        return name, []
    what = f"There is no column 'question' to look for {asked!r}."
    return None, [Problem(what, source, "Leave out question=.")]


def suitable(
    counts: Mapping[Any, int], left_out: Mapping[Any, Unsuitable], asked: Any, where: str
) -> tuple[dict[Any, int], list[str], list[Problem]]:
    """Questions without columns that hold no labels, unless one of these was asked for.

    Gives what is left to choose from, what to say, and what is wrong if nothing is.

    Examples
    --------
    >>> suitable({"q": 2, "t": 2}, {"t": Unsuitable("times")}, None, "a.csv")[:2]
    ({'q': 2}, ["Taken for no questions: 't' (times)."])
    """
    sure = {name: why for name, why in left_out.items() if why.sure}
    if asked is not None or len(counts) < 2 or not sure:
        return dict(counts), [], []
    kept = {name: n for name, n in counts.items() if name not in sure}
    if kept:
        return kept, [f"Taken for no questions: {listed(sure)}."], []
    what = f"None of {counted(len(counts), 'column')} holds labels to compare: {listed(sure)}."
    remedy = "If one of them is a question all the same, name it with question=."
    return {}, [], [Problem(what, where, remedy)]


def choose_question(
    counts: Mapping[Any, int], asked: Any, where: str, rows: str = "row"
) -> tuple[Any, list[Problem]]:
    """Question that was asked for, or the only one; else what to say.

    Examples
    --------
    >>> choose_question({"tone": 3}, None, "a.csv")
    ('tone', [])
    >>> choose_question({"tone": 3, "topic": 2}, None, "a.csv")[1][0].what
    "The table holds 2 questions: 'tone' (3 rows), 'topic' (2 rows)."
    """
    names = sorted(counts, key=str)
    if asked is None:
        if len(names) < 2:
            return (names[0] if names else None), []
        listed = some(names, lambda q: f"{q!r} ({counts[q]:,} {rows}s)")
        what = f"The table holds {counted(len(names), 'question')}: {listed}."
        remedy = (
            f"Choose one with question={names[0]!r}; annomodels run and "
            "agree analyse each separately with --every-question."
        )
        return None, [Problem(what, where, remedy, tuple(map(str, names)))]
    if asked in counts:
        return asked, []
    near = difflib.get_close_matches(str(asked), map(str, names), n=1)
    remedy = f"Did you mean {near[0]!r}? " if near else ""
    remedy += f"The questions are {some(names)}." if names else "Leave out the question."
    return None, [Problem(f"There is no question {asked!r}.", where, remedy)]
