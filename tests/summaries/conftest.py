"""Made-up labels and a small NumPy Gibbs sampler, independent of the package's engines."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult, conform
from annomodels.models.catalog import MODELS
from annomodels.models.dawid_skene import DawidSkene

MODEL = DawidSkene()


class World(NamedTuple):
    data: Annotations
    truth: np.ndarray
    prevalence: np.ndarray
    confusion: np.ndarray


def matrix(accuracy: float, n_labels: int) -> np.ndarray:
    out = np.full((n_labels, n_labels), (1 - accuracy) / (n_labels - 1))
    np.fill_diagonal(out, accuracy)
    return out


def annotate(rng, truth, confusion, per_item) -> Annotations:
    """Labels of `per_item` coders chosen at random for each item."""
    n_coders, n_labels = confusion.shape[0], confusion.shape[2]
    item = np.repeat(np.arange(len(truth)), per_item)
    coder = np.concatenate([rng.permutation(n_coders)[:per_item] for _ in truth])
    rows = confusion[coder, truth[item]]
    label = (rng.random(len(item))[:, None] > rows.cumsum(1)[:, :-1]).sum(1)
    return coded(item, coder, label, len(truth), n_coders, n_labels)


def coded(item, coder, label, n_items, n_coders, n_labels, gold=None) -> Annotations:
    """Codes as data whose names keep the order of the codes."""
    order = np.lexsort((coder, item))
    return Annotations(
        item=item[order],
        coder=coder[order],
        label=label[order],
        items=tuple(f"i{i}" for i in range(n_items)),
        coders=tuple(f"c{j}" for j in range(n_coders)),
        labels=tuple("abcdefgh"[:n_labels]),
        declared=True,
        gold=gold,
    )


def make_world(
    seed=0, n_items=300, n_coders=12, n_labels=2, per_item=5, accuracy=0.8, prevalence=None
) -> World:
    rng = np.random.default_rng(seed)
    pi = np.full(n_labels, 1 / n_labels) if prevalence is None else np.asarray(prevalence)
    levels = np.broadcast_to(accuracy, (n_coders,))
    confusion = np.array([matrix(level, n_labels) for level in levels])
    truth = rng.choice(n_labels, n_items, p=pi)
    return World(annotate(rng, truth, confusion, per_item), truth, pi, confusion)


def run_gibbs(data: Annotations, seed=1, chains=2, draws=300, warmup=100, **attrs: Any):
    """Dawid-Skene with prevalence ~ Dir(1) and rows ~ Dir(4, diagonal .7); starts at the vote."""
    rng = np.random.default_rng(seed)
    n_i, n_j, n_k = data.n_items, data.n_coders, data.n_labels
    known = None if data.gold is None else np.flatnonzero(data.gold >= 0)
    prior = np.full((n_k, n_k), 4 * 0.3 / (n_k - 1))
    np.fill_diagonal(prior, 4 * 0.7)
    prevalence = np.empty((chains, draws, n_k))
    confusion = np.empty((chains, draws, n_j, n_k, n_k))
    p_truth = np.zeros((chains, n_i, n_k))
    entropy = np.zeros(n_i)
    for chain in range(chains):
        p = (data.votes + 0.1) / (data.votes + 0.1).sum(1, keepdims=True)
        for step in range(warmup + draws):
            if known is not None:
                p[known] = np.eye(n_k)[data.gold[known]]
            truth = (rng.random(n_i)[:, None] > p.cumsum(1)[:, :-1]).sum(1)
            pi = rng.dirichlet(1 + np.bincount(truth, minlength=n_k))
            flat = (data.coder * n_k + truth[data.item]) * n_k + data.label
            counts = np.bincount(flat, minlength=n_j * n_k * n_k).reshape(n_j, n_k, n_k)
            theta = rng.gamma(counts + prior)
            theta /= theta.sum(2, keepdims=True)
            log = np.log(theta)[data.coder, :, data.label]
            logp = np.stack([np.bincount(data.item, log[:, k], n_i) for k in range(n_k)], 1)
            logp += np.log(pi)
            p = np.exp(logp - logp.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            if step >= warmup:
                prevalence[chain, step - warmup], confusion[chain, step - warmup] = pi, theta
                kept = p.copy()
                if known is not None:
                    kept[known] = np.eye(n_k)[data.gold[known]]
                p_truth[chain] += kept / draws
                entropy -= (kept * np.log(np.maximum(kept, 1e-300))).sum(1) / (draws * chains)
    raw = RawResult(
        posterior={"prevalence": prevalence, "confusion": confusion},
        lp=rng.normal(size=(chains, draws)),
        p_truth=p_truth.mean(0),
        p_truth_mcse=np.full((n_i, n_k), 0.001),
        conditional_entropy=entropy,
        attrs={"engine": "gibbs", "chains": chains, "draws": draws, "stopped": "", **attrs},
    )
    return conform(raw, data, MODEL)


def exact_tree(data: Annotations, prevalence, confusion, engine="gibbs", copies=4):
    """Make a tree whose draws are all the given parameters; one draw for the engine ``em``."""
    pi, theta = np.asarray(prevalence, float), np.asarray(confusion, float)
    with np.errstate(divide="ignore"):
        of_coder = theta if theta.ndim == 3 else np.stack([theta] * data.n_coders)
        log = np.log(of_coder)[data.coder, :, data.label]
        logp = np.stack(
            [np.bincount(data.item, log[:, k], data.n_items) for k in range(len(pi))], 1
        )
        logp += np.log(pi)
    p = np.exp(logp - logp.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    if data.gold is not None:
        known = np.flatnonzero(data.gold >= 0)
        p[known] = np.eye(len(pi))[data.gold[known]]
    shape = (1, 1) if engine == "em" else (2, copies // 2)
    mcse = np.full_like(p, np.nan if engine == "em" else 0.0)
    raw = RawResult(
        posterior={
            "prevalence": np.broadcast_to(pi, (*shape, *pi.shape)).copy(),
            "confusion": np.broadcast_to(theta, (*shape, *theta.shape)).copy(),
        },
        lp=np.zeros(shape),
        p_truth=p,
        p_truth_mcse=mcse,
        conditional_entropy=-(p * np.log(np.maximum(p, 1e-300))).sum(1),
        attrs={"engine": engine, "stopped": ""},
    )
    return conform(raw, data, MODEL if theta.ndim == 3 else MODELS["pooled"]())


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    makers = {"world": make_world, "gibbs": run_gibbs, "exact": exact_tree}
    return SimpleNamespace(**makers, annotate=annotate, coded=coded, matrix=matrix)


@pytest.fixture(scope="session")
def crowd(make):
    """Twelve coders, one adversary and two spammers (one always says "b") among them; a fit."""
    accuracy = np.array([0.9, 0.85, 0.8, 0.85, 0.75, 0.9, 0.8, 0.85, 0.8, 0.5, 0.5, 0.1])
    base = make.world(n_items=400, n_coders=12, per_item=6)
    rng = np.random.default_rng(3)
    confusion = np.array([make.matrix(a, 2) for a in accuracy])
    confusion[10] = [[0.03, 0.97], [0.03, 0.97]]
    world = base._replace(data=make.annotate(rng, base.truth, confusion, 6), confusion=confusion)
    return world, make.gibbs(world.data)
