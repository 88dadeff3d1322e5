"""Label Studio: JSON-MIN and CSV, one record for each annotation."""

from __future__ import annotations

from typing import Any

from annomodels.io.columns import Columns
from annomodels.io.judgements import Judgements
from annomodels.io.records import parsed
from annomodels.io.source import Options, Source
from annomodels.io.tools.tables import answer_columns, item_column, rows_of, usable

__all__ = ["is_label_studio_table", "read_label_studio_table"]

OWN = frozenset(
    [
        "id",
        "annotator",
        "annotation_id",
        "created_at",
        "updated_at",
        "lead_time",
        "agreement",
        "history",
    ]
)


def is_label_studio_table(source: Source, options: Options) -> bool:
    """Whether there are columns ``annotation_id``, ``annotator`` and ``id`` or ``lead_time``."""
    header = set(source.header)
    own = {"annotation_id", "annotator"} <= header and not {"id", "lead_time"}.isdisjoint(header)
    return own and options.coder in (None, "annotator") and options.coder_columns is None


def read_label_studio_table(source: Source, options: Options) -> Columns:
    """Columns of one record an annotation; cancelled ones are not in such exports."""
    found = Judgements(source, options)
    table = usable(source, found)
    unit = item_column(table, found, "id")
    if found.problems:
        return found.columns()
    text = options.text or ("text" if "text" in table.header else None)
    free = [name for name in table.header if name not in OWN | {unit, text}]
    asked = options.label or options.question
    questions = answer_columns(table, free, unit, asked, found)
    for row, cells in rows_of(table):
        found.text(cells[unit], cells.get(text or ""))
        for question in questions:
            answer = _answer(cells[question])
            if isinstance(answer, list) and any(isinstance(part, dict) for part in answer):
                found.problem(
                    f"Column {question!r} holds marked stretches of text or regions.",
                    "Export as JSON, and say what the items are: units='exact' (--units).",
                )
                return found.columns()
            found.add(
                cells[unit], cells["annotator"], question, answer, row, cells["annotation_id"]
            )
    found.note(
        "This export does not say which annotations are ground truth, so such ones count as "
        "labels of their coder; the full JSON export says it."
    )
    return found.columns()


def _answer(cell: Any) -> Any:
    """Give a bare label, or a list of several, which CSV holds as JSON."""
    value = parsed(cell)
    if isinstance(value, dict) and "choices" in value:
        return value["choices"]
    return value if isinstance(value, list) else cell
