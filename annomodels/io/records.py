"""Long table that readers fill: rows of each question, and marks in texts."""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from annomodels.data.validation import NotLabels, at_rows, counted, is_blank, some
from annomodels.errors import AnnotationError, Option, Problem, raise_all
from annomodels.io.objects import keys_of
from annomodels.io.source import Options, Source
from annomodels.io.span_builder import GOLD, MarkedSpan, Quote, Spans, in_code_points, who_read
from annomodels.io.tables.columns import (
    SHOWN,
    Columns,
    Part,
    known_column,
    named_column,
    without_label,
)
from annomodels.io.tables.questions import Unsuitable, choose_question, listed, unsuitable
from annomodels.io.tables.table import Table
from annomodels.io.words import TEXT_COLUMNS

KEPT = "{} between marks: kept in your project and not modeled."
_NOT_READ = "Not read, because they mark stretches of text: "
HELD = Unsuitable("lists or objects, not labels")
_Row = tuple[str, str, str, tuple[str, ...], int, str]
# readers of a document from which their files are of different documents if no two texts are equal
_UNRELATED = 3
_JOINERS = ("|", " + ", " / ", " & ", "; ", " ~ ")


class Unreadable(ValueError):
    """A value that should be a name is a list, an object or the like."""


class NoUnits(AnnotationError):
    """The file has marked spans of text instead of labels of items."""

    def __init__(self, problems: Iterable[Problem], marked: Callable[[], Spans]) -> None:
        super().__init__(problems)
        self.marked = marked


def name_of_value(value: object) -> str:
    """Return a JSON or table scalar as text; "" if it is missing."""
    if isinstance(value, str):
        return value
    if is_blank(value):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return str(value)
    raise Unreadable(f"{type(value).__name__!r}")


def values_of(label: object) -> tuple[str, ...]:
    """Return the distinct names in a label, in their order."""
    if isinstance(label, str):
        return (label,) if label else ()
    parts = label if isinstance(label, (list, tuple)) else [label]
    return tuple(dict.fromkeys(name for name in map(name_of_value, parts) if name))


