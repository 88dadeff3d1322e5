"""Whether the items that the page gives to decide are those whose gold labels are wrong.

    python benchmarks/decide.py [--data FOLDER] [--json FILE] [--sets NAME ...] [--first 30]

A set is a folder as `truth.py` reads it. The default model is fitted once per set. The first items
of the page's queue are then decided as the known truth says, and the wrong gold labels among them
are counted: for the queue, for the least certain items (largest entropy of the truth), and for
items at random, whose expected count is exact. Only items of known truth take part.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import common
import numpy as np
from numpy.typing import NDArray
from truth import Set, folders, load

import annomodels as am
from annomodels.reporting.explorer import queue
from annomodels.summaries.skills import entropy_bits

Floats = NDArray[np.float64]
FIRST = 30
INTRODUCTION = """
Wrong gold labels (model: stack) that are removed if an expert decides {first} items: the first of
the queue of the report page, the least certain by the entropy of the truth, or items at random
(expected). Means over sets with standard errors; differences are paired.
"""


def removed(each: Set, p: Floats, first: int) -> dict[str, float]:
    """Count the wrong labels among the items that each way of choosing takes first."""
    known = each.known
    p, wrong = p[known], p[known].argmax(axis=1) != each.truth[known]
    first = min(first, len(known))
    ways = {
        "queue": wrong[queue(p)[:first]].sum(),
        "least certain": wrong[np.argsort(-entropy_bits(p), kind="stable")[:first]].sum(),
        "random": first * wrong.mean(),
        "wrong": wrong.sum(),
        "items": len(known),
    }
    return {name: float(value) for name, value in ways.items()}


def mean(values: list[float]) -> tuple[float, float]:
    """Mean and its standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(np.mean(values)), float(error)


def summary(sets: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Means over sets, and paired differences."""
    rows = list(sets.values())
    out = {way: mean([row[way] for row in rows]) for way in ("queue", "least certain", "random")}
    out["queue - least certain"] = mean([row["queue"] - row["least certain"] for row in rows])
    out["queue - 2 x random"] = mean([row["queue"] - 2 * row["random"] for row in rows])
    return out


def main() -> int:
    """Run the comparison and write its table."""
    parser = common.arguments_of_sets(__doc__, "decide.md", 300)
    parser.add_argument("--first", type=int, default=FIRST, help="items that are decided")
    options = parser.parse_args()
    run = {"chains": 2, "draws": options.draws, "warmup": options.draws // 2, "extend": False}
    paths = folders(common.folders_of(options), options.sets)
    sets: dict[str, Any] = {}
    for path in paths[:1] if options.reduced else paths:
        each, begun = load(path), time.perf_counter()
        fit = am.fit(each.data, seed=options.seed, **run)
        p = np.asarray(fit.tree["truth"]["p_truth"].values, dtype=float)
        sets[each.name] = removed(each, p, options.first)
        common.say(f"{each.name} {sets[each.name]}, {time.perf_counter() - begun:.0f} s")
        common.keep(options.json, {"sets": sets, "summary": summary(sets)})
    ways = ("items", "wrong", "queue", "least certain", "random")
    rows = [[name, *(f"{row[way]:.3g}" for way in ways)] for name, row in sets.items()]
    means = [[name, f"{value:.2f} ± {error:.2f}"] for name, (value, error) in summary(sets).items()]
    common.write(
        options.out,
        [
            INTRODUCTION.format(first=options.first).strip(),
            common.markdown(["set", *ways], rows),
            common.markdown(["wrong labels removed", "mean ± standard error"], means),
            common.machine(),
        ],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
