"""Simulation-based calibration of the models whose items have states (Talts et al. 2018).

    python benchmarks/calibration_states.py [--reduced] [--replications 300] [--models spammers]

Parameters are drawn from the prior, states of items from the parameters, labels and truth from the
states, and the model is fitted to the labels by Gibbs. What is shared with the models of the
confusion family is in calibration.py.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import calibration
import common
import numpy as np
from calibration import CODERS, ITEM, ITEMS, KNOWN, PER_ITEM, Floats, Ints, Study

import annomodels as am
from annomodels.engines.run import Run
from annomodels.engines.settings import Settings
from annomodels.engines.source.partition import cut
from annomodels.engines.source.spread import Spread
from annomodels.engines.starts import state_from_shares, vote_shares
from annomodels.executors.team import Threads
from annomodels.models import resolve
from annomodels.models.encoded import encode
from annomodels.models.mixtures.state_model import PERCEIVED, StateModel

# few draws far apart: iterations are what takes time
RANKS, WARMUP = 19, 300
# every how many iterations a draw is kept
THIN = {
    "guess-level": 40,
    "consensus": 20,
    "easy-hard": 30,
    "ambiguous": 20,
    "spammers": 20,
    "readings": 40,
}
MODELS = tuple(THIN)
# variables whose last number follows from the others
SIMPLEX = ("prevalence", "confusion", "population", "habit", *PERCEIVED.values())


@dataclass(frozen=True)
class Case:
    """A model and a number of labels; `source` draws the parameters where it is another model."""

    model: StateModel
    n_labels: int
    source: StateModel | None = None


@dataclass(frozen=True, eq=False)
class Made:
    """What was drawn: variables of the result, states and truths of items, and the labels."""

    values: dict[str, Floats]
    state: Ints
    truth: Ints
    data: am.Annotations


def parameters(model: StateModel, k: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Draw the variables of the result from the prior."""
    values = dict(model.coders.pymc_start(model.coders.sample_parameters(CODERS, k, rng)))
    for name, alpha in model.alphas(CODERS, k).items():
        flat = np.reshape(alpha, (-1, alpha.shape[-1]))
        values[name] = np.stack([rng.dirichlet(a) for a in flat]).reshape(alpha.shape)
    return model.result_values({name: np.asarray(v, dtype=float) for name, v in values.items()})


def simulate(model: StateModel, k: int, rng: np.random.Generator) -> Made:
    """Draw parameters, states, truths and labels; the truth of the last items is known."""
    item, coder = calibration.design()
    values = parameters(model, k, rng)
    found = model.states({name: value[None] for name, value in values.items()})
    share, emission, worth = found.share[0], found.emission[0], found.truth[0]
    state = _pick(np.broadcast_to(share, (ITEMS, len(share))), rng)
    truth = _pick(worth[state], rng)
    label = _pick(emission[coder, state[item]], rng)
    data = am.Annotations.from_records(
        [(int(i), int(j), int(y)) for i, j, y in zip(item, coder, label, strict=True)],
        labels=range(k),
        truth={i: int(truth[i]) for i in range(ITEMS - KNOWN, ITEMS)},
    )
    return Made(values, state, truth, data)


