"""The folder that ``annomodels run`` writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annomodels.cli.back import guarded_tables
from annomodels.cli.places import filled_folder
from annomodels.cli.session import note, warn
from annomodels.cli.summary import gold_table
from annomodels.cli.tables import to_text
from annomodels.cli.terminal import Stages

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

__all__ = ["names_of", "write_outputs"]

_REPORT = "report.html"
_OTHERS = ("gold.csv", "coders.csv", "items.csv", "agreement.csv", "fit.nc", "methods.md")


def names_of(*, report: bool) -> tuple[str, ...]:
    """Give the names of the files, with or without the report."""
    return (_REPORT, *_OTHERS) if report else _OTHERS


def write_outputs(
    fit: Fit,
    folder: str,
    names: tuple[str, ...],
    *,
    threshold: float | None,
    target: float | None,
    known: Mapping[Any, Any] | None = None,
    spreadsheet: bool = False,
) -> None:
    """Write all outputs beside the folder, then move them in.

    Parameters
    ----------
    fit
        The fit.
    folder
        Where to; made when it is not there.
    names
        Which files, of :func:`names_of`.
    threshold, target
        As for ``annomodels gold`` and ``annomodels coders``.
    known
        Truth that the report judges the gold labels by.
    spreadsheet
        Whether to put an apostrophe before texts that a spreadsheet would take for formulas.
    """
    from annomodels.reporting.facts import Facts
    from annomodels.reporting.methods import methods
    from annomodels.reporting.page import page
    from annomodels.reporting.sheet import write

    told = str(fit.tree.attrs["command"])
    facts = Facts(fit, target, known=known)
    stale = _REPORT not in names and (Path(folder) / _REPORT).exists()
    with filled_folder(folder) as beside, Stages() as stages:
        stages("making the tables", 0.0)
        gold = fit.gold(threshold)
        tables = {
            "gold.csv": gold_table(gold, threshold, soft=False),
            "coders.csv": facts.coders.table,
            "items.csv": fit.items().table,
            "agreement.csv": fit.agreement().table,
        }
        safe = guarded_tables(list(tables.values()), spreadsheet)
        for name, table in zip(tables, safe, strict=True):
            (beside / name).write_text(to_text(table, "csv"), encoding="utf-8", newline="")
        (beside / "methods.md").write_text(methods(facts, told), encoding="utf-8")
        fit.save(beside / "fit.nc")
        stages("making the tables", 1.0)
        if _REPORT in names:
            stages("drawing the report", 0.0)
            write(beside / _REPORT, page(facts, told))
            stages("drawing the report", 1.0)
    for text in gold.notes:
        note(f"note: {text}")
    if stale:
        warn(f"{Path(folder) / _REPORT} is of an earlier run.")
