"""Measure whether P(truth) means what it says, on the public sets whose true labels are known.

    python benchmarks/probabilities.py [--reduced] [--repeats 20] [--sets snow_rte web]

No true label is used in fitting, but for the second table, where 30 of them are known.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import accuracy
import common
import numpy as np
from numpy.typing import NDArray

import annomodels as am
from annomodels.engines.pooling import draw_pool, member_beliefs, pooled_truth

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MODELS = ("hierarchical", "guess-level", "consensus", "ambiguous", "readings")
RECOMMENDED = "opinion-pool"
SHOWN = (*MODELS, RECOMMENDED)
KNOWN = 30
FLOOR = 1e-12

INTRODUCTION = """
Mean log loss of P(truth), in nats, and as a ratio to that of the vote shares (1/2 added to each
label). DS is the hierarchical Dawid-Skene model, the default of `am.fit`; "opinion-pool" is the
model recommended where probabilities are handed on. "Best" is the best accuracy published for the
set. All models with their default priors, the same for all sets.
"""


def log_loss(p: Floats, truth: Ints) -> float:
    """Mean of -log P(true label) over the items whose truth is given."""
    given = np.flatnonzero(truth >= 0)
    return float(-np.log(np.maximum(p[given, truth[given]], FLOOR)).mean())


def right(p: Floats, truth: Ints) -> float:
    """Share of items whose most probable label is the true one, ties counting their share."""
    given = np.flatnonzero(truth >= 0)
    best = p[given] >= p[given].max(axis=1, keepdims=True) - 1e-12
    return float((best[np.arange(len(given)), truth[given]] / best.sum(axis=1)).mean())


def calibration_error(p: Floats, truth: Ints, count: int = 10) -> float:
    """Compute the calibration error of the most probable label, in bins of equal width."""
    given = np.flatnonzero(truth >= 0)
    top = p[given].max(axis=1)
    hit = (p[given].argmax(axis=1) == truth[given]).astype(float)
    where = np.minimum((top * count).astype(int), count - 1)
    gaps = np.bincount(where, hit - top, minlength=count)
    return float(np.abs(gaps).sum() / len(given))


def perfect_error(p: Floats, truth: Ints, rng: np.random.Generator, repeats: int = 20) -> float:
    """Calibration error that these probabilities would show if they were exactly right."""
    given = np.flatnonzero(truth >= 0)
    p, edges = p[given], p[given].cumsum(axis=1)[:, :-1]
    found = [
        calibration_error(p, (rng.random((len(p), 1)) > edges).sum(axis=1)) for _ in range(repeats)
    ]
    return float(np.mean(found))


def shares(data: am.Annotations) -> Floats:
    """Vote shares with 1/2 added to each label."""
    votes = data.votes + 0.5
    return np.asarray(votes / votes.sum(axis=1, keepdims=True))


def fitted(data: am.Annotations, model: str, seed: int, draws: int) -> Floats:
    """P(truth) of every item."""
    fit = am.fit(data, model, seed=seed, chains=2, draws=draws, warmup=draws // 2, extend=False)
    return np.asarray(fit.tree["truth"]["p_truth"].values)


def pool(parts: dict[str, Floats], truth: Ints, known: Ints) -> Floats:
    """P(truth) of the opinion pool from its models, as `am.fit` puts them together.

    The truth of the items of the numbers `known` teaches the weights.
    """
    model = am.models.OpinionPool()
    log_p = member_beliefs(model, [parts[name] for name in model.names])
    return pooled_truth(log_p, draw_pool(model, log_p[:, known], truth[known]))[0]


def without_gold(seed: int, draws: int, name: str) -> dict[str, Any]:
    """Accuracy, log loss and calibration error of all models on one set."""
    data, truth = accuracy.load(name)
    advised = am.advise(data).model
    if advised != RECOMMENDED:
        raise ValueError(f"{name}: am.advise names {advised}, not {RECOMMENDED}.")
    found = {"votes": shares(data)}
    found |= {model: fitted(data, model, seed, draws) for model in MODELS}
    found[RECOMMENDED] = pool(found, truth, np.empty(0, np.int64))
    common.say(f"{name} without gold")
    return {
        "set": name,
        **{
            model: (right(p, truth), log_loss(p, truth), calibration_error(p, truth))
            for model, p in found.items()
        },
        "p_truth": {model: found[model] for model in am.models.OpinionPool().names},
    }


def with_gold(repeats: int, found: dict[str, Any]) -> dict[str, Any]:
    """Log loss and calibration error on the other items when some are known, over random picks."""
    name = found["set"]
    data, truth = accuracy.load(name)
    losses, votes, hits = [], [], []
    errors, least = [], []
    known = np.flatnonzero(truth >= 0)
    for number in range(repeats):
        rng = np.random.default_rng([KNOWN, number])
        picked = rng.choice(known, KNOWN, replace=False)
        p = pool(found["p_truth"], truth, picked)
        others = truth.copy()
        others[picked] = -1
        losses.append(log_loss(p, others))
        votes.append(log_loss(shares(data), others))
        hits.append(right(p, others))
        errors.append(calibration_error(p, others))
        least.append(perfect_error(p, others, rng))
    common.say(f"{name} with gold")
    return {
        "set": name,
        "loss": float(np.mean(losses)),
        "votes": float(np.mean(votes)),
        "worst": float(np.max(np.array(losses) - votes)),
        "accuracy": float(np.mean(hits)),
        "error": float(np.mean(errors)),
        "least": float(np.mean(least)),
    }


def first_table(found: list[dict[str, Any]]) -> list[str]:
    """Table and verdict of the fits without gold."""
    rows = []
    for part in found:
        best = accuracy.PUBLISHED[part["set"]][1]
        base = part["votes"][1]
        row = [part["set"], f"{base:.3f}"]
        row += [f"{part[model][1]:.3f} ({part[model][1] / base:.2f})" for model in SHOWN]
        row += [f"{100 * part[m][0]:.1f}" for m in ("votes", "hierarchical", RECOMMENDED)]
        rows.append([*row, f"{100 * best:.1f}", f"{part[RECOMMENDED][2]:.3f}"])
    means = {
        model: np.mean([part[model][1] / part["votes"][1] for part in found]) for model in SHOWN
    }
    to_ds = np.mean([part[RECOMMENDED][1] / part["hierarchical"][1] for part in found])
    excess = {part["set"]: part[RECOMMENDED][1] - part["votes"][1] for part in found}
    worst = max(excess, key=lambda name: excess[name])
    gap = np.mean([part[RECOMMENDED][0] - accuracy.PUBLISHED[part["set"]][1] for part in found])
    header = ["set", "votes", *SHOWN, "% votes", "% DS", "% pool", "% best", "ECE"]
    ratios = ", ".join(f"{model} {ratio:.3f}" for model, ratio in means.items())
    return [
        common.markdown(header, rows),
        f"Mean ratio to the votes: {ratios}. The pool has {to_ds:.3f} of the log loss of "
        f"Dawid-Skene on average; on {worst} it is worst against the votes "
        f"({excess[worst]:+.3f}). Its accuracy is {100 * gap:+.1f} points from the best "
        "published, on average.",
    ]


def second_table(found: list[dict[str, Any]], repeats: int) -> list[str]:
    """Table and verdict of the fits with some known gold."""
    rows = [
        [
            part["set"], f"{part['votes']:.3f}", f"{part['loss']:.3f}",
            f"{part['loss'] / part['votes']:.2f}", f"{part['worst']:+.3f}",
            f"{100 * part['accuracy']:.1f}", f"{part['error']:.3f}", f"{part['least']:.3f}",
        ]
        for part in found
    ]  # fmt: skip
    below = sum(part["loss"] < part["votes"] for part in found)
    calibrated = sum(part["error"] < 0.05 for part in found)
    beyond = [part["error"] - part["least"] for part in found]
    header = ["set", "votes", "pool", "ratio", "worst pick", "%", "ECE", "perfect"]
    return [
        f"The pool when {KNOWN} items chosen at random are known, measured on the others: means "
        f"of {repeats} choices, and the largest excess of a single one over the votes. "
        "*Perfect* is the ECE that these probabilities would show if they were exactly right, for "
        "there are only so many items.",
        common.markdown(header, rows),
        f"Below the votes on {below} of {len(found)} sets; ECE below .05 on {calibrated}, "
        f"{np.mean([part['error'] for part in found]):.3f} on average. What it is beyond that of "
        f"perfect probabilities is below .05 on {sum(more < 0.05 for more in beyond)} sets, "
        f"{max(beyond):.3f} at the most.",
    ]


def main() -> None:
    """Write the tables."""
    parser = common.arguments(__doc__, "probabilities.md")
    parser.add_argument("--sets", nargs="+", default=list(accuracy.PUBLISHED))
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    names = options.sets[:2] if options.reduced else options.sets
    repeats, draws = (2, 100) if options.reduced else (options.repeats, 400)
    begun = time.perf_counter()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(common.cores(), mp_context=context) as workers:
        plain = list(workers.map(partial(without_gold, options.seed, draws), names))
        known = list(workers.map(partial(with_gold, repeats), plain))
    seconds = time.perf_counter() - begun
    parts = [
        INTRODUCTION.strip(),
        *first_table(plain),
        *second_table(known, repeats),
        f"{common.machine()} It took {seconds / 60:.0f} minutes.",
    ]
    common.write(Path(options.out), parts)


if __name__ == "__main__":
    sys.exit(main())