def _pick(p: Floats, rng: np.random.Generator) -> Ints:
    """One number for each row of probabilities."""
    return np.asarray((rng.random((len(p), 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1))


def sample(model: StateModel, data: am.Annotations, seed: int, thin: int) -> dict[str, Floats]:
    """Give thinned draws of one chain that begins as the first chain of a fit does."""
    codes = encode(data, collapse=False)
    start = state_from_shares(model.starter, codes, vote_shares(codes))
    settings = Settings(chains=1, threads=1, seed=seed)
    run = Run(model, Spread(cut(codes, 1), Threads(1)), settings, None, [start], False)
    run.begin()
    run.slice([WARMUP + -WARMUP % thin], 1, None, None)
    kept = run.chains[0].room(RANKS, False)
    run.slice([RANKS * thin], thin, [kept], None)
    return dict(kept.arrays)


def item_draws(
    model: StateModel, draws: dict[str, Floats], data: am.Annotations, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """State and truth of one item, drawn with every draw of the parameters."""
    found = model.states(draws)
    mine = data.item == ITEM
    with np.errstate(divide="ignore"):
        logits = np.log(found.share)
        for coder, label in zip(data.coder[mine], data.label[mine], strict=True):
            logits = logits + np.log(found.emission[:, coder, :, label])
    state = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return state, _pick(found.truth[np.arange(len(state)), state], rng)


def replicate(case: Case, seed: int, number: int) -> tuple[dict[str, Ints], dict[str, Ints], float]:
    """One replication: ranks of the tested quantities, ranks by kind, autocorrelation."""
    model, k = case.model, case.n_labels
    sequence = np.random.SeedSequence([seed, 1 + MODELS.index(model.name), k, number])
    rng = np.random.default_rng(sequence)
    made = simulate(case.source or model, k, rng)
    draws = sample(model, made.data, int(rng.integers(2**31)), THIN[model.name])
    simplex = (*SIMPLEX, *(each.name for each in model.item_parameters(k)))
    all_of: dict[str, Ints] = {}
    tested: dict[str, tuple[Floats, Floats]] = {}
    for name, drawn in draws.items():
        free, value = drawn, made.values[name]
        if name in simplex:
            free, value = free[..., :-1], value[..., :-1]
        if value.size == 0:
            continue
        all_of[name] = calibration.rank(value, free, rng).ravel()
        # the first number of every variable, and one of the second coder's matrix
        label = f"{name}[{', '.join('0' * value.ndim)}]" if value.ndim else name
        tested[label] = value.flat[0], free.reshape(RANKS, -1)[:, 0]
    second = made.values["confusion"][1, -1, 0], draws["confusion"][:, 1, -1, 0]
    tested[f"confusion[1, {k - 1}, 0]"] = second
    state, truth = item_draws(model, draws, made.data, rng)
    moving = max(calibration.neighbors(found) for _, found in tested.values() if np.ptp(found) > 0)
    tested[f"truth[{ITEM}]"] = np.asarray(made.truth[ITEM], dtype=float), truth.astype(float)
    layout = model.layout(k)
    for name, values in {"state": np.arange(len(layout.base)), **layout.values}.items():
        known, found = values[made.state[ITEM]], values[state]
        tested[f"{name}[{ITEM}]"] = np.asarray(known, dtype=float), found.astype(float)
    return (
        {name: calibration.rank(value, found, rng) for name, (value, found) in tested.items()},
        all_of,
        moving,
    )


INTRODUCTION = f"""
Each replication draws parameters from the prior, states of {ITEMS} items from the parameters, and
from these {PER_ITEM} labels each by {CODERS} coders (the same sparse design throughout) and the
truth, which is known of {KNOWN} items. One Gibbs chain starts as the first chain of a fit does;
after {WARMUP} iterations of warm-up {RANKS} draws are kept, every {min(THIN.values())}th to
{max(THIN.values())}th iteration. The rank of the true value among them is one of {RANKS + 1}
numbers. *p* is that of a chi-square test of uniform ranks in {{bins}} bins. `prevalence` and
`confusion` are those of the truth, with the states summed out, and the `perceived` ones what coders
respond to. For state and truth of an item, one of each is drawn with every posterior draw, and ties
are broken at random. Classes are not relabelled here.
"""


def run(case: Case, replications: int, seed: int = 1, workers: int = 1) -> Study:
    """Run the replications of a case."""
    return calibration.study(case, replications, seed, workers, replicate, RANKS)


def main() -> int:
    parser = common.arguments(__doc__, "calibration_states.md")
    parser.add_argument("--replications", type=int, help="300, or 60 in a reduced run")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--labels", nargs="+", type=int, default=[2, 3], help="numbers of labels")
    parser.add_argument("--workers", type=int, default=common.cores())
    parser.add_argument("--check", action="store_true", help="fail when something is off")
    options = parser.parse_args()
    replications = options.replications or (60 if options.reduced else 300)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    begun = time.perf_counter()
    studies = []
    for k in options.labels:
        for name in options.models:
            case = Case(resolve(name), k)
            studies.append(run(case, replications, options.seed, options.workers))
            low = sorted((studies[-1].p_value(q), q) for q in studies[-1].tested)[:2]
            off = calibration.failures(studies[-1:], 0.0, width=0.03)
            spent = time.perf_counter() - begun
            common.say(f"{name}, K={k}: smallest p {low}, {off or 'covered'}, {spent:.0f} s")
            # what there is so far stands if the run is ended early
            out: Path = options.out
            common.write(out, calibration.pages(studies, spent, options.seed, INTRODUCTION))
    found = calibration.failures(studies, 0.001, 4 if options.reduced else None, width=0.03)
    for sentence in found:
        common.say(sentence)
    return int(options.check and bool(found))


if __name__ == "__main__":
    sys.exit(main())
