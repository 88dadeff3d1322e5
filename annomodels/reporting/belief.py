"""Section on whether to believe the page: what the model takes for granted, and its rivals."""

from __future__ import annotations

from typing import Any

from annomodels.plots.style import short
from annomodels.reporting import grid
from annomodels.reporting.collect import ReportData
from annomodels.reporting.grid import Cell, Column, Table, tabulate

__all__ = ["ALIKE", "comparison", "comparison_notes", "honest", "prior_notes", "priors"]

CODERS = 10

_TELLS = (
    "Known truth of some twenty to fifty items, labelled by an expert, tells how much; see “Gold "
    "and money”."
)
ALIKE = (
    "An honest word: the model takes the labels of an item for independent once its truth is "
    "known. Where items differ in difficulty, or coders share their errors, that is not so, and "
    "the probabilities of the gold labels are then too sure and the expected number of wrong "
    "labels is too small."
)
_STATES = (
    "An honest word: the model lets items of one class differ, and takes their labels for "
    "independent once this is known. Errors that coders share for other reasons, such as a "
    "guideline that all read in the same wrong way, it cannot see: a crowd that is wrong with one "
    "voice looks like one that is right, and the probabilities of the gold labels are then too "
    f"sure. {_TELLS}"
)


def honest(found: ReportData) -> str:
    """Say what the model takes for granted.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.collect.collect` gathered.
    """
    return _STATES if "items" in found.fit.tree.children else f"{ALIKE} {_TELLS}"


def comparison(found: ReportData) -> Table:
    """Models fitted to these data, by what they predict of held-out items."""
    if found.comparison is None:
        return Table("comparison", "", (), (), 0)
    columns = (
        Column("model", "Model"),
        Column("elpd", "Score", True),
        Column("se", "± error", True),
        Column("difference", "Difference to the best", True),
        Column("difference_se", "± error", True),
        Column("weight", "Weight", True),
        Column("unreliable", "Unreliable items", True),
        Column("verdict", "Verdict"),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.model),
            grid.quantity(r.elpd),
            grid.quantity(r.se),
            grid.quantity(r.difference),
            grid.quantity(r.difference_se),
            grid.real(r.weight),
            grid.integer(r.unreliable),
            grid.words(r.verdict),
        )

    title = "Models by what they predict of items they have not seen"
    return tabulate("comparison", title, columns, found.comparison.table, row)


def comparison_notes(found: ReportData) -> list[str]:
    """Say how the models compare, or how to compare them.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.collect.collect` gathered.
    """
    if found.comparison is not None:
        own = found.fit.model.name
        notes = [short(note, 400) for note in found.comparison.notes]
        return [f"This page is of the model {own}.", *notes]
    return [
        "One model was fitted, so no other could do better here. To see whether one would, fit it "
        "to the same labels and give it to the page: annomodels report FIT --compare OTHER, or "
        "am.report(fit, path, others=[other])."
    ]


def priors(found: ReportData) -> Table:
    """Prevalence, and accuracy of the coders that move most, under weaker and stronger priors."""
    table = found.fit.prior_sensitivity().table
    away = table[["weaker", "stronger"]].sub(table["mean"], axis=0).abs().max(axis=1)
    coders = away[table["what"] == "accuracy"].nlargest(CODERS).index
    columns = (
        Column("what", "What"),
        Column("name", "Of"),
        Column("mean", "With these priors", True),
        Column("sd", "± sd", True),
        Column("weaker", "A fifth weaker", True),
        Column("stronger", "A quarter stronger", True),
        Column("prior_sensitivity", "Prior sensitivity", True),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.words(r.what),
            grid.name(r.name),
            *(grid.real(value, 3) for value in (r.mean, r.sd, r.weaker, r.stronger)),
            grid.real(r.prior_sensitivity),
        )

    shown = table[(table["what"] == "prevalence") | table.index.isin(coders)]
    title = "If the priors counted less or more: labels, and the coders that move most"
    return tabulate("priors", title, columns, shown, row)


def prior_notes(found: ReportData) -> list[str]:
    """Say how much the priors matter.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.collect.collect` gathered.
    """
    return [short(note, 600) for note in found.fit.prior_sensitivity().notes]
