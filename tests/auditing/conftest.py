"""Fits whose P(truth) is whatever a test says, without any sampling; and real ones, small."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import annomodels as am
from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult, conform
from annomodels.models.dawid_skene import DawidSkene


def made_fit(p_truth, votes=None, gold=None, names=None, labels=None, texts=None) -> Any:
    """Make a fit with this P(truth) out of votes, shape [item, coder], -1 where there is none."""
    p = np.asarray(p_truth, dtype=float)
    n, k = p.shape
    votes = np.repeat(p.argmax(axis=1)[:, None], 3, axis=1) if votes is None else votes
    item, coder = np.nonzero(votes >= 0)
    data = Annotations(
        item=item,
        coder=coder,
        label=votes[item, coder],
        items=tuple(f"i{i:04d}" for i in range(n)) if names is None else names,
        coders=tuple(f"c{j}" for j in range(votes.shape[1])),
        labels=tuple(f"k{x:02d}" for x in range(k)) if labels is None else labels,
        declared=True,
        gold=gold,
        texts=texts,
    )
    rng = np.random.default_rng(0)
    shape = (2, 5)
    rows = np.full((k, k), 0.2 / max(k - 1, 1))
    np.fill_diagonal(rows, 0.8 if k > 1 else 1.0)
    raw = RawResult(
        posterior={
            "prevalence": rng.dirichlet(1.0 + 50 * p.mean(axis=0), shape),
            "confusion": np.broadcast_to(rows, (*shape, votes.shape[1], k, k)).copy(),
        },
        lp=np.zeros(shape),
        p_truth=p,
        p_truth_mcse=np.zeros_like(p),
        conditional_entropy=np.zeros(n),
        attrs={"engine": "gibbs", "stopped": "", "seed": 1},
    )
    return am.Fit(data, DawidSkene(), conform(raw, data, DawidSkene()))


class World(NamedTuple):
    """A fit and what is true of it."""

    fit: Any
    truth: Any

    def answers(self, items) -> dict[Any, Any]:
        place = {name: n for n, name in enumerate(self.fit.data.items)}
        return {name: self.fit.data.labels[self.truth[place[name]]] for name in items}

    @property
    def wrong(self) -> int:
        p = self.fit.tree["truth"]["p_truth"].values
        return int((p.argmax(axis=1) != self.truth).sum())


def made_world(n=400, k=2, seed=1, sharp=1.0, n_coders=4, gold=0, lean=0.0) -> World:
    """P(truth) of a model whose log-odds are `sharp` times the right ones, and three votes each."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (n, k))
    right = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    truth = (rng.random(n)[:, None] > right.cumsum(axis=1)[:, :-1]).sum(axis=1)
    said = np.exp(sharp * logits + lean * np.eye(k)[0])
    said /= said.sum(axis=1, keepdims=True)
    votes = np.where(rng.random((n, n_coders)) < 0.75, truth[:, None], rng.integers(k, size=(n, 1)))
    votes[rng.random(votes.shape) < 0.2] = -1
    votes[:, 0] = np.where(votes.max(axis=1) < 0, truth, votes[:, 0])
    known = None
    if gold:
        known = np.full(n, -1)
        known[rng.choice(n, gold, replace=False)] = 0
        known = np.where(known == 0, truth, -1)
        said[known >= 0] = np.eye(k)[known[known >= 0]]
    return World(made_fit(said, votes, known), truth)


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    return SimpleNamespace(fit=made_fit, world=made_world)


@pytest.fixture(scope="session")
def world() -> World:
    """400 items with two labels, whose P(truth) is right."""
    return made_world()
