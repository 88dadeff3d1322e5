"""Tools that write one row or object per judgment: entries of ``shapes.toml``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annomodels.data.validation import some
from annomodels.errors import Option
from annomodels.io.objects import at, from_objects, objects_in, parsed
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tables.table import Table


@dataclass(frozen=True)
class ToolRows:
    """Columns of a tool."""

    needs: tuple[str, ...]  # required columns, or prefixes of one if they end in ":" or "."
    item: str
    coder: str
    packed: str = ""  # column of a JSON list with the answers to a row's tasks
    below: str = ""  # path of the judgments in an object; columns are then keys and key.key
    one_of: tuple[str, ...] = ()  # at least one of these columns is also required
    answers: str = ""  # prefix of answer columns; without it, columns that vary within items
    inputs: str = ""  # prefix of task columns
    own: tuple[str, ...] = ()  # columns that the tool adds
    own_ends: tuple[str, ...] = ()
    gold: str = ""  # column of the true labels of a question
    golden: str = ""  # column that marks rows of test questions
    number: str = ""  # column of judgment IDs
    left_out: Mapping[tuple[str, str], str] = field(default_factory=dict)  # by column and cell
    skipped: frozenset[tuple[str, str]] = frozenset()
    labels: Callable[[Any], Any] = lambda cell: cell
    note: str = ""

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> ToolRows:
        """Create columns from an entry of ``shapes.toml``."""
        lists = {key: tuple(value) for key, value in about.items() if isinstance(value, list)}
        left_out, skipped = about.get("left_out", {}), about.get("skipped", {})
        told: dict[str, Any] = {
            "labels": _LABELS[about.get("labels", "")],
            "left_out": {
                (name, cell): why for name, cells in left_out.items() for cell, why in cells.items()
            },
            "skipped": frozenset((name, c) for name, cells in skipped.items() for c in cells),
        }
        return cls(**{**about, **lists, **told})

    def fits(self, source: Source, options: Options) -> bool:
        """Return True if required columns exist and no other coder column is named."""
        if options.coder not in (None, self.coder) or options.coder_columns is not None:
            return False
        header: Sequence[str] = source.header
        if self.below:
            header = [key for record in source.sample for one in self.parts(record) for key in one]
        return (not self.one_of or not set(self.one_of).isdisjoint(header)) and all(
            any(n.startswith(name) for n in header) if name[-1] in ":." else name in header
            for name in self.needs
        )

    def parts(self, record: Any) -> list[dict[str, Any]]:
        """Return the cells of each judgment in an object; nested keys are joined by a dot."""
        return [
            {self.item: record.get("id")}
            | {
                (f"{key}.{name}" if name else key): cell
                for key, value in one.items()
                for name, cell in (value.items() if isinstance(value, dict) else [("", value)])
            }
            for one in objects_in(at(record, self.below))
        ]


def _unpacked(cell: object) -> dict[str, Any]:
    """Return the answer to each task (text, list or survey choices), without drawings."""
    found: dict[str, Any] = {}
    for task in objects_in(parsed(cell)):
        value = task.get("value")
        parts = objects_in(value)
        if parts:
            value = [part["choice"] for part in parts if "choice" in part]
        if isinstance(task.get("task"), str) and (value or not parts):
            found[f"{_TASK}{task['task']}"] = value
    return found


_TASK = "task."


def _choices(cell: object) -> object:
    """Return a single label, or the list of labels that CSV holds as JSON."""
    value = parsed(cell)
    if isinstance(value, dict) and "choices" in value:
        return value["choices"]
    return value if isinstance(value, list) else cell


_LABELS: dict[str, Callable[[Any], Any]] = {
    "": lambda cell: cell,
    "lines": lambda cell: [part for part in str(cell or "").split("\n") if part],
    "choices": _choices,
}


def read_rows(form: ToolRows, found: Records) -> None:
    options = found.options
    if form.below:
        parts = [(row, one) for row, record in found.objects() for one in form.parts(record)]
        objects, rows = [one for _, one in parts], [row for row, _ in parts]
        table = from_objects(objects, rows, found.source.name)
    else:
        table = found.table
    if form.packed and not found.problems:
        answers = [(cells, _unpacked(cells[form.packed])) for _, cells in table.records()]
        if drawn := sum(not given for _, given in answers):
            found.note(f"{drawn:,} rows hold drawings on images only, which are not read.")
        both = [{**cells, **given} for cells, given in answers]
        table = from_objects(both, table.rows, found.source.name)
    header = table.header
    if form.coder not in header:
        found.problem(f"Column {form.coder!r} is missing.", "Download the work of each coder.")
    named = prefixed(header, options.item, form.inputs)
    found.require(header, named, "item")
    found.require(header, prefixed(header, options.text, form.inputs), "text")
    if found.problems:
        return
    item = [named or form.item]
    if item[0] not in header:
        item = [name for name in header if form.inputs and name.startswith(form.inputs)]
        item = item or list(header[:1])
        what = "their inputs" if form.inputs else repr(item[0])
        found.note(f"The items are named by {what}, because there is no column {form.item!r}.")
    inputs = [n.removeprefix(form.inputs) for n in header if n.startswith(form.inputs)]
    text = prefixed(header, found.text_field(inputs), form.inputs) or ""
    questions = _questions(form, table, item, text, found)
    tests = 0
    for row, cells in table.records():
        name = " | ".join(str(cells[part]) for part in item)
        if not form.golden or str(cells.get(form.golden)).lower() == "true":
            tests += bool(form.golden)
            for question in questions if form.gold else ():
                truths = form.labels(cells.get(form.gold.format(question)))
                if isinstance(truths, list) and len(truths) > 1:
                    found.note(
                        "Test questions that accept several answers are not used as known truth."
                    )
                else:
                    found.gold(name, question, truths)
        said = {key: str(cells.get(key[0], "")).lower() for key in (*form.left_out, *form.skipped)}
        met = next((key for key, cell in said.items() if cell == key[1]), None)
        if met is not None and met in form.left_out:
            found.leave_out(form.left_out[met])
        elif met is not None:
            found.skip(name)
        else:
            found.text(name, cells.get(text))
            for question, column in questions.items():
                label = form.labels(cells[column])
                if isinstance(label, list) and any(isinstance(part, dict) for part in label):
                    found.problem(
                        f"Column {column!r} holds marked stretches of text or regions.",
                        f"Export as JSON, and define the items: {Option('units', 'exact')}.",
                        code="no-units",
                    )
                    return
                number = cells.get(form.number, "")
                found.add(name, cells[form.coder], question, label, row, number)
    if tests:
        found.note(
            f"{tests:,} answers to test questions are kept, with their true labels as known "
            "gold; such items are often left out when agreement is reported."
        )
    if form.note:
        found.note(form.note)


def _questions(
    form: ToolRows, table: Table, item: Sequence[str], text: str, found: Records
) -> dict[str, str]:
    """Return the column of each question: by prefix, as named, or if it varies within items."""
    header, options = table.header, found.options
    if form.answers:
        return {n.removeprefix(form.answers): n for n in header if n.startswith(form.answers)}
    asked = options.label or (options.question if options.question in header else None)
    if asked is not None:
        found.require(header, asked, "label")
        return {asked: asked} if asked in header else {}
    own = (*form.own, form.item, form.coder, *item, text)
    free = [
        name for name in header
        if name not in own and not name.endswith(form.own_ends or ("\0",))
        and not (name.startswith("_") and "_" in form.own)
    ]  # fmt: skip
    names = [n for n in free if form.gold and form.gold.format(n) in header]
    units = list(map(repr, table.columns[form.item if form.item in header else item[0]]))
    for name in free if not names else ():
        first: dict[str, str] = {}
        cells = map(repr, table.columns[name])
        if any(first.setdefault(u, c) != c for u, c in zip(units, cells, strict=True)):
            names.append(name)
    if not names and len(free) == 1:
        names = free
    if not names:
        found.problem(
            "No column varies within the items, so it is unclear which one holds the labels.",
            f"Name it with {Option('label')}. The columns are {some(free)}.",
            code="no-label-column",
        )
    return {name: name for name in names}


def prefixed(header: Sequence[str], name: str | None, prefix: str) -> str | None:
    """Return the named column; the name may omit the prefix of the tool."""
    if name is None or name in header or prefix + name not in header:
        return name
    return prefix + name