class Records:
    """Rows of each question of one export, and marks in its texts.

    Readers of tools add judgments one by one (:meth:`add`). A reader of tables adds one part per
    question, which is built on demand.
    """

    def __init__(self, source: Source, options: Options) -> None:
        self.source = source
        self.options = options
        self.notes: list[str] = []
        self.problems: list[Problem] = []
        self.parts: dict[str, Part] = {}  # rows of each question
        self.default: Part | None = None  # rows of the default question
        self.unfit: Callable[..., Unsuitable | None] = unsuitable  # reason why rows are not labels
        self.where = source.name  # location of the questions, for messages
        self.otherwise = ""  # remedy other than naming a question
        self.skips: Counter[str] = Counter()
        self.stretches: dict[str, None] = {}  # questions that mark text
        self.attributes: dict[str, None] = {}  # questions that describe another one's marks
        self.marked: Callable[[], Spans] | None = None  # if there are only marks
        self.lists_readers = True  # whether readers without marks are listed
        self._kept: list[_Row] = []
        self._unsaid: dict[str, None] = {}
        self._left_out: Counter[str] = Counter()
        self._unreadable: dict[str, list[int]] = {}
        self._gold: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        self._texts: dict[str, str] = {}
        self._shown = "text"  # default text field
        self._of_labels: list[Problem] = []
        self._spans: dict[MarkedSpan, None] = {}
        self._seen: dict[str, dict[str, None]] = {}
        self._documents: dict[str, str] = {}
        self._tokens: dict[str, Sequence[tuple[int, int]]] = {}
        self._of_spans: list[str] = []  # notes on spans
        self._versions: dict[str, dict[str, None]] = {}  # other texts of documents
        self._reversed: list[str] = []
        self._repeated = 0
        self._quotes: list[Quote] = []

    # -- gathering ------------------------------------------------------------------------------

    def objects(
        self, pairs: Iterable[tuple[int, object]] | None = None
    ) -> Iterator[tuple[int, Any]]:
        """Yield row and record of each object; report other records as a problem."""
        for row, value in self.source.objects if pairs is None else pairs:
            for record in self.members([value], "a record", row):
                yield row, record

    def members(self, values: object, word: str, row: int) -> Iterator[dict[str, Any]]:
        """Yield the objects in a list or a value; report other values as a problem."""
        for value in values if isinstance(values, list) else [values] if values else ():
            if isinstance(value, dict):
                yield value
            else:
                self.unreadable(word, row)

    @property
    def table(self) -> Table:
        return self.taken(self.source.table)

    def taken(self, table: Table, *, used: Collection[str] | None = None) -> Table:
        self.problems += table.problems
        self.problems += table.doubled(table.header if used is None else used)
        self.notes += table.notes
        return table

    def add(
        self,
        item: object,
        coder: object,
        question: str,
        label: object,
        row: int,
        number: object = "",
    ) -> None:
        """Add a judgment; a label of None, "" or [] is a skip, and a list is a set of labels."""
        try:
            word, who = "an item", ""
            what = name_of_value(item)
            word = "a coder"
            who = name_of_value(coder)
            word = "a label"
            labels = values_of(label)
            word = "an annotation id"
            key = name_of_value(number)
        except Unreadable:
            return self.unreadable(word, row)
        missing = self.options.missing
        if not labels or (missing and all(map(missing.__contains__, labels))):
            self.skips[question] += 1
            self._unsaid[what] = None
        elif not what:
            self.leave_out("they do not name an item")
        elif not who:
            self.leave_out("they do not name a coder")
        else:
            self._kept.append((what, who, question, labels, row, key))

    def skip(self, item: object, question: str = "") -> None:
        """Count a skipped item; the question "" means all questions."""
        self.skips[question] += 1
        if isinstance(item, str):
            self._unsaid[item] = None

    def leave_out(self, why: str, number: int = 1) -> None:
        self._left_out[why] += number

    def unreadable(self, word: str, row: int) -> None:
        self._unreadable.setdefault(word, []).append(row)

    def gold(self, item: object, question: str, label: object) -> None:
        with suppress(Unreadable):
            what, labels = name_of_value(item), values_of(label)
            if what and labels:
                self._gold.setdefault(question, []).append((what, labels))

    def text_field(self, names: Iterable[str]) -> str:
        """Return the text field of an item: as given, or by a known name."""
        if self.options.text is not None:
            return self.options.text
        self._shown = known_column(names, TEXT_COLUMNS) or self._shown
        return self._shown

    def text(self, item: object, text: object) -> None:
        if isinstance(item, str) and isinstance(text, str) and text:
            self._texts.setdefault(item, text)

    def document(
        self, item: object, coder: object, text: object = "", tokens: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Record that a coder read a document; GOLD is the coder of the curated version."""
        with suppress(Unreadable):
            name, who = name_of_value(item), name_of_value(coder)
            if not who and coder != GOLD:
                self._of_spans.append("Annotations without a coder are left out.")
                return
            self._seen.setdefault(name, {})[who] = None
            if isinstance(text, str) and text and self._documents.setdefault(name, text) != text:
                self._versions.setdefault(name, {})[text] = None
            if tokens:
                self._tokens.setdefault(name, tuple(tokens))

    def mark(
        self,
        item: Any,
        coder: Any,
        question: str,
        place: Any,
        label: Any,
        chain: str = "",
        quote: object = None,
    ) -> None:
        """Add a mark; `place` is its start and end, `quote` the marked words."""
        self.stretches[question] = None
        try:
            start, end = map(int, place)
            span = MarkedSpan(
                name_of_value(item), name_of_value(coder), question, start, end,
                name_of_value(label), chain,
            )  # fmt: skip
        except (TypeError, ValueError):
            self._of_spans.append("Marks without a place are left out.")
            return
        if not 0 <= start <= end:
            self._reversed.append(f"{span.document} {start}-{end}")
        elif span.coder or coder == GOLD:
            self._repeated += span in self._spans
            self._spans[span] = None
            if isinstance(quote, str) and quote.strip():
                self._quotes.append((span, quote))

    @property
    def empty(self) -> bool:
        return not self._kept and not self.stretches

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def problem(
        self, what: str, remedy: str, where: str = "", *, of_labels: bool = False, code: str = ""
    ) -> None:
        """Add a problem; `of_labels` limits it to reading labels."""
        found = Problem(what, where or self.source.name, remedy, code=code)
        (self._of_labels if of_labels else self.problems).append(found)

    def require(self, header: Sequence[str], name: str | None, role: str) -> None:
        if name is not None:
            self.problems += named_column(list(header), name, role, self.source.name)

    def asked(self, options: Options) -> Records | None:
        """Return these records for options that differ in the question only, or None."""
        own = replace(self.options, question=options.question)
        if own != options or self.problems or own.question not in self.parts:
            return None
        made = copy.copy(self)
        made.options = own  # whose codes for missing labels know which of them occur
        return made

    # -- the table ------------------------------------------------------------------------------

    def closed(self) -> Records:
        """Group the judgments by question after reading, and complete `problems`."""
        self.problems += self._of_labels
        asked = self.options.text
        if asked is not None and self._kept and not self._texts and not self.problems:
            header = self.source.header or tuple(keys_of(self.source.sample, depth=3))
            self.require(header, asked, "text")
        if self._texts and self._shown != "text":
            self.note(SHOWN.format(repr(self._shown)))
        for word, rows in self._unreadable.items():
            self.problem(
                f"{counted(len(rows), 'record')} where {word} has the wrong type.",
                "Export the labels again, without editing the file.",
                at_rows(self.source.name, list(dict.fromkeys(rows))),
                code="wrong-type",
            )
        by_question: dict[str, list[_Row]] = {}
        for row in self._kept:
            by_question.setdefault(row[2], []).append(row)
        for name in sorted(by_question):
            self.parts[name] = functools.partial(self._one, name, by_question[name])
        named = ", ".join(sorted(self.stretches))
        if not self.parts and self.default is None and not self.problems:
            what = f"It holds marked stretches of text ({named}), not labels of items."
            remedy = f"Define the items: {Option('units', 'exact')}, 'token' or 'overlap'."
            marked = Problem(what, self.source.name, remedy, code="no-units")
            self.problems.append(marked if self.stretches else self._nothing())
            self.marked = self.spans if self.stretches else None
        if self.stretches:
            self.note(f"{_NOT_READ}{named}.")
        return self

    def check(self) -> None:
        problems = list(dict.fromkeys(self.problems))
        if self.marked is not None and all(one.code == "no-units" for one in problems):
            raise NoUnits(problems, self.marked)
        raise_all(problems)

    def chosen(self) -> Columns:
        """Return the rows of the requested or only question, with all notes."""
        columns = self.answer()
        columns.notes = [*self.notes, *columns.notes, *columns.alone]
        return columns

    def answer(self) -> Columns:
        """Return the rows of the requested or only question."""
        self.check()
        asked = self.options.question
        if self.default is not None and asked not in self.parts:
            return self.default()
        counts, left_out = dict.fromkeys(self.parts, 0), {}
        if asked is None and len(counts) > 1:
            counts, reasons = self.screened()
            left_out = {name: why for name, why in reasons.items() if why.sure}
        question, problems = self._choice(asked, counts, left_out)
        raise_all(problems)
        if question is None:
            return Columns()
        columns = self.parts[question]()
        columns.question = question
        if left_out:
            columns.notes = [f"Not read as questions: {listed(left_out)}.", *columns.notes]
        return columns

    def screened(self) -> tuple[dict[str, int], dict[str, Unsuitable]]:
        """Count the labels of each question, and find questions without comparable labels."""
        counts: dict[str, int] = {}
        left_out: dict[str, Unsuitable] = {}
        for name, part in self.parts.items():
            made = part()
            counts[name] = len(made.labels)
            if (why := self.lacks(name, made)) is not None:
                left_out[name] = why
        return counts, left_out

    def lacks(self, name: str, made: Columns) -> Unsuitable | None:
        """Return why the labels of a question cannot be compared, or None."""
        if made.problems:
            is_held = all(isinstance(one, NotLabels) for one in made.problems)
            return HELD if is_held else None
        return self.unfit(name, made.items, made.coders, made.labels)

    def _choice(
        self, asked: str | None, counts: Mapping[str, int], left_out: Mapping[str, Unsuitable]
    ) -> tuple[str | None, list[Problem]]:
        """Return the question to read (None if there are no answers), and problems."""
        where = self.where
        fit = {name: n for name, n in counts.items() if name not in left_out}
        question, problems = choose_question(fit, asked, where, "label")
        if set(left_out.values()) == {HELD} and not fit:
            what = f"The fields hold lists or objects, not labels: {some(left_out)}."
            return None, [
                Problem(
                    what, where, "Write a record per label: item, coder, label.", code="not-a-label"
                )
            ]
        if left_out and not fit:
            what = f"None of {counted(len(counts), 'column')} holds labels to compare: "
            remedy = f"If one of them is a question after all, name it: {Option('question')}."
            problems = [Problem(f"{what}{listed(left_out)}.", where, remedy, code="no-labels")]
        more = [replace(one, remedy=f"{one.remedy} {self.otherwise}".strip()) for one in problems]
        return question, more

    def spans(self) -> Spans:
        problems = [one for one in self.problems if one.code != "no-units"]
        if self._reversed:
            what = f"{counted(len(self._reversed), 'span')} that end before they begin."
            where = f"{self.source.name}, {', '.join(self._reversed[:5])}"
            problems.append(Problem(what, where, "Export the annotations again."))
        if not self._spans and not problems:
            remedy = "Export the annotations of all coders, in a format with spans."
            problems.append(
                Problem("It contains no spans.", self.source.name, remedy, code="no-spans")
            )
        problems += self._unrelated()
        raise_all(problems)
        spans, told = in_code_points([*self._spans], self._documents, self._quotes)
        self._of_spans += [*told, *self._differing()]
        if self._repeated:
            self._of_spans.append(
                f"{counted(self._repeated, 'mark')} that a coder gave twice, counted once."
            )
        ordered = sorted(spans, key=lambda s: (s.document, s.coder, s.question, s.start, s.end))
        seen: Mapping[str, tuple[str, ...]]
        seen = {name: tuple(sorted(coders)) for name, coders in sorted(self._seen.items())}
        if not self.options.several:
            said = self.options.seen
            seen, problems = who_read(spans, seen, said, self.lists_readers, self.source.name)
            raise_all(problems)
        left = [note for note in self.notes if not note.startswith(_NOT_READ)]
        notes = tuple(dict.fromkeys([*self._of_spans, *left]))
        attributes = tuple(self.attributes)
        return Spans(
            tuple(ordered), seen, self._documents, self._tokens, self.source.name, notes, attributes
        )

    def _unrelated(self) -> Iterator[Problem]:
        """Yield a problem for files of different documents that were read as those of coders."""
        for name, others in self._versions.items():
            if len(others) + 1 == len(self._seen[name]) >= _UNRELATED:
                what = f"Each of the {len(others) + 1:,} coders of {name!r} has another text."
                remedy = (
                    "If the files are documents of one coder, name the coder: "
                    f"ana={self.source.name}. If they are one document, give all its coders the "
                    "same text."
                )
                yield Problem(what, self.source.name, remedy, code="other-texts")

    def _differing(self) -> list[str]:
        if not self._versions:
            return []
        name, others = next(iter(self._versions.items()))
        where = _first_difference(self._documents[name], next(iter(others)))
        if more := len(self._versions) - 1:
            where += f", and {counted(more, 'more document')}"
        told = f"The coders saw different texts of the document {name!r}: {where}."
        return [f"{told} Marks after that place may be shifted."]

    def _one(self, question: str, rows: list[_Row]) -> Columns:
        notes: list[str] = []
        rows = _once(rows, notes)
        gold = self._gold.get(question, [])
        show, problem = self._namer(
            [row[3] for row in rows] + [labels for _, labels in gold], notes
        )
        known = {row[0] for row in rows}
        for why, number in self._left_out.items():
            notes.append(f"Left out because {why}: {counted(number, 'answer')}.")
        skips = self.skips[question] + self.skips[""] * (question != "")
        if skips:
            notes.append(without_label(skips, len(rows)))
        answered = {row[:2] for row in rows}
        elsewhere = [asked for pair, asked in self._answered.items() if pair not in answered]
        if elsewhere:
            names = some([*dict.fromkeys(elsewhere)])
            notes.append(
                f"Left out because they answer only {names}, not {question!r}: "
                f"{len(elsewhere):,} of {len(elsewhere) + len(answered):,} answers."
            )
        return Columns(
            items=[row[0] for row in rows],
            coders=[row[1] for row in rows],
            labels=[show(row[3]) for row in rows],
            rows=[row[4] for row in rows],
            gold=_known_gold([(item, show(labels)) for item, labels in gold], notes),
            texts={item: text for item, text in self._texts.items() if item in known} or None,
            unlabelled=self._unsaid,
            skips=skips,
            notes=notes,
            problems=problem,
            question=question,
        )

    @functools.cached_property
    def _answered(self) -> Mapping[tuple[str, str], str]:
        """The last question that each coder answered about each item."""
        return {row[:2]: row[2] for row in self._kept}

    def _nothing(self) -> Problem:
        what = "No record holds a usable label."
        parts = [f"{n:,} left out because {why}" for why, n in self._left_out.items()]
        if self.skips:
            parts.append(f"{self.skips.total():,} skipped or without a label")
        if parts:
            what += f" The file has {', '.join(parts)}."
        return Problem(what, self.source.name, "Export the labels of all coders.", code="no-labels")

    def _namer(
        self, labels: list[tuple[str, ...]], notes: list[str]
    ) -> tuple[Callable[[tuple[str, ...]], Hashable], list[Problem]]:
        """Return a function that names labels: unchanged, joined if several, or as sets."""
        several = sum(len(names) > 1 for names in labels)
        if self.options.sets:
            return frozenset, []
        if not several:
            return lambda names: names[0], []
        used = {name for names in labels for name in names}
        joiner = next((j for j in _JOINERS if not any(j in name for name in used)), None)
        if joiner is None:
            what = "Some answers have several labels, and every separator occurs in a label."
            return str, [
                Problem(what, self.source.name, f"Read them as sets: {Option('sets', True)}.")
            ]
        notes.append(
            f"{counted(several, 'answer')} with several labels, read as one label such as "
            f"{joiner.join(sorted(next(n for n in labels if len(n) > 1)))!r}; "
            f"{Option('sets', True)} gives sets."
        )
        return lambda names: joiner.join(sorted(names)), []


def _once(rows: list[_Row], notes: list[str]) -> list[_Row]:
    """Keep one row per annotation id, the last if they differ."""
    found: dict[tuple[str, str, str], int] = {}
    kept: list[_Row] = []
    same = changed = 0
    for row in rows:
        key = (row[5], row[0], row[1])
        if row[5] and key in found:
            place = found[key]
            same += kept[place][3] == row[3]
            changed += kept[place][3] != row[3]
            kept[place] = row
            continue
        found[key] = len(kept)
        kept.append(row)
    if same:
        notes.append(f"{counted(same, 'row')} dropped that repeat an annotation id.")
    if changed:
        notes.append(
            f"{counted(changed, 'annotation')} exported again with another label; the last one is "
            "kept."
        )
    return kept


def _known_gold(
    pairs: Iterable[tuple[str, Hashable]], notes: list[str]
) -> Mapping[str, Hashable] | None:
    """Return the true label of each item; leave out items with several."""
    found: dict[str, dict[Hashable, None]] = {}
    for item, label in pairs:
        found.setdefault(item, {})[label] = None
    unclear = [item for item, labels in found.items() if len(labels) > 1]
    if unclear:
        notes.append(
            f"{counted(len(unclear), 'item')} with different known truths, which are not used: "
            f"{some(unclear)}."
        )
    return {item: next(iter(ls)) for item, ls in found.items() if len(ls) == 1} or None


def _first_difference(one: str, other: str) -> str:
    """Describe the first difference between two texts."""
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    at = min(len(one), len(other)) if at is None else at
    return f"from character {at:,}, {one[at : at + 12]!r} and {other[at : at + 12]!r}"
