"""Four kinds of items, and one sentence for each item that is not easy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.summaries.draws import per_item
from annomodels.summaries.items.contested import listed
from annomodels.types import Floats, Ints

QUADRANTS = ("easy", "hard but settled", "needs more labels", "contested")
SETTLED = 0.95
DISSENT = 0.25
# labels below which items with two readings were not told from others on made-up crowds, and the
# fewest of them that differ from the rest
FEWEST, APART = 8, 2
CARELESS = 0.1  # accuracy by which dissenting coders must be worse to be called less reliable


@dataclass(frozen=True, eq=False)
class ItemFacts:
    """What quadrant and reason are made from.

    Parameters
    ----------
    data
        The labels.
    best
        Most probable truth, shape [item].
    probability
        Its probability, shape [item].
    contested
        P(contested), shape [item], see
        :func:`~annomodels.summaries.items.contested.contested`.
    accuracy, bits
        Posterior means for each coder, shape [coder].
    ambiguous
        P(ambiguous) of models that know ambiguous items, shape [item].
    readings
        The readings of each item in words, where a model knows several.
    """

    data: Annotations
    best: Ints
    probability: Floats
    contested: Floats
    accuracy: Floats
    bits: Floats
    ambiguous: Floats | None = None
    readings: Sequence[str] = ()


def quadrants(facts: ItemFacts) -> list[str]:
    """Sort items into quadrants by the rules at :func:`annomodels.summaries.items.items.items`."""
    votes = facts.data.votes
    n = votes.sum(axis=1)
    agreeing = votes[np.arange(len(n)), facts.best]
    known = np.zeros(len(n), bool) if facts.data.gold is None else facts.data.gold >= 0
    hard = (n - agreeing >= DISSENT * n) & (n >= 2)
    split = (n >= FEWEST) & (n - votes.max(axis=1) >= APART)
    contested = listed(facts.contested, split)
    if facts.ambiguous is not None:
        contested = facts.ambiguous > 0.5
    rules = [
        contested,
        ~known & (facts.probability < SETTLED),
        hard,
    ]
    words = ["contested", "needs more labels", "hard but settled"]
    return [str(word) for word in np.select(rules, words, default="easy")]


def reasons(facts: ItemFacts, where: list[str]) -> list[str]:
    """One sentence for each item that is not easy, with the numbers behind it."""
    data, accuracy = facts.data, facts.accuracy
    names = [label_text(name) for name in data.labels]
    n = np.diff(data.starts)
    dissents = data.label != facts.best[data.item]
    against = per_item(dissents.astype(float), data.starts)
    of_coder = accuracy[data.coder]
    acc_all = _ratio(per_item(of_coder, data.starts), n)
    acc_against = _ratio(per_item(of_coder * dissents, data.starts), against)
    acc_for = _ratio(per_item(of_coder * ~dissents, data.starts), n - against)
    bits = _ratio(per_item(facts.bits[data.coder], data.starts), n)
    known = np.zeros(len(n), bool) if data.gold is None else data.gold >= 0
    out = [""] * data.n_items
    for i, word in enumerate(where):
        label, p, dissent = names[facts.best[i]], facts.probability[i], int(against[i])
        if word == "contested" and facts.ambiguous is not None:
            read = f", read as {facts.readings[i]}" if facts.readings else ""
            out[i] = (
                f"It is ambiguous with probability {facts.ambiguous[i]:.2f}{read}: {dissent} of "
                f"{n[i]} labels are not {label!r}, from coders who are right {acc_all[i]:.0%} of "
                "the time."
            )
        elif word == "contested":
            out[i] = (
                f"{dissent} of {n[i]} labels are not {label!r}, although these coders are right "
                f"{acc_all[i]:.0%} of the time; with probability {facts.contested[i]:.2f} that is "
                "more than their errors. It may have two readings."
            )
        elif word == "needs more labels":
            out[i] = _needs_more(label, p, int(n[i]), dissent, bits[i])
        elif word == "hard but settled":
            sure = "is known" if known[i] else f"has probability {_sure(p)}"
            start = f"{dissent} of {n[i]} labels are not {label!r}, which {sure}"
            if acc_for[i] - acc_against[i] > CARELESS:
                out[i] = (
                    f"{start}; they come from less reliable coders "
                    f"({acc_against[i]:.0%} right against {acc_for[i]:.0%})."
                )
            else:
                out[i] = f"{start}; the coders differ no more than their errors explain."
    return out


def _needs_more(label: str, p: float, n: int, dissent: int, bits: float) -> str:
    if n == 0:
        return "It has no label."
    many = "1 label" if n == 1 else f"{n} labels"
    weak = f"{many} of {bits:.2f} bits each on average"
    if dissent == 0:
        return f"{weak} make {label!r} only {p:.2f} probable, though all agree."
    return f"{weak}, {dissent} of them not {label!r}, leave it at probability {p:.2f}."


def _sure(p: float) -> str:
    return "above .999" if p > 0.999 else f"{p:.3f}"


def _ratio(total: Floats, count: NDArray[np.number]) -> Floats:
    out: Floats = np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)
    return out
