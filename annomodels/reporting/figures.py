"""The figures of the page, each as an inline SVG with a caption and a description in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from annomodels import plots
from annomodels.plots.pairwise import pairwise
from annomodels.plots.style import clean, short
from annomodels.reporting.collect import Known, ReportData
from annomodels.reporting.words import decimal, percent

__all__ = ["Picture", "coders", "pictures", "prevalence", "ranks"]

_MOST_CODERS = 40
_MOST_PAIRED = 24


@dataclass(frozen=True)
class Picture:
    """A figure of the page.

    Parameters
    ----------
    svg
        The drawing.
    caption
        How to read it.
    """

    svg: str
    caption: str


def pictures(found: ReportData) -> dict[str, Picture]:
    """Draw the figures that fit these data.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.collect.collect` gathered.

    Returns
    -------
    dict
        Figures by name: agreement, coders, pairs, quadrant, simplex, difficulty, prevalence,
        coverage, predictive, ranks; those that make no sense for the data are missing.
    """
    out = {
        "agreement": _agreement(found),
        "prevalence": prevalence(found.fit),
        "coders": coders(found),
        "quadrant": _quadrant(found),
    }
    if int(found.coverage.table["kept"].iloc[0]) > 1:
        out["coverage"] = _coverage(found)
    if "difficulty" in found.items.table:
        out["difficulty"] = _difficulty(found)
    if 2 < found.data.n_coders <= _MOST_PAIRED and found.health.per_item.most > 1:
        out["pairs"] = _pairs(found)
    if found.data.n_labels == 3:
        out["simplex"] = _simplex(found)
    if len(found.predictive.table):
        out["predictive"] = _predictive(found)
    if found.fit.tree["sample_stats"].sizes["draw"] >= 20:
        out["ranks"] = ranks(found)
    return out


def _agreement(found: ReportData) -> Picture:
    table = found.agreement.table
    parts = [
        f"{clean(title)} {decimal(float(value))}"
        for title, value in zip(table["title"], table["value"], strict=True)
    ]
    svg = plots.inline(
        plots.agreement_forest(found.agreement),
        "fig-agreement",
        "Agreement coefficients with 95 % intervals",
        "; ".join(parts) + ". The table holds all numbers.",
    )
    return Picture(
        svg,
        "Each coefficient as observed and as the fitted model implies it for very many items. "
        "Dotted lines: the customary thresholds .667 and .8.",
    )


def prevalence(fit: Any) -> Picture:
    """Share of each label; of the data of the fit, only the counts of the labels are looked at."""
    svg = plots.inline(
        plots.prevalence(fit),
        "fig-prevalence",
        "Share of each label, as given and corrected",
        "The table of labels holds all numbers.",
    )
    return Picture(
        svg,
        "Diamonds: share among all labels given. Dots: share of the items with 50 % and 95 % "
        "intervals, after the errors of the coders are taken out.",
    )


def coders(found: Known) -> Picture:
    """Accuracy of the coders."""
    table = found.coders.table
    figure = plots.coder_forest(found.coders, most=_MOST_CODERS, target=found.target)
    accuracy = table["accuracy"].to_numpy(dtype=float)
    ends = [
        f"{decimal(float(accuracy[j]))} ({short(table['coder'].iloc[j], 30)})"
        for j in (int(accuracy.argmin()), int(accuracy.argmax()))
    ]
    svg = plots.inline(
        figure,
        "fig-coders",
        "Accuracy of the coders with 50 % and 95 % intervals",
        f"Accuracies go from {ends[0]} to {ends[1]}. The table of coders holds all numbers.",
    )
    some = ""
    if len(table) > _MOST_CODERS:
        some = f" Shown are the {_MOST_CODERS} most notable of {len(table):,} coders."
    return Picture(
        svg,
        "Probability that a label is right, averaged over the labels as frequent as they are. "
        f"Thick: 50 % interval, thin: 95 %. Grey: not enough evidence.{some}",
    )


def _pairs(found: ReportData) -> Picture:
    values, _ = pairwise(found.data)
    known = values[np.isfinite(values)]
    span = f"from {decimal(known.min())} to {decimal(known.max())}" if len(known) else "not defined"
    svg = plots.inline(
        plots.pairwise_heatmap(found.data),
        "fig-pairs",
        "Cohen's kappa of every pair of coders",
        f"Kappas of pairs are {span}.",
    )
    return Picture(
        svg,
        "Cohen's kappa of every pair of coders on their common items; coders who label alike "
        "stand side by side. Blue: above chance, orange: below, empty: not defined.",
    )


def _quadrant(found: ReportData) -> Picture:
    names = ("easy", "hard but settled", "needs more labels", "contested")
    groups = ", ".join(f"{found.in_quadrant(name):,} {name}" for name in names)
    svg = plots.inline(
        plots.quadrant(found.items),
        "fig-quadrant",
        "Items by disagreement of their coders and doubt about their label",
        f"Of {found.data.n_items:,} items: {groups}.",
    )
    return Picture(
        svg,
        "To the right: coders disagree more. Upwards: the label is less sure. Larger marks hold "
        "more items.",
    )


def _simplex(found: ReportData) -> Picture:
    names = ", ".join(short(name, 30) for name in found.data.labels)
    svg = plots.inline(
        plots.simplex(found.items),
        "fig-simplex",
        "Items as points between the three labels",
        f"The corners are {names}. Settled items lie in the corners.",
    )
    return Picture(
        svg, "Probabilities of the three labels: items on an edge lie between two of them."
    )


def _difficulty(found: ReportData) -> Picture:
    table = found.items.table
    top = table["difficulty"].to_numpy(dtype=float)
    svg = plots.inline(
        plots.difficulty(found.items),
        "fig-difficulty",
        "Items by difficulty, with 95 % intervals",
        f"Difficulties go from {decimal(float(top.min()))} to {decimal(float(top.max()))}. The "
        "table of the hardest items holds the numbers.",
    )
    return Picture(
        svg,
        "How much harder than usual an item is, in logits taken off every coder's chance of the "
        "right label; lines are 1.96 posterior standard deviations to either side.",
    )


def _coverage(found: ReportData) -> Picture:
    table = found.coverage.table.set_index("threshold")
    everything: Any = table.loc[0.0]
    sure: Any = table.loc[0.95]
    svg = plots.inline(
        plots.coverage(found.coverage),
        "fig-coverage",
        "Expected accuracy of the gold labels by the share of items that is kept",
        f"With all items the expected accuracy is {decimal(float(everything['accuracy']), 3)}; "
        f"with those of a probability of .95 or more, {percent(float(sure['share']))} of the "
        f"items, it is {decimal(float(sure['accuracy']), 3)}.",
    )
    return Picture(
        svg,
        "Keep only the surest items, and more of their gold labels are right. Points: what the "
        "thresholds .99, .95 and .8 keep. Band: 95 % interval.",
    )


def _predictive(found: ReportData) -> Picture:
    table = found.predictive.table
    off = int((table["verdict"] != "fits").sum())
    svg = plots.inline(
        plots.predictive_votes(found.predictive),
        "fig-predictive",
        "Posterior predictive checks",
        f"{off} of {len(table)} checks are far from what the model expects.",
    )
    return Picture(
        svg,
        "Each mark is what was observed, the band is where the model expects 95 % of data like "
        "these, every row on its own scale.",
    )


def ranks(found: Known) -> Picture:
    """Ranks of the draws of each chain."""
    svg = plots.inline(
        plots.ranks(found.fit),
        "fig-ranks",
        "Rank plots of the chains",
        "When chains agree, all lines stay near one. The table of checks holds the numbers.",
    )
    return Picture(
        svg, "Ranks of the draws, one line per chain: lines in the band mean that chains agree."
    )
