"""Coders: a card with feedback for each, and a table of all."""

from __future__ import annotations

from typing import Any

import numpy as np

from annomodels import plots
from annomodels.data.columns import clean, decimal, percent, short
from annomodels.data.validation import counted
from annomodels.limits import CODER_JUDGED, CODER_ROW
from annomodels.plots.coders import pairwise
from annomodels.plots.style import distinct_names
from annomodels.reporting.facts import Facts
from annomodels.reporting.head import warning
from annomodels.reporting.parts import (
    FIRST_CARDS,
    MOST_CARDS,
    Card,
    Part,
    Section,
    notes,
    pair,
    picture,
    summary,
)
from annomodels.reporting.parts import cards as carded
from annomodels.reporting.words import share_with
from annomodels.types import Floats

_MOST_CODERS = 40
_WIDEST = 8  # most labels in a matrix
_MOST_PAIRED = 24
_ROOM = 26  # characters of the names above the columns of a matrix
_LISTED = 3  # confusions to list if there are too many labels for a matrix
_CONFUSED = 0.05  # proportion of a label's items from which a confusion is reported
WELL = 0.8  # lowest recall and specificity of a label on which a coder does well


MATRIX = (
    "Matrix: rows are the true label, columns the label given, in percent of the row; blue is "
    "right, orange is wrong."
)


@Section.of("coders-section", "Coders", needs=("coders",))
def section(facts: Facts) -> list[Part]:
    rows = facts.coders.table
    title, only = "All coders, most notable first", f"coder kind {_right(rows)} advice n"
    rows_of = facts.coders.seen, "coders.csv", only
    quality = summary("coders", title, facts.coders, *rows_of, paper="flagged")
    lead = "Each card ends with a sentence that you can send."
    lead += f" {MATRIX}" if facts.data.n_labels <= _WIDEST else ""
    first = warning(facts.check)  # already on the first screen
    told = notes([said for said in facts.check.of_coders if not first.endswith(clean(said))])
    return [*told, Part("text", lead, "lead"), *carded(cards(facts)), *quality]


def cards(facts: Facts) -> list[Card]:
    """Return the cards: coders to stop or talk to, or the most notable if these are few."""
    posterior, rows = facts.tree["posterior"], facts.coders.table
    share = np.asarray(posterior["prevalence"].mean(("chain", "draw")).values)
    share = share if share.ndim == 1 else np.full(facts.data.n_labels, 1 / facts.data.n_labels)
    asked = [*facts.flagged.index, *facts.advised("retrain").index]
    order = [*asked, *facts.coders.order[: max(FIRST_CARDS - len(asked), 0)]]
    order = list(dict.fromkeys(order))[:MOST_CARDS]
    draws = posterior["confusion"]
    draws = draws.isel(coder=order) if "coder" in draws.dims else draws
    mean = np.asarray(draws.mean(("chain", "draw")).values, dtype=float)
    mean = np.broadcast_to(mean, (len(order), *mean.shape[-2:]))
    return [_card(rows.loc[j], mean[at], share, facts) for at, j in enumerate(order)]


def _card(row: Any, confusion: Floats, share: Floats, facts: Facts) -> Card:
    names = [short(label, 30) for label in facts.data.labels]
    right = np.diag(confusion)
    weight = share[:, None] * confusion
    np.fill_diagonal(weight, 0.0)
    k, said = np.unravel_index(int(weight.argmax()), weight.shape)
    value, low, high = (row[f"{_right(row)}{end}"] for end in ("", "_low", "_high"))
    about = f"{counted(int(row['n']), 'label')}, {share_with(value, low, high)} right"
    confused = _confused(weight, confusion, names)
    best = _best(confusion, share)
    well = [] if best < 0 else [("Does well", f"{names[best]}, right on {percent(right[best], 0)}")]
    few = CODER_ROW * len(names)
    feedback = _feedback(row, names[int(k)], names[int(said)], confusion[k, said], few)
    return Card(
        short(row["coder"], 40), str(row["kind"]), about,
        (*well, ("Confuses", confused)), feedback, *_matrix(confusion, facts),
    )  # fmt: skip


