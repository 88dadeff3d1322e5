"""Measure how well the next label of an item is predicted, on any folder of sets.

    python benchmarks/held_out_labels.py [--data FOLDER] [--json FILE] [--sets NAME ...]

A set is a folder with labels.csv (or labels.csv.gz: item, coder, label). One label of some items is
held out, never more than one of an item and none of an item with a single label; models are fitted
to the others, and the cross entropy of the held-out labels is that of `fit.p_next()`, whose coder
is not told, and of `fit.p_next(by="coder")`. They are compared with the shares of the labels of the
item, smoothed by a Dirichlet distribution around the pooled shares, whose total has the largest
marginal likelihood.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import common
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

import annomodels as am
from annomodels.errors import AnnotationError
from annomodels.summaries.p_next import predicted

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MODELS = ("hierarchical", "stack")
HELD_OUT = 0.15
# numbers and lists of answers have more values than that
MOST_LABELS = 20
FLOOR = 1e-15

INTRODUCTION = """
Cross entropy in nats of labels that were held out ({share:.0%} of all, at most one of an item): of
smoothed shares, and of `fit.p_next()` for a coder at random and for the coder who is told, as a
ratio to that of the shares. *gain* is the gain of the stack over the shares in nats a label by a
coder at random, with its standard error over labels.
"""


def held_out(data: am.Annotations, share: float, seed: int) -> NDArray[np.bool_]:
    """Choose labels to hold out, at most one of an item, shape [annotation]."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(data))
    several = np.diff(data.starts)[data.item[order]] > 1
    order = order[several]
    _, first = np.unique(data.item[order], return_index=True)
    out = np.zeros(len(data), dtype=bool)
    out[order[np.sort(first)][: int(share * len(data))]] = True
    return out


def smoothed(votes: Floats) -> Floats:
    """Shares of the labels of each item with pseudo-counts of the largest likelihood."""
    pooled = votes.sum(axis=0) + 0.5
    pooled = pooled / pooled.sum()
    n = votes.sum(axis=1)

    def loss(log_total: float) -> float:
        total = np.exp(log_total)
        alpha = total * pooled
        sums = gammaln(total) - gammaln(total + n)
        return -float(sums.sum() + (gammaln(alpha + votes) - gammaln(alpha)).sum())

    total = np.exp(minimize_scalar(loss, bounds=(-6, 9), method="bounded").x)
    return np.asarray((votes + total * pooled) / (n + total)[:, None])


def measured(data: am.Annotations, seed: int, draws: int) -> dict[str, Any]:
    """Hold out labels of a set, and predict them."""
    out = held_out(data, HELD_OUT, seed)
    kept = np.flatnonzero(~out)
    rows = zip(data.item[kept], data.coder[kept], data.label[kept], strict=True)
    told = am.Annotations.from_records(
        [(data.items[i], data.coders[j], data.labels[k]) for i, j, k in rows], labels=data.labels
    )
    places = {name: n for n, name in enumerate(told.items)}
    voices = {name: n for n, name in enumerate(told.coders)}
    item = np.array([places[data.items[i]] for i in data.item[out]])
    coder = np.array([voices.get(data.coders[j], -1) for j in data.coder[out]])
    at = np.arange(len(item)), data.label[out]

    def entropy(p: Floats) -> Floats:
        return np.asarray(-np.log(np.maximum(p[at], FLOOR)))

    shares = entropy(smoothed(told.votes.astype(float))[item])
    found: dict[str, Any] = {"labels": len(data), "held_out": len(item)}
    found["shares"] = float(shares.mean())
    for model in MODELS:
        begun = time.perf_counter()
        fit = am.fit(told, model, seed=seed, draws=draws, warmup=draws // 2)
        fitted = time.perf_counter()
        said = predicted(fit.tree, told)
        anyone, own = entropy(said.anyone[item]), entropy(said.of_coders(item, coder))
        found[model] = {
            "anyone": float(anyone.mean()),
            "by_coder": float(own.mean()),
            "gain": float((shares - anyone).mean()),
            "gain_error": float((shares - anyone).std(ddof=1) / np.sqrt(len(item))),
            "seconds_fit": fitted - begun,
            "seconds": time.perf_counter() - fitted,
        }
    return found


def sets_of(folders: list[Path], names: list[str] | None) -> list[tuple[str, am.Annotations]]:
    """Read sets with labels of classes, in the order of their names."""
    found = []
    for place in sorted(place for folder in folders for place in folder.iterdir()):
        if names and place.name not in names:
            continue
        paths = [p for p in (place / "labels.csv", place / "labels.csv.gz") if p.exists()]
        try:
            data = am.read(paths[0]) if paths else None
        except AnnotationError as problem:
            common.say(f"{place.name}: {str(problem).splitlines()[0]}")
            continue
        if data is None or data.n_labels > MOST_LABELS or len(data) < 100:
            continue
        found.append((place.name, data))
    return found


def row(name: str, found: dict[str, Any]) -> list[str]:
    """Give the row of a set."""
    ratios = [
        f"{found[model][key] / found['shares']:.3f}"
        for model in MODELS
        for key in ("anyone", "by_coder")
    ]
    gain = found["stack"]
    gained = f"{gain['gain']:.4f} ± {gain['gain_error']:.4f}"
    return [name, f"{found['held_out']:,}", f"{found['shares']:.4f}", *ratios, gained]


def main() -> int:
    """Run the measurement and write its table."""
    parser = common.arguments_of_sets(__doc__, "held_out_labels.md", 400)
    options = parser.parse_args()
    if options.reduced:
        options.draws, options.sets = 100, options.sets or ["bluebirds", "snow_temp"]
    sets: dict[str, Any] = {}
    for name, data in sets_of(common.folders_of(options), options.sets):
        sets[name] = measured(data, options.seed, options.draws)
        common.say(" ".join(row(name, sets[name])))
        common.keep(options.json, {"sets": sets})
    header = ["set", "held out", "shares"]
    header += [f"{model}, {who}" for model in MODELS for who in ("any coder", "the coder")]
    rows = [row(name, found) for name, found in sets.items()]
    text = INTRODUCTION.format(share=HELD_OUT).strip()
    common.write(
        options.out, [text, common.markdown([*header, "gain"], rows), common.machine("scipy")]
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
