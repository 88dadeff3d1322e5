"""Which items are easy, hard, in need of labels, or contested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels import plots
from annomodels.reporting.facts import Facts
from annomodels.reporting.grid import Table, tabulate
from annomodels.reporting.parts import (
    Part,
    Rows,
    Section,
    box,
    cut,
    drawn,
    notes,
    pair,
    picture,
    table,
)
from annomodels.summaries.columns import COLUMNS, Cell, Column, decimal, short
from annomodels.summaries.columns import columns as columns_of
from annomodels.summaries.draws import SMALLEST
from annomodels.summaries.items.items import quadrant_name

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.fitting.fit import Fit


TEXT = Column("text", "Text", "text", width=140)


_HARDEST = 12
_BLOCK = 1_000_000
ALL_MAJORITIES = (
    "No majority is overturned: every gold label is the label of the majority, or of one side of "
    "a tie."
)
SLIP = (
    "P(coder says this) is the probability that this coder gives this label to this item, given "
    "what all others said. A small number is a slip, a misread item, or a hint that the item is "
    "special."
)

OWN = "p_ambiguous readings p_easy difficulty guess_level second_reading"  # of some models
SUSPICIOUS = columns_of(
    "item coder said",
    Column("gold", "Gold label", "name", width=30),
    COLUMNS["probability"].called("Probability of gold"),
    Column("expected", "P(coder says this)", "chance", digits=3),
)


def section(facts: Facts) -> list[Part]:
    """Give the parts of the section."""
    triangle = _simplex(facts) if facts.data.n_labels == 3 else None
    parts = [
        pair(
            _quadrant(facts),
            *drawn(triangle),
            Part("kinds", groups(facts), "groups wide" if triangle else "groups"),
        ),
        *notes(cut(facts.items.notes[1:])),
    ]
    if "difficulty" in facts.items.table:
        beside = box(*table(hardest(facts)))
        parts.append(pair(_difficulty(facts), beside))
    parts += table(flagged(facts), "No item is contested, and none needs more labels.")
    parts += table(overturned(facts), ALL_MAJORITIES)
    doubtful = table(judgements(facts))
    return parts + doubtful + [Part("text", SLIP, "cut")] * len(doubtful)


def groups(facts: Facts) -> Rows:
    """Give the groups of items: name, how many, and what to do with them."""
    what = {
        "easy": "Coders agree and the label is sure. Nothing to do.",
        "hard but settled": "Coders disagree, yet no more than their errors explain, and the label "
        "is sure. Nothing to do.",
        "needs more labels": "No label is sure. More labels, best from good coders, would settle "
        "it.",
        "contested": "Coders disagree more than their errors explain. More labels would hardly "
        "help: the item may have two readings, or the guideline a gap. If there are only two "
        "classes, it may also just be hard.",
    }
    k = facts.data.n_labels
    return [(quadrant_name(q, k), f"{facts.in_quadrant(q):,}", text) for q, text in what.items()]


def _quadrant(facts: Facts) -> Part:
    return picture(
        plots.quadrant(facts.items),
        "quadrant",
        "Items by disagreement of their coders and doubt about their label",
        facts.items.notes[0],
        "To the right: coders disagree more. Upwards: the label is less sure. Larger marks hold "
        "more items.",
    )


def _simplex(facts: Facts) -> Part:
    names = ", ".join(short(name, 30) for name in facts.data.labels)
    return picture(
        plots.simplex(facts.items),
        "simplex",
        "Items as points between the three labels",
        f"The corners are {names}. Settled items lie in the corners.",
        "Probabilities of the three labels: items on an edge lie between two of them.",
    )


def _difficulty(facts: Facts) -> Part:
    rows = facts.items.table
    top = rows["difficulty"].to_numpy(dtype=float)
    return picture(
        plots.difficulty(facts.items),
        "difficulty",
        "Items by difficulty, with 95 % intervals",
        f"Difficulties go from {decimal(float(top.min()))} to {decimal(float(top.max()))}. The "
        "table of the hardest items holds the numbers.",
        "How much harder than usual an item is, in logits taken off every coder's chance of the "
        "right label; lines are 1.96 posterior standard deviations to either side.",
    )


def flagged(facts: Facts) -> Table:
    """Contested and uncertain items, the least certain first."""
    rows = facts.items.table
    chosen = rows[rows["quadrant"].isin(["contested", "needs more labels"])]
    chosen = chosen.sort_values("entropy", ascending=False, kind="stable")
    texts = facts.data.texts
    text = () if texts is None else (TEXT.called("Text", of=lambda row: texts[row.Index]),)
    columns = columns_of(
        "item", *text, "quadrant label probability", _votes(facts), "entropy reducible surprise",
        OWN, "reason",
    )  # fmt: skip
    title = "Items to read or to label again, the least certain first"
    return tabulate("items", title, columns, chosen, full="items.csv")


def hardest(facts: Facts) -> Table:
    """Items of the largest difficulty, where the model knows difficulties."""
    rows = facts.items.table
    columns = columns_of("item difficulty label probability", _votes(facts), "quadrant")
    chosen = rows.sort_values("difficulty", ascending=False, kind="stable").head(_HARDEST)
    return tabulate("hardest", f"The {len(chosen)} hardest items", columns, chosen)


def overturned(facts: Facts) -> Table:
    """Items whose gold label is not the label of the majority."""
    rows = facts.gold.table
    chosen = rows[rows["overturned"].to_numpy(dtype=bool)]
    chosen = chosen.sort_values("probability", ascending=False, kind="stable")
    columns = columns_of(
        "item majority", COLUMNS["label"].called("Gold label"), "probability", _votes(facts), "why"
    )
    return tabulate("overturned", "Overturned majorities", columns, chosen, full="gold.csv")


def judgements(facts: Facts) -> Table:
    """Single labels that look like a slip."""
    return tabulate(
        "judgements", "Most suspicious single labels", SUSPICIOUS, suspicious(facts.fit)
    )


def _votes(facts: Facts) -> Column:
    """Votes of an item, most first; written so that labels that are numbers stay readable."""

    def cell(r: Any) -> Cell:
        counts = facts.data.votes[r.Index]
        order = [k for k in np.argsort(-counts, kind="stable") if counts[k]]
        parts = [
            f"{counts[k]}\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}{short(facts.data.labels[k], 24)}"
            for k in order[:6]
        ]
        more = f", {len(order) - 6} more" if len(order) > 6 else ""
        return Cell(", ".join(parts) + more)  # as it is: its spaces do not break

    return COLUMNS["votes"].called(kind="text", width=240, of=cell)


def suspicious(fit: Fit, most: int = 40) -> pd.DataFrame:
    r"""Find the labels that were least to be expected from the other labels of their items.

    With the truth's probabilities p and the mean confusion matrix of the coder,

    .. math:: P(y_n \mid y_{-n}) = 1 / \sum_k p_{ik} / confusion_{j,k,y_n},

    the probability that this coder gives this label to this item, given what all others said.
    Only labels that differ from the gold label are listed.
    """
    import pandas as pd

    data = fit.data
    p = np.asarray(fit.tree["truth"]["p_truth"].values, dtype=float)
    confusion = np.asarray(fit.tree["posterior"]["confusion"].mean(("chain", "draw")).values)
    if confusion.ndim == 2:
        confusion = np.broadcast_to(confusion, (data.n_coders, *confusion.shape))
    inverse = 1.0 / np.maximum(confusion, SMALLEST)
    expected = np.empty(len(data))
    for first in range(0, len(data), _BLOCK):
        part = slice(first, first + _BLOCK)
        item, coder, label = data.item[part], data.coder[part], data.label[part]
        expected[part] = 1.0 / np.einsum("nk,nk->n", p[item], inverse[coder, :, label])
    best = p.argmax(axis=1)
    differs = np.flatnonzero(data.label != best[data.item])
    facts = differs[np.argsort(expected[differs], kind="stable")[:most]]
    items = data.item[facts]
    return pd.DataFrame(
        {
            "item": [data.items[i] for i in items],
            "coder": [data.coders[j] for j in data.coder[facts]],
            "said": [data.labels[k] for k in data.label[facts]],
            "gold": [data.labels[k] for k in best[items]],
            "probability": p[items, best[items]],
            "expected": expected[facts],
        }
    )


SECTION = Section(
    "items-section",
    "Items",
    "Which items are easy, which were hard but are settled, which need more labels, and which are "
    "contested whatever one does.",
    section,
    needs=("items",),
)
