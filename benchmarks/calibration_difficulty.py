"""Simulation-based calibration of the models that only NUTS serves (Talts et al. 2018).

    python benchmarks/calibration_difficulty.py [--reduced] [--models scalar-difficulty]

Every coder labels every item, so that the data are the numbers of items with each pattern of
labels, known truth included: a model is compiled once, and only these numbers change.
https://arxiv.org/abs/1804.06788
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import sys
import time
from dataclasses import dataclass
from typing import Any

import calibration
import common
import numpy as np
from calibration import Case, Floats, Ints, Study

import annomodels as am
from annomodels.engines.pymc.nuts import start_point
from annomodels.engines.settings import Settings
from annomodels.models import resolve
from annomodels.models.base import Model
from annomodels.models.encoded import Encoded, encode

ITEMS, KNOWN = 60, 15
TUNE, EVERY, RANKS = 250, 3, 99
# numbers of labels and of coders
SIZES = {
    "scalar-difficulty": (2, 4),
    "item-difficulty": (2, 4),
    "logistic-random-effects": (2, 4),
    "logit-normal": (2, 4),
    "beta-binomial-by-item": (2, 4),
    "ordinal": (3, 3),
    "graded-response": (3, 3),
}
MODELS = tuple(SIZES)
TESTED = 14  # at most so many histograms for each model
SPARE = 20  # draws in place of those that the prior rules out


@dataclass(frozen=True, eq=False)
class Ready:
    """A compiled model, draws from its prior, and the patterns of labels that its data count."""

    model: Model
    sampler: Any
    prior: dict[str, Floats]
    patterns: Ints
    known: Ints


def every_pattern(k: int, coders: int) -> am.Annotations:
    """One item for each pattern of labels, unknown and with each known truth."""
    patterns = list(itertools.product(range(k), repeat=coders))
    rows, gold = [], {}
    for n, (known, labels) in enumerate(itertools.product(range(-1, k), patterns)):
        rows += [(n, j, label) for j, label in enumerate(labels)]
        if known >= 0:
            gold[n] = known
    return am.Annotations.from_records(rows, labels=range(k), truth=gold)


def ready(model: Model, k: int, coders: int, replications: int, seed: int) -> Ready:
    """Compile a model, and draw from its prior."""
    import nutpie
    import pymc as pm

    data = every_pattern(k, coders)
    codes = encode(data, shared=model.shared)
    # what the parametrisation asks of the data stays that of these
    typical = dataclasses.replace(codes, weight=codes.weight * (ITEMS + KNOWN) / codes.n_patterns)
    known = data.coords
    coords = {dim: known[dim] for dim in ("truth", "label", "coder")}
    built = model.build(typical, {**coords, **model.coords(coords["label"])})
    wanted = [*built.free_RVs, *built.deterministics]
    drawn = pm.draw(wanted, draws=replications + SPARE, random_seed=seed)
    prior = {each.name: np.asarray(v) for each, v in zip(wanted, drawn, strict=True)}
    prior = possible(prior, replications)
    start = start_point(model, likely(codes, k))
    points = {each.name: start[each.name] for each in built.free_RVs}
    sampler = nutpie.compile_pymc_model(
        built, initial_points=points, jitter_rvs=set(), backend="numba"
    )
    first = [int(np.flatnonzero(codes.inverse == n)[0]) for n in range(codes.n_patterns)]
    patterns = data.label.reshape(data.n_items, coders)[first]
    if model.shared:  # the data do not tell coders apart
        patterns = np.sort(patterns, axis=1)
    return Ready(model, sampler, prior, patterns, codes.gold)


def possible(prior: dict[str, Floats], replications: int) -> dict[str, Floats]:
    """Put spare draws in the place of those whose cut-points are not in order.

    The prior is a normal density where they are, and nothing elsewhere.
    """
    if "cuts" not in prior:
        return {name: values[:replications] for name, values in prior.items()}
    good = (np.diff(prior["cuts"], axis=1) > 0).all(axis=1)
    place = np.arange(replications)
    bad = np.flatnonzero(~good[:replications])
    place[bad] = replications + np.flatnonzero(good[replications:])[: len(bad)]
    return {name: values[place] for name, values in prior.items()}


def likely(codes: Encoded, k: int) -> Encoded:
    """Weigh patterns as coders who are right in 80 % would, for a start that suits all data."""
    right = np.where(np.eye(k, dtype=bool), 0.8, 0.2 / (k - 1))
    label = codes.label.reshape(codes.n_patterns, -1)
    by_truth = right[:, label].prod(axis=2).T
    share = by_truth.mean(axis=1)
    known = codes.gold >= 0
    share[known] = by_truth[known, codes.gold[known]] / k * KNOWN / ITEMS
    return dataclasses.replace(codes, weight=(ITEMS + KNOWN) * share / share.sum())


def counts(this: Ready, values: dict[str, Floats], rng: np.random.Generator) -> Floats:
    """Draw items and count how many have each pattern, shape [pattern]."""
    result = this.model.result_values(dict(values))
    found = this.model.states({name: value[None] for name, value in result.items()})
    if found is None:
        share, emission = result["prevalence"], result["confusion"]
        truth = np.eye(len(share))
    else:
        share, emission, truth = found.share[0], found.emission[0], found.truth[0]
    n = ITEMS + KNOWN
    state = rng.choice(len(share), n, p=share / share.sum())
    worth = truth[state].cumsum(axis=1)
    gold = (rng.random((n, 1)) * worth[:, -1:] > worth[:, :-1]).sum(axis=1)
    gold[:ITEMS] = -1
    chances = emission[:, state].cumsum(axis=2)
    u = rng.random((*chances.shape[:2], 1)) * chances[:, :, -1:]
    label = (u > chances[:, :, :-1]).sum(axis=2).T
    if label.shape[1] < this.patterns.shape[1]:  # one matrix for all coders: each draws alone
        label = np.sort(_alike(emission, state, this.patterns.shape[1], rng), axis=1)
    place = {
        (g, *row): n
        for n, (g, row) in enumerate(zip(this.known, this.patterns.tolist(), strict=True))
    }
    at = [place[(int(g), *row)] for g, row in zip(gold, label.tolist(), strict=True)]
    return np.bincount(at, minlength=len(this.known)).astype(float)


def _alike(emission: Floats, state: Ints, coders: int, rng: np.random.Generator) -> Ints:
    chances = emission[0, state].cumsum(axis=1)
    u = rng.random((len(state), coders, 1)) * chances[:, None, -1:]
    return np.asarray((u > chances[:, None, :-1]).sum(axis=2))


def replicate(this: Ready, case: Case, seed: int, number: int) -> Any:
    """One replication: ranks of the tested quantities, ranks by kind, autocorrelation."""
    import nutpie

    rng = np.random.default_rng([seed, MODELS.index(case.model.name), number])
    values = {name: drawn[number] for name, drawn in this.prior.items()}
    weight = counts(this, values, rng)
    trace = nutpie.sample(
        this.sampler.with_data(data_weight=weight), draws=RANKS * EVERY, tune=TUNE, chains=1,
        cores=1, seed=int(rng.integers(2**31)), progress_bar=False, save_warmup=False,
        target_accept=Settings().target_accept,
        adaptation="low_rank" if any(p.correlated for p in case.model.variables(2)) else "diag",
    )  # fmt: skip
    posterior = trace["posterior"].to_dataset()
    all_of: dict[str, Ints] = {}
    tested: dict[str, tuple[Floats, Floats]] = {}
    for name, true in values.items():
        drawn = posterior[name].values[0, EVERY - 1 :: EVERY].reshape(RANKS, -1)
        flat = np.ravel(true)
        moving = np.ptp(drawn, axis=0) > 0  # what is zero by definition has no rank
        if not moving.any():
            continue
        all_of[name] = calibration.rank(flat[moving], drawn[:, moving], rng)
        if len(tested) < TESTED:
            tested[name] = flat[moving][0], drawn[:, moving][:, 0]
    ranks = {name: calibration.rank(value, found, rng) for name, (value, found) in tested.items()}
    return ranks, all_of, max(calibration.neighbors(found) for _, found in tested.values())


INTRODUCTION = f"""
**Models that only NUTS serves.** Each replication draws parameters from the prior of the PyMC
model, {ITEMS} items of unknown and {KNOWN} of known truth from the parameters (effects of items at
the nodes of the model's quadrature), and their labels by every one of 4 coders (3 where there are 3
labels). One chain of nutpie, {TUNE} draws of tuning, then every {EVERY}rd draw until there are
{RANKS}; the rank of the true value among them is one of {RANKS + 1} numbers. *p* is that of a
chi-square test of uniform ranks in {{bins}} bins, for the first number of each variable.
"""


def run(name: str, replications: int, seed: int = 1) -> Study:
    """Run the replications of a model in this process."""
    model = resolve(name)
    k, coders = SIZES[name]
    this = ready(model, k, coders, replications, seed)
    case: Any = Case(model, k)  # type: ignore[arg-type]

    def single(case: Case, seed: int, number: int) -> Any:
        return replicate(this, case, seed, number)

    return calibration.study(case, replications, seed, 1, single, RANKS)


def main() -> int:
    parser = common.arguments(__doc__, "calibration_difficulty.md")
    parser.add_argument("--replications", type=int, help="300, or 40 in a reduced run")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--check", action="store_true", help="fail when something is off")
    options = parser.parse_args()
    replications = options.replications or (40 if options.reduced else 300)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    begun = time.perf_counter()
    studies = []
    for name in options.models:
        studies.append(run(name, replications, options.seed))
        low = sorted((studies[-1].p_value(q), q) for q in studies[-1].tested)[:2]
        spent = time.perf_counter() - begun
        off = calibration.failures(studies[-1:], 0.0, width=0.03)
        common.say(f"{name}: smallest p {low}, {off or 'covered'}, {spent:.0f} s")
        common.write(options.out, calibration.pages(studies, spent, options.seed, INTRODUCTION))
    found = calibration.failures(studies, 0.001, 4 if options.reduced else None, width=0.03)
    for sentence in found:
        common.say(sentence)
    return int(options.check and bool(found))


if __name__ == "__main__":
    sys.exit(main())
