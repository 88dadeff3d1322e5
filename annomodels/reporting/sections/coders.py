"""Coders: a card for each, with what to tell them, and a table of all."""

from __future__ import annotations

from typing import Any

import numpy as np

from annomodels import plots
from annomodels.data.columns import COLUMNS, decimal, percent, short
from annomodels.data.columns import columns as columns_of
from annomodels.data.validation import counted
from annomodels.plots.coders import notable, pairwise
from annomodels.plots.style import distinct_names
from annomodels.reporting.facts import Facts
from annomodels.reporting.grid import Table, tabulate
from annomodels.reporting.parts import MOST_CARDS, Card, Part, Section, picture, table
from annomodels.reporting.parts import cards as carded
from annomodels.types import Floats

_MOST_CODERS = 40
_WIDEST = 8
_MOST_PAIRED = 24
_REST = "others"
_CONFUSED = 0.05  # share of a label's items from which a confusion is named


def section(facts: Facts) -> list[Part]:
    """Return the parts of the section."""
    return [*carded(cards(facts)), *table(quality(facts))]


def cards(facts: Facts) -> list[Card]:
    """Return the cards, coders to stop or talk to first."""
    draws = facts.tree["posterior"]["confusion"]
    rows = facts.coders.table
    share = np.asarray(facts.tree["posterior"]["prevalence"].mean(("chain", "draw")).values)
    share = share if share.ndim == 1 else np.full(facts.data.n_labels, 1 / facts.data.n_labels)
    order = [*facts.flagged.index, *facts.to_train.index]
    order += [j for j in notable(rows) if j not in order]
    order = order[:MOST_CARDS]
    if "coder" not in draws.dims:
        shared = np.asarray(draws.mean(("chain", "draw")).values, dtype=float)
        mean = np.broadcast_to(shared, (len(order), *shared.shape))
    else:
        mean = np.asarray(draws.isel(coder=order).mean(("chain", "draw")).values, dtype=float)
    return [_card(rows.loc[j], mean[at], share, facts) for at, j in enumerate(order)]


def _card(row: Any, confusion: Floats, share: Floats, facts: Facts) -> Card:
    names = [short(label, 30) for label in facts.data.labels]
    right = np.diag(confusion)
    weight = share[:, None] * confusion
    np.fill_diagonal(weight, 0.0)
    k, said = np.unravel_index(int(weight.argmax()), weight.shape)
    best = int(right.argmax())
    right_of = _right(row)
    ends = f"{percent(row[f'{right_of}_low'])} to {percent(row[f'{right_of}_high'])}"
    about = f"{counted(int(row['n']), 'label')}, {percent(row[right_of])} right"
    about += f" ({ends})" if np.isfinite(row[f"{right_of}_low"]) else ""
    confused = (
        f"says {names[said]} for {percent(confusion[k, said])} of the {names[k]} items"
        if confusion[k, said] >= _CONFUSED
        else "nothing often"
    )
    well = f"{names[best]}, right on {percent(right[best])}"
    feedback = _feedback(row, names[int(k)], names[int(said)], confusion[k, said])
    return Card(
        short(row["coder"], 40), str(row["kind"]), about,
        (("Does well", well), ("Confuses", confused)), feedback, *_matrix(confusion, facts),
    )  # fmt: skip


def _right(row: Any) -> str:
    """Name the column with the share of the labels given that are right; a scan has none."""
    return "share_right" if "share_right" in row else "accuracy"


def _feedback(row: Any, true: str, said: str, share: float) -> str:
    """Return one sentence to send to a coder."""
    n, kind = int(row["n"]), row["kind"]
    right = f"About {row[_right(row)] * n:.0f} of your {counted(n, 'label')} are right"
    if kind == "spammer":
        return f"{right}, no more than by guessing: please stop, and go through ten items with us."
    if kind == "adversary":
        return f"{right}: please check whether you use {true} and {said} the other way round."
    if kind == "not enough evidence":
        return f"{counted(n, 'label')} of yours {'is' if n == 1 else 'are'} too few to judge."
    if kind == "biased":
        label = str(row["bias"]).removeprefix("says ").removesuffix(" too often")
        return f"{right}: you choose {short(label, 30)} too often, so use it only if it is clear."
    if share < _CONFUSED:
        return f"{right}: please go on like this."
    return f"{right}: take care with {true}, which you often call {said}."


def _matrix(mean: Floats, facts: Facts) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    labels = distinct_names(facts.data.labels, 14)
    shown = np.arange(len(labels))
    if len(labels) > _WIDEST:
        often = np.argsort(-np.array(facts.counts.label_counts), kind="stable")
        shown = np.sort(often[: _WIDEST - 1])
    lines = []
    for k in shown:
        row = [round(100 * float(mean[k, said])) for said in shown]
        if len(shown) < len(labels):
            row.append(round(100 * float(1 - mean[k, shown].sum())))
        lines.append((labels[k], tuple(row)))
    names = [labels[k] for k in shown] + ([_REST] if len(shown) < len(labels) else [])
    return tuple(names), tuple(lines)


def quality(facts: Facts) -> Table:
    """Coders, the most notable first."""
    rows = facts.coders.table
    right = COLUMNS["share_right"].called("Share right", bar=True)
    right = right if "share_right" in rows else COLUMNS["accuracy"]
    columns = columns_of("coder kind n", right, "skill bits advice")
    title = "All coders, the most notable first"
    return tabulate("coders", title, columns, rows.iloc[notable(rows)], full="coders.csv")


def pictures(facts: Facts) -> list[Part]:
    """Draw accuracies, and the agreement of every pair of coders."""
    rows = facts.coders.table
    some = ""
    if len(rows) > _MOST_CODERS:
        some = f" The {_MOST_CODERS} most notable of {len(rows):,} coders."
    made = [
        picture(
            plots.coder_forest(facts.coders, most=_MOST_CODERS, target=facts.target),
            "coders",
            "Accuracy of the coders with 50 % and 95 % intervals",
            "The table of coders holds all numbers.",
            f"Thick: 50 % interval. Thin: 95 %. Grey: not enough evidence.{some}",
        )
    ]
    few = 2 < facts.data.n_coders <= _MOST_PAIRED and facts.counts.per_item.most > 1
    if few and facts.has("plot.pairwise"):
        values, _ = pairwise(facts.data)
        known = values[np.isfinite(values)]
        span = f"{decimal(known.min())} to {decimal(known.max())}" if len(known) else "not defined"
        made.append(
            picture(
                plots.pairwise_heatmap(facts.data),
                "pairs",
                "Cohen's kappa of every pair of coders",
                f"Kappas of pairs: {span}.",
                "Kappa on common items. Blue: above chance. Orange: below. Empty: not defined.",
            )
        )
    return [Part("pair", made)]


SECTION = Section(
    "coders-section",
    "Coders",
    "Each card ends with a sentence that you can send. Matrix: rows are the true label, columns "
    "the label given, in percent of the row; blue is right, orange is wrong.",
    section,
    needs=("coders",),
)