def _best(confusion: Floats, share: Floats) -> int:
    """Return the label with the highest recall, if recall and specificity are high; else -1."""
    right = np.diag(confusion)
    others = share @ confusion - share * right
    given_else = others / np.maximum(1.0 - share, 1e-9)
    well = (right >= WELL) & (given_else <= 1.0 - WELL)
    return int(np.where(well, right, -1.0).argmax()) if well.any() else -1


def _right(row: Any) -> str:
    """Name the column of the proportion of right labels; streamed data have accuracy only."""
    return "share_right" if "share_right" in row else "accuracy"


def _feedback(row: Any, true: str, said: str, share: float, few: int) -> str:
    """Return one sentence to send to a coder; with fewer labels than `few` none on confusions."""
    n, kind, advice = int(row["n"]), row["kind"], str(row["advice"])
    right = f"About {row[_right(row)] * n:.0f} of your {counted(n, 'label')} are right"
    if advice.startswith("correct"):
        swapped = advice.removeprefix("correct: swaps ")
        pair = f"{true} and {said}" if swapped == "classes" else swapped
        return f"{right}: please check whether you use {pair} the other way round."
    if advice == "stop":
        why = "no more than by guessing" if kind == "spammer" else "fewer than agreed"
        return f"{right}, {why}: please stop, and go through ten items with us."
    if advice == "give test items" and n >= CODER_JUDGED:
        return f"{right}: please label ten test items, so that we can judge better."
    if kind == "not enough evidence" and n < few:
        return f"You gave {counted(n, 'label')}, too few to judge."
    if kind == "biased":
        label = str(row["bias"]).removeprefix("says ").removesuffix(" too often")
        return f"{right}: you choose {short(label, 30)} too often, so use it only if it is clear."
    if share < _CONFUSED:
        return f"{right}: please go on like this."
    return f"{right}: take care with {true}, which you often call {said}."


def _matrix(mean: Floats, facts: Facts) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Return headings and rows of a matrix; columns are numbered if names are long."""
    labels = distinct_names(facts.data.labels, 14)
    if len(labels) > _WIDEST:
        return (), ()
    numbered = sum(map(len, labels)) > _ROOM
    rows = [f"{k} {label}" for k, label in enumerate(labels, 1)] if numbered else labels
    heads = [str(k) for k in range(1, len(labels) + 1)] if numbered else labels
    lines = [(rows[k], tuple(round(100 * float(p)) for p in mean[k])) for k in range(len(rows))]
    return tuple(heads), tuple(lines)


def _confused(weight: Floats, confusion: Floats, names: list[str]) -> str:
    """Name the most frequent confusion, or several if there is no matrix."""
    order = np.argsort(-weight, axis=None, kind="stable")
    most = 1 if len(names) <= _WIDEST else _LISTED
    pairs = [divmod(int(at), len(names)) for at in order[:most]]
    found = [(k, j) for k, j in pairs if confusion[k, j] >= _CONFUSED and weight[k, j] > 0]
    if not found:
        return "nothing often"
    one = "says {1} for {2} of the {0} items" if most == 1 else "{0} called {1}: {2}"
    return "; ".join(one.format(names[k], names[j], percent(confusion[k, j], 0)) for k, j in found)


def pictures(facts: Facts) -> Part:
    n, some = facts.data.n_coders, ""
    if n > _MOST_CODERS:
        some = f" The {_MOST_CODERS} most notable of {n:,} coders are shown."
    made = [
        picture(
            plots.coder_forest(facts.coders, most=_MOST_CODERS, target=facts.target),
            "coders",
            some=some,
        )
    ]
    if 2 < n <= _MOST_PAIRED and facts.health.per_item.most > 1 and facts.has("plot.pairwise"):
        values = pairwise(facts.data)
        known = values[np.isfinite(values)]
        span = f"{decimal(known.min())} to {decimal(known.max())}" if len(known) else "not defined"
        made.append(picture(plots.pairwise_heatmap(facts.data), "pairs", span=span))
    return pair(*made)
