"""Tools whose tables have one row for each judgement: what each column is, and one reader for all.

A tool is added as one entry of ``ROWS``; `formats` and the page on formats know it from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annomodels.data.validation import some
from annomodels.errors import Option
from annomodels.io.objects import parsed
from annomodels.io.source import Options, Source
from annomodels.io.tables.table import Table
from annomodels.io.tools.judgements import Judgements


@dataclass(frozen=True)
class Rows:
    """Columns of a tool; the `title` and what it is `known_by` are for people."""

    title: str
    known_by: str
    needs: tuple[str, ...]  # columns of which all are there, or one that begins so (":" at the end)
    item: str
    coder: str
    one_of: tuple[str, ...] = ()  # of these columns one is there, too
    answers: str = ""  # how columns of answers begin; without it, what varies within items
    inputs: str = ""  # what the tool writes before columns of its tasks
    own: tuple[str, ...] = ()  # columns of the tool
    own_ends: tuple[str, ...] = ()
    gold: str = ""  # column of the known truth of a question
    golden: str = ""  # column that marks rows of test questions
    number: str = ""  # column of the identifier of a judgement
    status: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)  # reason by status
    skipped: tuple[str, ...] = ()
    labels: Callable[[Any], Any] = lambda cell: cell
    note: str = ""

    def fits(self, source: Source, options: Options) -> bool:
        """Whether the columns are there, and nobody named others for the coders."""
        header = source.header
        if options.coder not in (None, self.coder) or options.coder_columns is not None:
            return False
        return (not self.one_of or not set(self.one_of).isdisjoint(header)) and all(
            any(n.startswith(name) for n in header) if name.endswith(":") else name in header
            for name in self.needs
        )


def _lines(cell: Any) -> list[str]:
    return [part for part in str(cell or "").split("\n") if part]


def _choices(cell: Any) -> Any:
    """Give a bare label, or a list of several, which CSV holds as JSON."""
    value = parsed(cell)
    if isinstance(value, dict) and "choices" in value:
        return value["choices"]
    return value if isinstance(value, list) else cell


ROWS: dict[str, Rows] = {
    "label-studio-table": Rows(
        "Label Studio, JSON-MIN or CSV",
        "columns annotation_id and annotator",
        ("annotation_id", "annotator"),
        one_of=("id", "lead_time"),
        item="id",
        coder="annotator",
        own=("annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history"),
        number="annotation_id",
        labels=_choices,
        note="This export does not say which annotations are ground truth, so such ones count as "
        "labels of their coder; the full JSON export says it.",
    ),
    "toloka": Rows(
        "Toloka, the file of assignments",
        "columns that begin with ASSIGNMENT:",
        ("ASSIGNMENT:", "OUTPUT:"),
        item="ASSIGNMENT:task_id",
        coder="ASSIGNMENT:worker_id",
        answers="OUTPUT:",
        inputs="INPUT:",
        gold="GOLDEN:{}",
        status="ASSIGNMENT:status",
        left_out={"rejected": "they were rejected"},
        skipped=("skipped", "expired"),
    ),
    "appen": Rows(
        "Appen (Figure Eight, CrowdFlower), the full report",
        "columns _unit_id and _worker_id",
        ("_unit_id", "_worker_id"),
        item="_unit_id",
        coder="_worker_id",
        own=("_",),
        own_ends=("_gold", "_gold_reason", ":confidence"),
        gold="{}_gold",
        golden="_golden",
        number="_id",
        status="_tainted",
        left_out={"true": "they are tainted"},
        labels=_lines,
    ),
}


def read_rows(form: Rows, source: Source, options: Options, found: Judgements) -> None:
    """Columns of a table with one row for each judgement."""
    table = found.table
    header = table.header
    if form.coder not in header:
        found.problem(f"There is no column {form.coder!r}.", "Download the work of each coder.")
    named = prefixed(header, options.item, form.inputs)
    found.require(header, named, "item")
    found.require(header, prefixed(header, options.text, form.inputs), "text")
    if found.problems:
        return
    item = [named or (form.item if form.item in header else "")]
    if not item[0]:
        item = [name for name in header if form.inputs and name.startswith(form.inputs)]
        item = item or list(header[:1])
        what = "their inputs" if form.inputs else repr(item[0])
        found.note(f"The items are named by {what}, because there is no column {form.item!r}.")
    text = prefixed(header, options.text or "text", form.inputs) or ""
    questions = _questions(form, source, item, text, found)
    tests = 0
    for row, cells in table.records():
        name = " | ".join(str(cells[part]) for part in item)
        if not form.golden or str(cells.get(form.golden)).lower() == "true":
            tests += bool(form.golden)
            for question in questions if form.gold else ():
                found.gold(
                    name, question, _gold(form, cells.get(form.gold.format(question)), found)
                )
        status = str(cells.get(form.status, "")).lower()
        if status in form.left_out:
            found.leave_out(form.left_out[status])
        elif status in form.skipped:
            found.skip(name)
        else:
            found.text(name, cells.get(text))
            for question, column in questions.items():
                label = form.labels(cells[column])
                if isinstance(label, list) and any(isinstance(part, dict) for part in label):
                    found.problem(
                        f"Column {column!r} holds marked stretches of text or regions.",
                        f"Export as JSON, and say what the items are: {Option('units', 'exact')}.",
                    )
                    return
                number = cells.get(form.number, "")
                found.add(name, cells[form.coder], question, label, row, number)
    if tests:
        found.note(
            f"{tests:,} judgements of test questions are kept, and the answers to them are known "
            "truth; such items are often left out when agreement is reported."
        )
    if form.note:
        found.note(form.note)


def _questions(
    form: Rows, source: Source, item: list[str], text: str, found: Judgements
) -> dict[str, str]:
    """Column of each question."""
    header, options = source.table.header, found.options
    if form.answers:
        return {n.removeprefix(form.answers): n for n in header if n.startswith(form.answers)}
    own = (*form.own, form.item, form.coder)
    free = [name for name in header if name not in (*own, *item, text)]
    free = [name for name in free if not name.startswith("_") or "_" not in form.own]
    free = [name for name in free if not name.endswith(form.own_ends or ("\0",))]
    asked = options.label or (options.question if options.question in header else None)
    names = (
        [asked]
        if asked in header
        else [n for n in free if form.gold and form.gold.format(n) in header]
    )
    unit = form.item if form.item in header else item[0]
    return {str(n): str(n) for n in names or answer_columns(source.table, free, unit, asked, found)}


def _gold(form: Rows, cell: Any, found: Judgements) -> Any:
    """Give the one right answer; where several are accepted, none is the truth."""
    answers = form.labels(cell)
    if isinstance(answers, list) and len(answers) > 1:
        found.note("Test questions that accept several answers are not used as known truth.")
        return None
    return answers


def prefixed(header: Sequence[str], name: str | None, prefix: str) -> str | None:
    """Column that was named, with or without the prefix that the tool puts before it."""
    if name is None or name in header or prefix + name not in header:
        return name
    return prefix + name


def answer_columns(
    table: Table, candidates: Sequence[str], unit: str, asked: str | None, found: Judgements
) -> list[str]:
    """Columns that hold answers: the one that was named, else those that vary within a unit."""
    if asked is not None:
        found.require(table.header, asked, "label")
        return [asked] if asked in table.header else []
    units = [repr(cell) for cell in table.columns[unit]]
    varying = []
    for name in candidates:
        first: dict[str, str] = {}
        cells = (repr(cell) for cell in table.columns[name])
        if any(first.setdefault(u, cell) != cell for u, cell in zip(units, cells, strict=True)):
            varying.append(name)
    if not varying and len(candidates) == 1:
        return list(candidates)
    if not varying:
        found.problem(
            "No column varies within the items, so it cannot be seen which one holds the labels.",
            f"Name it with {Option('label')}. The columns are {some(candidates)}.",
        )
    return varying
