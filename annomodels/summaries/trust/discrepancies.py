"""Test statistics that a model should reproduce: votes, spread, agreement, coders."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from annomodels.coefficients.implied import evaluate
from annomodels.coefficients.tables import from_joint
from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.summaries.draws import (
    Draws,
    as_known,
    choices,
    draw_labels,
    per_item,
    state_probabilities,
)
from annomodels.summaries.gold.evidence import runs
from annomodels.types import Floats, Ints

MOST_VOTES = 10  # votes per item up to which each vote count is a cell
EDGES = np.array([0.6, 0.8, 1.0])
MOST_CODERS, MOST_PAIRED = 100, 20
FEWEST_SHARED = 10


class Design:
    """Assignment of coders to items, fixed while labels are replicated."""

    def __init__(self, data: Annotations) -> None:
        self.data = data
        self.n: Ints = np.diff(data.starts)
        self.several = self.n >= 2
        self.has_pairs = bool(self.several.any())
        self.by_votes = (
            data.n_labels == 2 and bool((self.n == self.n[0]).all()) and self.n[0] <= MOST_VOTES
        )

    @cached_property
    def _cell(self) -> Ints:
        """Offset of each label's item in the flat vote counts."""
        return self.data.item.astype(np.int64) * self.data.n_labels

    def votes(self, label: Ints) -> Ints:
        """Count the votes of each item, shape [item, label]."""
        size = self.data.n_items * self.data.n_labels
        return np.bincount(self._cell + label, minlength=size).reshape(-1, self.data.n_labels)

    @property
    def cell_names(self) -> list[str]:
        if self.by_votes:
            name, n = label_text(self.data.labels[1]), self.n[0]
            return [f"items with {v} of {n} labels {name}" for v in range(n + 1)]
        return [
            "items with less than 60 % for the first label",
            "items with 60 to 79 % for the first label",
            "items with 80 to 99 % for the first label",
            "items with all labels the same",
        ]

    def cells(self, votes: Ints) -> Floats:
        """Count items by their votes, or by the share of their most frequent label."""
        if self.by_votes:
            return np.bincount(votes[:, 1], minlength=self.n[0] + 1).astype(float)
        share = votes[self.several].max(axis=1) / self.n[self.several]
        where = np.searchsorted(EDGES, share + 1e-9, side="right")
        return np.bincount(where, minlength=len(EDGES) + 1).astype(float)

    def spread(self, votes: Ints) -> float:
        """Compute half the variance of label shares over items, summed over labels."""
        share = votes[self.several] / self.n[self.several, None]
        return float(share.var(axis=0).sum() / 2)

    def agreement(self, votes: Ints) -> float:
        """Compute the proportion of agreeing label pairs within items."""
        pairs = (self.n * (self.n - 1)).sum()
        return float((votes * (votes - 1)).sum() / pairs)

    def alpha(self, votes: Ints) -> float:
        """Compute Krippendorff's nominal alpha of the votes; NaN if undefined."""
        shared, r = votes[self.several].astype(float), self.n[self.several]
        weighted = shared / (r - 1)[:, None]
        joint = weighted.T @ shared - np.diag(weighted.sum(axis=0))
        return float(evaluate("alpha", from_joint(joint, n=r.sum())).value)

    # -- coders ---------------------------------------------------------------------------------

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(-self.data.per_coder, kind="stable")

    @cached_property
    def busiest(self) -> Ints:
        return self._order[:MOST_CODERS]

    def uses(self, label: Ints) -> Floats:
        """Compute the label distribution of the busiest coders, shape [coder, label]."""
        data = self.data
        size = data.n_coders * data.n_labels
        flat = np.bincount(data.coder.astype(np.int64) * data.n_labels + label, minlength=size)
        counts = flat.reshape(-1, data.n_labels)[self.busiest]
        return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)

    @cached_property
    def _paired(self) -> tuple[Ints, Ints, Ints]:
        data = self.data
        place = np.full(data.n_coders, -1)
        chosen = self._order[:MOST_PAIRED]
        place[chosen] = np.arange(len(chosen))
        rows = np.flatnonzero((place[data.coder] >= 0) & runs(data))
        _, item = np.unique(data.item[rows], return_inverse=True)
        return rows, item, place[data.coder[rows]]

    @cached_property
    def pairs(self) -> tuple[Ints, Ints, Floats]:
        """Pairs of coders with enough common items: places of both, number of common items."""
        _, item, place = self._paired
        seen = np.zeros((item.max(initial=-1) + 1, min(MOST_PAIRED, self.data.n_coders)))
        seen[item, place] = 1
        shared = seen.T @ seen
        one, two = np.nonzero(np.triu(shared >= FEWEST_SHARED, 1))
        return one, two, shared[one, two]

    def pair_agreement(self, label: Ints) -> Floats:
        """Compute the proportion of common items with equal labels for each pair, shape [pair]."""
        rows, item, place = self._paired
        one, two, shared = self.pairs
        agree = np.zeros(len(one))
        if not len(one):
            return agree
        said = label[rows]
        hot = np.zeros((item.max() + 1, min(MOST_PAIRED, self.data.n_coders)), dtype=np.float32)
        for k in range(self.data.n_labels):
            hot[item, place] = said == k
            agree += (hot.T @ hot)[one, two]
        return agree / shared

    def pair_names(self) -> list[str]:
        names = [str(self.data.coders[j]) for j in self._order[:MOST_PAIRED]]
        one, two, _ = self.pairs
        return [f"{names[a]} and {names[b]}" for a, b in zip(one, two, strict=True)]


def error_dispersion(
    draws: Draws, data: Annotations, rng: np.random.Generator, repeats: int = 1
) -> tuple[Floats, Floats]:
    """Compare the dispersion of errors over items with replicates, [repeats * sample]."""
    # D = sum_i (e_i - m_i)^2 / sum_n a_n (1 - a_n), where e_i are errors and m_i expected errors
    # given a drawn truth. D is about 1 if errors are independent given the truth. Realized
    # discrepancies: Gelman, Meng & Stern 1996.
    observed: list[float] = []
    replicated: list[float] = []
    for _ in range(repeats):
        for step, p in state_probabilities(draws, data):
            emission = draws.emission[step]
            state = choices(p, rng.random(data.n_items))
            given = as_known(draws.truth(step)[state], data)
            truth = choices(given, rng.random(data.n_items))[data.item]
            label = draw_labels(emission, data.coder, state[data.item], rng)
            right = emission[data.coder, state[data.item], truth]
            variance = max(float((right * (1 - right)).sum()), 1e-12)
            for found, said in ((observed, data.label), (replicated, label)):
                excess = per_item((said != truth) - (1 - right), data.starts)
                found.append(float((excess**2).sum()) / variance)
    return np.array(observed), np.array(replicated)
