"""Section on the label scheme: which definitions to fix, and what merging would do."""

from __future__ import annotations

from typing import Any

import numpy as np

from annomodels.data.names import label_text
from annomodels.plots.style import short
from annomodels.reporting import grid
from annomodels.reporting.collect import ReportData
from annomodels.reporting.grid import Cell, Column, Table, tabulate
from annomodels.reporting.words import listed, percent

WANTED = 0.8  # share of right uses that a well-defined label reaches
_VERDICTS = ("fix", "unclear", "fine")


def fix(found: ReportData) -> list[str]:
    """Say of each label whether its definition is to be fixed.

    "fix" when sensitivity or precision is below .8 with a probability of 97.5 %, "fine" when both
    are above it with that probability, "unclear" otherwise, or where there are no intervals.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.collect.collect` gathered.
    """
    table = found.labels.table
    ends = {
        end: table[[f"sensitivity_{end}", f"precision_{end}"]].to_numpy(dtype=float)
        for end in ("low", "high")
    }
    bad = (ends["high"] < WANTED).any(axis=1)
    good = (ends["low"] > WANTED).all(axis=1)
    where = np.where(bad, 0, np.where(good, 2, 1))
    return [_VERDICTS[n] for n in where]


def labels(found: ReportData) -> Table:
    """How often each label was given, how frequent it is in truth, and how well it is used."""
    table = found.labels.table.assign(fix=fix(found))
    columns = (
        Column("label", "Label"),
        Column("fix", "Definition"),
        Column("given", "Given", True),
        Column("share", "Share of labels", True),
        Column("prevalence", "Share of items, corrected", True, True),
        Column("sensitivity", "Said when true", True, True),
        Column("precision", "True when said", True, True),
        Column("partner", "Most confused with"),
        Column("partner_share", "of its confusions", True, True),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(label_text(r.label)),
            grid.tag(r.fix),
            grid.integer(r.given),
            grid.real(r.share),
            grid.estimate(r.prevalence, r.prevalence_low, r.prevalence_high, bar=True),
            grid.estimate(r.sensitivity, r.sensitivity_low, r.sensitivity_high),
            grid.estimate(r.precision, r.precision_low, r.precision_high),
            grid.name(label_text(r.partner), 30),
            grid.estimate(r.partner_share, r.partner_share_low, r.partner_share_high),
        )

    return tabulate("labels", "Labels, as given and corrected by the model", columns, table, row)


def pairs(found: ReportData) -> Table:
    """Pairs of labels, the most confused first, and what counting both as one would do."""
    columns = (
        Column("pair", "Pair of labels"),
        Column("confusions", "Part of all confusions", True, True),
        Column("alpha_merged", "Alpha with both as one", True),
        Column("alpha_change", "Change of alpha", True, True),
        Column("accuracy_gain", "Gain of accuracy", True, True),
    )
    table = found.pairs.table if found.data.n_labels > 2 else found.pairs.table.head(0)

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(_pair(r)),
            grid.estimate(r.confusions, r.confusions_low, r.confusions_high),
            grid.real(r.alpha_merged),
            grid.estimate(r.alpha_change, r.alpha_change_low, r.alpha_change_high),
            grid.estimate(r.accuracy_gain, r.accuracy_gain_low, r.accuracy_gain_high),
        )

    return tabulate("pairs", "What merging two labels would do", columns, table, row)


def scheme_notes(found: ReportData) -> list[str]:
    """Say which definitions to fix, between which labels, and what merging them would do.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.collect.collect` gathered.
    """
    table, verdicts = found.labels.table, fix(found)
    names = [short(label_text(label), 24) for label in table["label"]]
    chosen = [k for k, word in enumerate(verdicts) if word == "fix"]
    worst = table[["sensitivity", "precision"]].to_numpy(dtype=float).min(axis=1)
    out = [_which([names[k] for k in sorted(chosen, key=lambda k: worst[k])], verdicts)]
    flagged = len(found.flagged)
    if chosen and flagged:
        whose = "the flagged coder" if flagged == 1 else f"the {flagged:,} flagged coders"
        out[0] += f" Labels of {whose} count here: look at them first."
    if found.data.n_labels > 2:
        top: Any = found.pairs.table.iloc[0]
        part, low, high = (percent(float(top[f"confusions{end}"])) for end in ("", "_low", "_high"))
        span = "" if low == "–" else f" (95 % interval {low} to {high})"
        out.append(
            f"Most confusions are between {_pair(top)}: {part} of all{span}. An example of each in "
            "the guideline, and what tells them apart, helps most there."
        )
    return out + [short(note, 400) for note in found.labels.notes]


def _which(names: list[str], verdicts: list[str]) -> str:
    limit = percent(WANTED)
    if names:
        one = len(names) == 1
        return (
            f"Fix the definition{'' if one else 's'} of {listed(names, 6)}"
            f"{'' if one else ', the worst first'}: with a probability of 97.5 %, the label is "
            f"given to fewer than {limit} of the items it is true of, or true of fewer than "
            f"{limit} of those it is given to."
        )
    if "unclear" in verdicts:
        return (
            f"No definition surely needs fixing, but not every label is surely right in {limit} "
            "of its uses."
        )
    return f"No definition needs fixing: every label is surely right in {limit} of its uses."


def _pair(r: Any) -> str:
    return f"{short(label_text(r.first), 28)} and {short(label_text(r.second), 28)}"
