"""Simulation-based calibration of every model that Gibbs serves (Talts et al. 2018).

    python benchmarks/calibration.py [--reduced] [--replications 1000] [--models pooled]

Parameters are drawn from the prior, labels from the parameters, and the model is fitted to the
labels. If prior, simulator and sampler belong together, the rank of a true value among its
posterior draws is uniform. https://arxiv.org/abs/1804.06788
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import common
import numpy as np
from numpy.typing import NDArray
from scipy.stats import chisquare

import annomodels as am
from annomodels.models import resolve
from annomodels.models.base import State
from annomodels.models.confusion import ConfusionModel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ITEMS, CODERS, PER_ITEM, KNOWN = 30, 6, 4, 8
RANKS, WARMUP = 99, 500
ITEM = 0
# every how many iterations a draw is kept; the population of the coders mixes more slowly
THIN = {
    "pooled": 20,
    "dawid-skene": 20,
    "hierarchical": 50,
    "one-coin": 20,
    "class-conditional": 20,
    "mace": 30,
    "groups": 60,
}
MODELS = tuple(THIN)
SIMPLEX = ("prevalence", "confusion", "population", "group_population", "guess")


@dataclass(frozen=True)
class Case:
    """A model and a number of labels; `source` draws the parameters where it is another model."""

    model: ConfusionModel
    n_labels: int
    source: ConfusionModel | None = None


def believed(name: str) -> ConfusionModel:
    """Give the model of a name; where coders belong to groups, with two of them."""
    model = resolve(name)
    if isinstance(model, am.models.GroupedCoders):
        rows = [(0, j, j % 2) for j in range(CODERS)]
        half = replace(model, groups={j: f"group {2 * j // CODERS}" for j in range(CODERS)})
        model = half.with_data(am.Annotations.from_records(rows))
    assert isinstance(model, ConfusionModel)
    return model


@dataclass
class Study:
    """Ranks of all true values, and how independent the draws were.

    Parameters
    ----------
    tested
        Ranks of the quantities whose histogram is tested, by name, shape [replication].
    all_of
        Ranks of every parameter of a kind, by kind, shape [replication, parameter].
    autocorrelation
        Mean correlation of neighboring kept draws, the largest over the tested quantities.
    top
        The highest rank that is possible.
    """

    case: Any
    tested: dict[str, Ints]
    all_of: dict[str, Ints]
    autocorrelation: float
    top: int = RANKS

    def p_value(self, name: str) -> float:
        """P-value of a chi-square test that the ranks are uniform."""
        ranks = self.tested[name]
        bins = 20 if len(ranks) >= 300 else 10
        counts, _ = np.histogram(ranks, bins, (0, self.top + 1))
        return float(chisquare(counts).pvalue)


def design() -> tuple[Ints, Ints]:
    """Which coder labels which item, always the same: codes item and coder, shape [annotation]."""
    rng = np.random.default_rng(2018)
    chosen = np.stack([np.sort(rng.permutation(CODERS)[:PER_ITEM]) for _ in range(ITEMS)])
    return np.repeat(np.arange(ITEMS), PER_ITEM), chosen.ravel()


def simulate(
    model: ConfusionModel, k: int, rng: np.random.Generator
) -> tuple[State, Ints, am.Annotations]:
    """Draw parameters, truth and labels; the last items are known."""
    item, coder = design()
    state = model.sample_parameters(1 if model.shared else CODERS, k, rng)
    truth = (rng.random((ITEMS, 1)) > np.exp(state.log_prevalence).cumsum()[:-1]).sum(axis=1)
    row = np.zeros_like(coder) if model.shared else coder
    chances = np.exp(state.log_confusion)[row, :, truth[item]].cumsum(axis=1)
    label = (rng.random((len(item), 1)) > chances[:, :-1]).sum(axis=1)
    data = am.Annotations.from_records(
        [(int(i), int(j), int(y)) for i, j, y in zip(item, coder, label, strict=True)],
        labels=range(k),
        truth={i: int(truth[i]) for i in range(ITEMS - KNOWN, ITEMS)},
    )
    return state, truth, data


def rank(value: Floats, draws: Floats, rng: np.random.Generator) -> Ints:
    """Rank of a value [...] among draws [draw, ...], ties broken at random."""
    return np.asarray((draws < value).sum(axis=0) + rng.integers((draws == value).sum(axis=0) + 1))


def truth_draws(prevalence: Floats, confusion: Floats, data: am.Annotations) -> Floats:
    """P(truth of one item | draw) in logarithms, shape [draw, truth]."""
    mine = data.item == ITEM
    with np.errstate(divide="ignore"):
        labels = np.log(confusion[:, data.coder[mine], :, data.label[mine]]).sum(axis=0)
        return np.asarray(np.log(prevalence) + labels)


def replicate(case: Case, seed: int, number: int) -> tuple[dict[str, Ints], dict[str, Ints], float]:
    """One replication: ranks of the tested quantities, ranks by kind, autocorrelation."""
    model, k, thin = case.model, case.n_labels, THIN[case.model.name]
    sequence = np.random.SeedSequence([seed, MODELS.index(model.name), k, number])
    rng = np.random.default_rng(sequence)
    state, truth, data = simulate(case.source or model, k, rng)
    fit = am.fit(
        data, model, engine="gibbs", chains=1, draws=RANKS * thin, warmup=WARMUP,
        seed=int(rng.integers(2**31)), threads=1, relabel=False, extend=False,
    )  # fmt: skip
    posterior = fit.tree["posterior"].to_dataset()
    draws = {str(name): posterior[name].values[0, thin - 1 :: thin] for name in posterior}
    true = model.pymc_start(state)
    if model.shared:
        draws["confusion"] = np.repeat(draws["confusion"][:, None], CODERS, axis=1)
        true["confusion"] = np.repeat(true["confusion"][None], CODERS, axis=0)
    # all matrices of a shared one are the same, and the last label of a row follows from the others
    free, values = dict(draws), dict(true)
    if model.shared:
        free["confusion"], values["confusion"] = free["confusion"][:, :1], values["confusion"][:1]
    for name in SIMPLEX:
        if name in free:
            free[name], values[name] = free[name][..., :-1], values[name][..., :-1]
    all_of = {name: rank(values[name], free[name], rng).ravel() for name in free}

    tested: dict[str, tuple[Floats, Floats]] = {}
    for n in range(k if k > 2 else 1):
        tested[f"prevalence[{n}]"] = true["prevalence"][n], draws["prevalence"][:, n]
    for n in range(k - 1):
        tested[f"confusion[0, 0, {n}]"] = true["confusion"][0, 0, n], draws["confusion"][:, 0, 0, n]
    if "population" in draws:
        for n in range(k - 1):
            tested[f"population[0, {n}]"] = true["population"][0, n], draws["population"][:, 0, n]
        tested["concentration[0]"] = true["concentration"][0], draws["concentration"][:, 0]
    if "group_population" in draws:
        for name in ("group_population", "group_concentration", "group_accuracy"):
            for g in range(2):  # the first number of each group
                found = draws[name][:, g].reshape(RANKS, -1)[:, 0]
                tested[f"{name}[{g}]"] = true[name][g].flat[0], found
    if "common_accuracy" in draws:
        tested["common_accuracy"] = true["common_accuracy"], draws["common_accuracy"]
    logits = truth_draws(draws["prevalence"], draws["confusion"], data)
    drawn = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1).astype(float)
    tested[f"truth[{ITEM}]"] = np.asarray(truth[ITEM], dtype=float), drawn
    return (
        {name: rank(value, found, rng) for name, (value, found) in tested.items()},
        all_of,
        max(neighbors(found) for name, (_, found) in tested.items() if not name.startswith("tr")),
    )


def neighbors(draws: Floats) -> float:
    """Correlation of neighboring draws."""
    centred = draws - draws.mean()
    return float((centred[1:] * centred[:-1]).sum() / (centred**2).sum())


def study(
    case: Any,
    replications: int,
    seed: int = 1,
    workers: int = 1,
    single: Callable[..., Any] = replicate,
    top: int = RANKS,
) -> Study:
    """Run the replications of a case, in fresh processes when `workers` is above 1.

    `single` runs one replication, whose ranks go up to `top`.
    """
    one = partial(single, case, seed)
    if workers > 1:
        with ProcessPoolExecutor(workers, mp_context=get_context("forkserver")) as pool:
            found = list(pool.map(one, range(replications)))
    else:
        found = list(map(one, range(replications)))
    return Study(
        case,
        tested={name: np.array([part[0][name] for part in found]) for name in found[0][0]},
        all_of={name: np.stack([part[1][name] for part in found]) for name in found[0][1]},
        autocorrelation=float(np.mean([part[2] for part in found])),
        top=top,
    )


def coverage(ranks: Sequence[Ints], top: int = RANKS) -> tuple[float, float]:
    """Share of central 90 % intervals that hold the true value, and its standard error.

    Parameters of one replication depend on each other, so the error is that of the replications.
    """
    tail = (top + 1) // 20
    inside = [((r >= tail) & (r <= top - tail)) for r in ranks]
    size = sum(part.size for part in inside)
    share = sum(part.sum() for part in inside) / size
    deviations = [(part - share).sum(axis=1) for part in inside]
    return float(share), math.sqrt(sum(float((d**2).sum()) for d in deviations)) / size


def by_kind(studies: Sequence[Study]) -> dict[tuple[str, str], tuple[float, float]]:
    """Coverage and its error by model and kind of parameter, over all numbers of labels."""
    ranks: dict[tuple[str, str], list[Ints]] = {}
    for part in studies:
        for kind, values in part.all_of.items():
            ranks.setdefault((part.case.model.title, kind), []).append(values)
    return {key: coverage(values, studies[0].top) for key, values in ranks.items()}


INTRODUCTION = f"""
Each replication draws parameters from the prior, {ITEMS} items with {PER_ITEM} labels each by
{CODERS} coders (the same sparse design throughout; the true label of {KNOWN} items is known) from
the parameters, and fits the model by Gibbs: one chain, {WARMUP} iterations of warm-up, then every
{THIN["pooled"]}th draw ({THIN["hierarchical"]}th for the hierarchical model, {THIN["mace"]}th for
MACE) until there are {RANKS}. The rank of the true value among them is one of {RANKS + 1}
numbers. *p* is that of a chi-square test of uniform ranks in {{bins}} bins. For the truth of an
item, a truth is drawn with every posterior draw, and ties are broken at random. Classes are not
relabelled here: the prior is not symmetric in them, and relabelled draws would come from another
posterior than the one the parameters were drawn for. The known items keep classes from being
swapped, so that one chain visits all of the posterior.
"""


def pages(
    studies: Sequence[Study], seconds: float, seed: int, introduction: str = INTRODUCTION
) -> list[str]:
    """Text and tables on the studies."""
    replications = len(next(iter(studies[0].tested.values())))
    values = [(part, name, part.p_value(name)) for part in studies for name in part.tested]
    rows = [
        [part.case.model.title, str(part.case.n_labels), name, f"{p:.3f}"]
        for part, name, p in values
    ]
    covered = by_kind(studies)
    tests = len(values)
    low = sum(p < 0.01 for *_, p in values)
    some = f"{1 - 0.99**tests:.0%}".replace("%", " %")
    verdict = (
        f"{low} of {tests} p-values are below .01; a perfect sampler has {tests / 100:.1f} such "
        f"values on average, and at least one in {some} of such studies. "
        f"Neighbouring kept draws correlate by "
        f"{max(part.autocorrelation for part in studies):.2f} at most on average "
        "(the worst quantity of each fit, so slightly positive by selection)."
    )
    small = " (a reduced run)" if replications < 500 else ""
    return [
        introduction.strip().format(bins=20 if replications >= 300 else 10),
        common.markdown(["model", "K", "quantity", "p"], rows, left=3),
        verdict,
        "How often central 90 % intervals hold the true value, over all parameters of a kind and "
        "all K, in per cent with standard error:",
        common.markdown(
            ["model", "parameter", "coverage", "error"],
            [
                [title, kind, f"{100 * share:.1f}", f"{100 * error:.1f}"]
                for (title, kind), (share, error) in covered.items()
            ],
            left=2,
        ),
        f"{replications:,} replications for each model and K{small}, seed {seed}, "
        f"{seconds / 60:.0f} minutes. {common.machine()}",
    ]


def failures(
    studies: Sequence[Study], p_bound: float, slack: float | None = None, width: float = 0.02
) -> list[str]:
    """Sentences on what is not calibrated.

    Coverage must be 90 % +- `width`, or within `slack` standard errors of it when that is given.
    """
    out = [
        f"{part.case.model.title}, K={part.case.n_labels}, {name}: p = {part.p_value(name):.2g}"
        for part in studies
        for name in part.tested
        if part.p_value(name) < p_bound
    ]
    for (title, kind), (share, error) in by_kind(studies).items():
        if abs(share - 0.9) > (width if slack is None else slack * error):
            out.append(f"{title}, {kind}: 90 % intervals cover {share:.1%} +- {error:.1%}")
    return out


def main() -> int:
    parser = common.arguments(__doc__, "calibration.md")
    parser.add_argument("--replications", type=int, help="1,000, or 60 in a reduced run")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--workers", type=int, default=common.cores())
    parser.add_argument("--check", action="store_true", help="fail when something is off")
    options = parser.parse_args()
    replications = options.replications or (60 if options.reduced else 1000)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    begun = time.perf_counter()
    studies = []
    for name in options.models:
        for k in (2, 3):
            case = Case(believed(name), k)
            studies.append(study(case, replications, options.seed, options.workers))
            worst = min(studies[-1].p_value(quantity) for quantity in studies[-1].tested)
            common.say(
                f"{name}, K={k}: smallest p {worst:.3f}, {time.perf_counter() - begun:.0f} s"
            )
    out: Path = options.out
    common.write(out, pages(studies, time.perf_counter() - begun, options.seed))
    found = failures(studies, 0.01, slack=4 if options.reduced else None)
    for sentence in found:
        common.say(sentence)
    return int(options.check and bool(found))


if __name__ == "__main__":
    sys.exit(main())
