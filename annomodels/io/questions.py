"""All questions of a file, or some of them: what can be read is read, the rest is named."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annomodels.data.annotations import Annotations
from annomodels.data.html import Html
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.border import name_of
from annomodels.io.codebook import Codebook, fits, is_pattern, unknown
from annomodels.io.many import Paths
from annomodels.io.reading import read, understood, with_way_out
from annomodels.io.tables.guard import NotAsItSeems
from annomodels.io.tables.options import check_words
from annomodels.io.tables.questions import listed


@dataclass(frozen=True, repr=False)
class Questions(Mapping[str, Annotations], Html):
    """Annotations of each question of a file, by its name.

    Parameters
    ----------
    annotations
        What was read.
    left_out
        Why the other columns or questions were not.
    source
        Name of the file.
    """

    annotations: Mapping[str, Annotations]
    left_out: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    def __getitem__(self, name: str) -> Annotations:
        return self.annotations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.annotations)

    def __len__(self) -> int:
        return len(self.annotations)

    def __repr__(self) -> str:
        lines = [f"{counted(len(self), 'question')} of {self.source}"]
        lines += [f"{name}: {data!r}" for name, data in self.annotations.items()]
        if self.left_out:
            lines.append(f"Left out: {listed(self.left_out)}.")
        return "\n".join(lines)


def read_questions(path: Paths, question: str | Sequence[str] = (), **reading: Any) -> Questions:
    r"""Read several questions of a file, each by itself, in one pass over the file.

    Columns that hold no labels are left out and named with the reason: free text, JSON, times and
    identifiers, what is the same in all rows of a coder or for all coders of an item, and questions
    to which there is one answer only. A question that is named by its full name is always tried.

    Parameters
    ----------
    path
        As for :func:`annomodels.read`.
    question
        Names of questions, or patterns such as ``"stage_*"``; all without it.
    **reading
        As for :func:`annomodels.read`. With `scale` and `codebook`, each question has its own
        scale: ``scale={"stage_*": "ordinal"}``.

    Returns
    -------
    Questions
        A mapping from names to :class:`annomodels.Annotations`, with ``left_out``.

    Raises
    ------
    AnnotationError
        When the file cannot be read, a name fits no question, or none can be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sheet.csv"
    >>> rows = ["item,coder,tone,frame,lead_time", "t1,ana,1,war,7", "t1,ben,2,war,9"]
    >>> _ = path.write_text("\n".join([*rows, "t2,ana,2,money,8", "t2,ben,2,war,5"]) + "\n")
    >>> found = read_questions(path, scale={"tone": "ordinal"})
    >>> list(found), found["tone"].scale, found["frame"].scale
    (['tone', 'frame'], 'ordinal', 'nominal')
    >>> print(found.left_out["lead_time"])
    by its name it says something of the item, the coder or the session
    """
    names = [question] if isinstance(question, str) else list(question)
    default = read.__kwdefaults__ or {}
    check_words("read_questions", reading, default)
    said = {**default, **reading, "question": None}
    return with_way_out(path, said, lambda where, how: _each(where, how, names), "read_questions")


def _each(path: Paths, said: Mapping[str, Any], names: Sequence[str]) -> Questions:
    """Read each question; those that cannot be read are left out with the reason."""
    if said["question"] is not None:
        raise AnnotationError("Several questions were asked for.")
    found, made = understood(path, said, every=True)
    if found.problems:
        raise AnnotationError(found.problems)
    source = name_of(path) if isinstance(path, (str, os.PathLike)) else "the files"
    only = found.question or found.names.get("label", "")
    asked = list(found.parts) or [name for name in (found.question,) if name]
    problems = unknown(dict.fromkeys(names, source), asked)
    book = Codebook(said["scale"], said["codebook"])
    problems += book.unfit(list(found.parts) or [name for name in (only,) if name])
    if problems:
        raise AnnotationError(problems)
    if not found.parts:
        return Questions({found.question: made(found)}, {}, source)
    annotations: dict[str, Annotations] = {}
    left_out: dict[str, str] = {}
    repeated: NotAsItSeems | None = None
    for name, part in found.parts.items():
        if names and not any(fits(asked, name) for asked in names):
            continue
        why = found.left_out.get(name)
        if why is not None and name not in names:
            left_out[name] = why.why
            continue
        try:
            columns = part()
            columns.question = columns.question or name
            columns.notes = [*found.notes, *columns.notes]
            annotations[name] = made(columns)
        except AnnotationError as error:
            problems += error.problems
            if isinstance(error, NotAsItSeems) and (repeated is None or not repeated.is_solved):
                repeated = error
            first = error.problems[0].what
            left_out[name] = first[:1].lower() + first[1:].rstrip(".")
            if codes := dict(error.problems[0].options).get("missing"):
                left_out[name] += f"; {Option('missing', list(codes))} reads the others"
    if not annotations and repeated is not None:
        raise repeated  # the items are not what they should be, whatever the question
    if not annotations:
        named = [name for name in names if not is_pattern(name)]
        if len(left_out) == 1 and problems and named:
            raise AnnotationError(problems)
        what = f"None of {counted(len(left_out), 'question')} can be read: {listed(left_out)}."
        same = {problem.remedy for problem in problems}
        remedy = f"Name a column that holds labels with {Option('question')}."
        if len(problems) == len(left_out) and len(same) == 1:
            remedy = same.pop()
        raise AnnotationError(Problem(what, source, remedy))
    return Questions(annotations, left_out, source)
