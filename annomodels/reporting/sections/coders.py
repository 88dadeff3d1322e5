"""How good each coder is, and what kind of errors each makes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from annomodels import plots
from annomodels.plots.coders import notable, pairwise
from annomodels.plots.style import told_apart
from annomodels.reporting.facts import Facts
from annomodels.reporting.grid import Table, tabulate
from annomodels.reporting.parts import Part, Section, box, cut, drawn, notes, pair, picture, table
from annomodels.summaries.columns import Column, decimal, short
from annomodels.types import Floats

_MOST_CODERS = 40
_MOST_PAIRED = 24
_MOST = 8
_WIDEST = 8
_REST = "others"
_FEW_LABELS = 5


@dataclass(frozen=True)
class Matrix:
    """Mean confusion matrix of a coder."""

    coder: str
    kind: str
    n: int
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]


def section(facts: Facts) -> list[Part]:
    """Give the parts of the section."""
    shown, said = matrices(facts)
    between = _pairs(facts) if facts.has("plot.pairwise") and _few_coders(facts) else None
    reading = (
        f"{said} Rows are the truth, columns the label given, numbers percent of the row. Blue: "
        "right, orange: wrong."
    )
    beside = box(
        *drawn(between),
        Part("heading", "Confusion matrices"),
        Part("text", reading, "cut"),
        Part("matrices", shown),
    )
    audited = "These are numbers of the model; what the audit says of the coders is in “Audit”."
    return [
        pair(forest(facts), beside),
        *notes([*([audited] if facts.estimate is not None else []), *cut(facts.coders.notes)]),
        *table(quality(facts)),
    ]


def _few_coders(facts: Facts) -> bool:
    several = facts.counts.per_item.most > 1
    return 2 < facts.data.n_coders <= _MOST_PAIRED and several


def forest(facts: Facts) -> Part:
    """Accuracy of the coders."""
    rows = facts.coders.table
    figure = plots.coder_forest(facts.coders, most=_MOST_CODERS, target=facts.target)
    accuracy = rows["accuracy"].to_numpy(dtype=float)
    ends = [
        f"{decimal(float(accuracy[j]))} ({short(rows['coder'].iloc[j], 30)})"
        for j in (int(accuracy.argmin()), int(accuracy.argmax()))
    ]
    some = ""
    if len(rows) > _MOST_CODERS:
        some = f" Shown are the {_MOST_CODERS} most notable of {len(rows):,} coders."
    return picture(
        figure,
        "coders",
        "Accuracy of the coders with 50 % and 95 % intervals",
        f"Accuracies go from {ends[0]} to {ends[1]}. The table of coders holds all numbers.",
        "Probability that a label is right, averaged over the labels as frequent as they are. "
        f"Thick: 50 % interval, thin: 95 %. Grey: not enough evidence.{some}",
    )


def _pairs(facts: Facts) -> Part:
    values, _ = pairwise(facts.data)
    known = values[np.isfinite(values)]
    span = f"from {decimal(known.min())} to {decimal(known.max())}" if len(known) else "not defined"
    return picture(
        plots.pairwise_heatmap(facts.data),
        "pairs",
        "Cohen's kappa of every pair of coders",
        f"Kappas of pairs are {span}.",
        "Cohen's kappa of every pair of coders on their common items; coders who label alike "
        "stand side by side. Blue: above chance, orange: below, empty: not defined.",
    )


def matrices(facts: Facts) -> tuple[list[Matrix], str]:
    """Matrices of the flagged coders, or else of the most notable ones; and whose they are."""
    draws = facts.tree["posterior"]["confusion"]
    rows = facts.coders.table
    if "coder" not in draws.dims:
        shared = np.asarray(draws.mean(("chain", "draw")).values, dtype=float)
        one = _matrix("all coders", "", int(rows["n"].sum()), shared, facts)
        return [one], "The pooled model gives all coders the same matrix."
    chosen = facts.flagged.index.to_numpy()[:_MOST]
    said = f"{len(chosen)} of {len(facts.flagged)} flagged coders."
    if len(chosen) == len(facts.flagged):
        said = "The flagged coders."
    if not len(chosen):
        chosen = notable(rows, 4)
        said = "No coder is flagged; these have the lowest skill."
    mean = np.asarray(draws.isel(coder=chosen).mean(("chain", "draw")).values, dtype=float)
    return [
        _matrix(rows["coder"][j], rows["kind"][j], int(rows["n"][j]), mean[at], facts)
        for at, j in enumerate(chosen)
    ], said


def _at(values: Floats, k: int, row: Any) -> float:
    return float(values[row.Index, k])


def _matrix(coder: object, kind: str, n: int, mean: Floats, facts: Facts) -> Matrix:
    labels = told_apart(facts.data.labels, 14)
    shown = np.arange(len(labels))
    if len(labels) > _WIDEST:
        shown = np.sort(
            np.argsort(-np.array(facts.counts.label_counts), kind="stable")[: _WIDEST - 1]
        )
    lines = []
    for k in shown:
        row = [round(100 * float(mean[k, said])) for said in shown]
        if len(shown) < len(labels):
            row.append(round(100 * float(1 - mean[k, shown].sum())))
        lines.append((labels[k], tuple(row)))
    names = [labels[k] for k in shown] + ([_REST] if len(shown) < len(labels) else [])
    return Matrix(short(coder, 40), kind, n, tuple(names), tuple(lines))


def quality(facts: Facts) -> Table:
    """Coders, the most notable first."""
    rows = facts.coders.table
    names = [c for c in rows if str(c).startswith("sensitivity_")]
    each = len(names) <= _FEW_LABELS
    columns = [*facts.coders.columns]
    plain = [str(c).removeprefix("sensitivity_") for c in names]
    right = rows[names].to_numpy(dtype=float)

    def weakest(r: Any) -> str:
        worst = int(np.argmin(right[r.Index]))
        return f"{short(plain[worst], 30)} ({right[r.Index, worst]:.2f})"

    if each:
        columns += [
            Column(
                f"sensitivity_{short(label, 60)}", f"Right on {short(label, 16)}", "chance",
                of=partial(_at, right, k),
            )
            for k, label in enumerate(plain)
        ]  # fmt: skip
    else:
        columns.append(Column("weakest", "Weakest label", "text", of=weakest))
    order = notable(rows)
    title = "Coders, the most notable first"
    return tabulate("coders", title, columns, rows.iloc[order], full="coders.csv")


SECTION = Section(
    "coders-section",
    "Coders",
    "How good each coder is against the inferred truth, what kind of errors each makes, and how "
    "sure that is.",
    section,
    needs=("coders",),
    parts=(("plot.pairwise", "Agreement of every pair of coders"),),
)
