"""Simulation-based calibration of labels that are not classes, under Gibbs (Talts et al. 2018).

    python benchmarks/calibration_answers.py [--reduced] [--models hierarchical]

As in calibration.py, with coders who give no answer at rates of their own for each class.
https://arxiv.org/abs/1804.06788
"""

from __future__ import annotations

import os
import sys
import time

import calibration
import common
import numpy as np
from calibration import CODERS, ITEM, ITEMS, KNOWN, PER_ITEM, Case, Floats, Ints, Study

import annomodels as am
from annomodels.engines.chain import Chain
from annomodels.engines.source.held import OpenBlock
from annomodels.engines.source.itemsums import Stage
from annomodels.engines.source.partition import cut
from annomodels.engines.starts import state_from_shares, vote_shares
from annomodels.models import resolve
from annomodels.models.answering import Answering, result_draws
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import encode

# few draws far apart: iterations are what takes time
RANKS, WARMUP, THIN = 19, 300, 40
MODELS = ("dawid-skene", "hierarchical", "class-conditional")
SIMPLEX = ("prevalence", "confusion", "population")


def answering(name: str) -> Answering:
    """Put rates of no answer around a model."""
    base = resolve(name)
    assert isinstance(base, ConjugateModel)
    return Answering(base)


def simulate(
    model: Answering, k: int, rng: np.random.Generator
) -> tuple[dict[str, Floats], Ints, am.Annotations]:
    """Draw parameters, truth and labels; the last items are known, some may have no answer."""
    item, coder = calibration.design()
    state = model.sample_parameters(CODERS, k, rng)
    values = result_of(model, {n: v[None] for n, v in model.kept_values(state).items()})
    values = {name: value[0] for name, value in values.items()}
    truth = (rng.random((ITEMS, 1)) > values["prevalence"].cumsum()[:-1]).sum(axis=1)
    no_answer = values["no_answer"][coder, truth[item]]
    shares = values["confusion"][coder, truth[item]] * (1.0 - no_answer)
    chances = np.concatenate([shares, no_answer], axis=1).cumsum(axis=1)
    label = (rng.random((len(item), 1)) > chances[:, :-1]).sum(axis=1)
    given = label < k
    gold = np.where(np.arange(ITEMS) >= ITEMS - KNOWN, truth, -1)
    unanswered = np.column_stack([item[~given], coder[~given], label[~given] - k])
    data = am.Annotations(
        item=item[given].astype(np.int32), coder=coder[given].astype(np.int32),
        label=label[given].astype(np.int32), items=tuple(range(ITEMS)),
        coders=tuple(range(CODERS)), labels=tuple(range(k)), declared=True,
        gold=gold.astype(np.int32), dont_know=("?",), unanswered=unanswered.astype(np.int32),
    )  # fmt: skip
    return values, truth, data


def result_of(model: Answering, drawn: dict[str, Floats]) -> dict[str, Floats]:
    """Variables of the result from those of a chain, both [draw, ...]."""
    found = result_draws(model, {name: value[None] for name, value in drawn.items()})
    return {name: value[0] for name, value in found.items()}


def sample(model: Answering, data: am.Annotations, seed: int) -> dict[str, Floats]:
    """Give thinned draws of one chain that begins as the first chain of a fit does."""
    codes = encode(data, collapse=False, unanswered=True)
    start: State = state_from_shares(model, codes, vote_shares(codes))
    chain = Chain(model, codes.volume, start, seed, False)
    block, first = OpenBlock(cut(codes, 1).partitions[0], alone=True), WARMUP + -WARMUP % THIN
    chain.run(block, first, 0, None, None)
    kept = chain.room(RANKS, False)
    sums = block.sums_of(0, Stage(1, kept.length))
    chain.run(block, first + RANKS * THIN, THIN, kept, sums)
    return result_of(model, dict(kept.arrays))


def truth_draws(draws: dict[str, Floats], data: am.Annotations) -> Floats:
    """Log P(truth of one item | draw), answers and no answers taken together, [draw, truth]."""
    logits = calibration.truth_draws(draws["prevalence"], draws["confusion"], data)
    rates = draws["no_answer"][..., 0]
    unanswered = data.unanswered
    assert unanswered is not None
    with np.errstate(divide="ignore"):
        for coder in data.coder[data.item == ITEM]:
            logits = logits + np.log1p(-rates[:, coder])
        for coder in unanswered[unanswered[:, 0] == ITEM, 1]:
            logits = logits + np.log(rates[:, coder])
    return logits


def replicate(case: Case, seed: int, number: int) -> tuple[dict[str, Ints], dict[str, Ints], float]:
    """One replication: ranks of the tested quantities, ranks by kind, autocorrelation."""
    model, k = case.model, case.n_labels
    source = case.source or model
    assert isinstance(model, Answering)
    assert isinstance(source, Answering)
    sequence = np.random.SeedSequence([seed, 50 + MODELS.index(model.base.name), k, number])
    rng = np.random.default_rng(sequence)
    values, truth, data = simulate(source, k, rng)
    draws = sample(model, data, int(rng.integers(2**31)))
    all_of: dict[str, Ints] = {}
    tested: dict[str, tuple[Floats, Floats]] = {}
    for name, drawn in draws.items():
        free, value = drawn, values[name]
        if name in SIMPLEX:
            free, value = free[..., :-1], value[..., :-1]
        all_of[name] = calibration.rank(value, free, rng).ravel()
        label = f"{name}[{', '.join('0' * value.ndim)}]" if value.ndim else name
        tested[label] = np.asarray(value.flat[0]), free.reshape(RANKS, -1)[:, 0]
    moving = max(calibration.neighbors(found) for _, found in tested.values())
    logits = truth_draws(draws, data)
    drawn_truth = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1).astype(float)
    tested[f"truth[{ITEM}]"] = np.asarray(truth[ITEM], dtype=float), drawn_truth
    return (
        {name: calibration.rank(value, found, rng) for name, (value, found) in tested.items()},
        all_of,
        moving,
    )


INTRODUCTION = f"""
**Labels that are not classes.** Each replication draws parameters from the prior, {ITEMS} items
that {PER_ITEM} of {CODERS} coders are asked about (the true label of {KNOWN} is known), who answers
and what, and fits the model by Gibbs: {WARMUP} iterations of warm-up, then every {THIN}th draw
until there are {RANKS}. `no_answer` are the rates of no answer by coder and class, `no_answer_mean`
and `no_answer_concentration` their population. *p* is that of a chi-square test of uniform ranks in
{{bins}} bins.
"""


def run(case: Case, replications: int, seed: int = 1, workers: int = 1) -> Study:
    """Run the replications of a case."""
    return calibration.study(case, replications, seed, workers, replicate, RANKS)


def main() -> int:
    parser = common.arguments(__doc__, "calibration_answers.md")
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
            case = Case(answering(name), k)
            studies.append(run(case, replications, options.seed, options.workers))
            low = sorted((studies[-1].p_value(q), q) for q in studies[-1].tested)[:2]
            spent = time.perf_counter() - begun
            common.say(f"{name}, K={k}: smallest p {low}, {spent:.0f} s")
            lines = calibration.pages(studies, spent, options.seed, INTRODUCTION)
            common.write(options.out, lines)
    found = calibration.failures(studies, 0.001, 4 if options.reduced else None, width=0.03)
    for sentence in found:
        common.say(sentence)
    return int(options.check and bool(found))


if __name__ == "__main__":
    sys.exit(main())
