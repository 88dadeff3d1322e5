"""Whether the labels that `Fit.next` asks for are worth more than others, on any folder of sets.

    python benchmarks/next_labels.py [--data FOLDER] [--json FILE] [--read sets NAME ...] [--runs 5]

A set is a folder as `truth.py` reads it. Labels are shown at random, three per item on average and
one at least, and the rest is held back. One held-back label per item, on average, may be bought;
each way of choosing buys as many. The coder of a bought label is drawn at random from those held
back, so that only the choice of items is compared.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import common
import numpy as np
from numpy.typing import NDArray
from truth import Set, folders, load, measures

import annomodels as am

SHOWN = 3
WAYS = ("random", "fewest", "least sure", "next", "next, bits")
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

INTRODUCTION = """
Right gold labels in per cent and log loss of the gold (model: {model}), with {shown} labels per
item on average, shown at random, and one more per item on average, bought in one batch: *random*;
of the items with the *fewest* labels; in turn for the items whose label has a probability below
.95, the least sure first (*least sure*); as `fit.next(budget=)` asks (*next*) and as
`fit.next(budget=, by="bits")` asks. Labels that a way does not name, or that nobody gave, are
bought of the least sure. *Said* is the accuracy that the fit expects now and predicts for after
the labels of `fit.next`, *true* what came out. Means over {runs} choices of what is shown;
differences from least sure with their paired standard error over these.
"""


class Held:
    """A set with labels held back."""

    def __init__(self, each: Set, rng: np.random.Generator) -> None:
        data = each.data
        self.each = each
        order = rng.permutation(len(data.item))
        _, first = np.unique(data.item[order], return_index=True)
        rest = np.setdiff1d(np.arange(len(order)), first)
        more = max(0, min(SHOWN * data.n_items - len(first), len(rest) // 2))
        self.shown: Ints = order[np.r_[first, rest[:more]]]
        self.back: dict[int, list[int]] = {}
        for row in order[rest[more:]]:
            self.back.setdefault(int(data.item[row]), []).append(int(row))
        self.budget = min(data.n_items, len(rest) - more)

    def data(self, bought: Ints) -> am.Annotations:
        """Annotations of what is shown and bought, items and labels by their codes."""
        data, rows = self.each.data, np.r_[self.shown, bought]
        names = zip(data.item[rows], data.coder[rows], data.label[rows], strict=True)
        return am.Annotations.from_records(
            [(int(i), int(j), int(k)) for i, j, k in names], labels=range(data.n_labels)
        )

    def spend(self, wanted: list[int]) -> Ints:
        """Take labels in the order of a list of items, while there are any."""
        count: dict[int, int] = {}
        bought: list[int] = []
        for item in wanted:
            place = self.back.get(item, [])
            at = count.get(item, 0)
            if len(bought) < self.budget and at < len(place):
                bought.append(place[at])
                count[item] = at + 1
        return np.array(bought, dtype=np.int64)

    def score(self, fit: am.Fit) -> dict[str, Any]:
        """Accuracy and log loss of the gold labels."""
        truth = self.each.truth[np.array([int(str(i)) for i in fit.data.items])]
        p: Any = fit.tree["truth"]["p_truth"].values
        found = measures(p, truth, np.flatnonzero(truth >= 0))
        return {"accuracy": found["accuracy"], "log_loss": found["log_loss"]}


def limits(fit: am.Fit, budget: int) -> dict[str, Any]:
    """All coders, each for the same number of labels, as the coders of held-back labels are."""
    return {"coders": fit.data.coders, "per_coder": 1 + budget // fit.data.n_coders, "stop": 0.0}


def wishes(
    way: str, fit: am.Fit, held: Held, rng: np.random.Generator
) -> tuple[list[int], list[float] | None]:
    """Items in the order in which a way of choosing wants labels, and what it predicts."""
    items = np.array([int(str(i)) for i in fit.data.items])
    believed: Any = fit.tree["truth"]["p_truth"].values
    p = believed.max(axis=1)
    order = np.argsort(p, kind="stable")
    doubtful = items[order[: max(1, int((p < 0.95).sum()))]]
    unsure = [int(i) for i in np.r_[np.tile(doubtful, 5), np.tile(items[order], 5)]]
    if way == "least sure":
        return unsure, None
    if way == "random":
        pool = [i for i, rows in sorted(held.back.items()) for _ in rows]
        return [pool[n] for n in rng.permutation(len(pool))], None
    if way == "fewest":
        shuffled = rng.permutation(len(items))
        had = np.diff(fit.data.starts)
        turns = sorted((had[n] + t, at, n) for at, n in enumerate(shuffled) for t in range(5))
        return [int(items[n]) for _, _, n in turns] + unsure, None
    by: Any = "gold" if way == "next" else "bits"
    asked = fit.next(held.budget, by, **limits(fit, held.budget))
    told = [1 - x / len(items) for x in (asked.before, asked.after)]
    wanted = [int(str(item)) for item in asked.table["item"]] + unsure
    return wanted, told if way == "next" else None


def one(each: Set, model: Any, seed: int, run: dict[str, Any]) -> dict[str, Any]:
    """Scores of all ways with one choice of what is shown."""
    rng = np.random.default_rng([seed, 17])
    held = Held(each, rng)
    start = am.fit(held.data(np.empty(0, dtype=np.int64)), model, seed=seed, **run)
    rows: dict[str, Any] = {"none": held.score(start)}
    for way in WAYS:
        wanted, told = wishes(way, start, held, rng)
        rows[way] = held.score(am.fit(held.data(held.spend(wanted)), model, seed=seed, **run))
        if told is not None:
            rows["said"] = dict(zip(("before", "after"), told, strict=True))
    return rows


def paired(found: list[dict[str, Any]], way: str, against: str, what: str) -> tuple[float, float]:
    """Mean difference of two ways, and its standard error over runs."""
    gap = np.array([run[way][what] - run[against][what] for run in found])
    error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
    return float(gap.mean()), float(error)


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over runs, differences from least sure, and the forecast beside what came true."""
    mean = {
        way: {what: float(np.mean([run[way][what] for run in found])) for what in found[0][way]}
        for way in found[0]
    }
    gaps = {
        way: {what: paired(found, way, "least sure", what) for what in ("accuracy", "log_loss")}
        for way in WAYS
        if way != "least sure"
    }
    return {"mean": mean, "less least sure": gaps, "runs": found}


def line(name: str, of: dict[str, Any]) -> list[str]:
    """Row of the table."""
    mean, gaps = of["mean"], of["less least sure"]
    accuracy = [f"{100 * mean[way]['accuracy']:.1f}" for way in ("none", *WAYS)]
    gap = [
        f"{100 * gaps[way]['accuracy'][0]:+.2f} ± {100 * gaps[way]['accuracy'][1]:.2f}"
        for way in ("next", "next, bits")
    ]
    loss = [f"{gaps['next']['log_loss'][0]:+.3f} ± {gaps['next']['log_loss'][1]:.3f}"]
    said = [f"{100 * mean['said'][at]:.1f}" for at in ("before", "after")]
    true = [f"{100 * mean[way]['accuracy']:.1f}" for way in ("none", "next")]
    return [name, *accuracy, *gap, *loss, " → ".join(said), " → ".join(true)]


def main() -> int:
    """Run the comparison and write its table."""
    parser = common.arguments_of_sets(__doc__, "next_labels.md", 300)
    parser.add_argument("--runs", type=int, default=5, help="choices of what is shown")
    parser.add_argument("--model", default="stack", help="model of all fits")
    options = parser.parse_args()
    runs = 2 if options.reduced else options.runs
    run = {"chains": 2, "draws": options.draws, "warmup": options.draws // 2, "extend": False}
    sets: dict[str, Any] = {}
    paths = folders(common.folders_of(options), options.sets)
    for path in paths[:1] if options.reduced else paths:
        each, begun = load(path), time.perf_counter()
        found = [one(each, options.model, options.seed + r, run) for r in range(runs)]
        sets[each.name] = summary(found)
        common.say(
            f"{' '.join(line(each.name, sets[each.name]))}, {time.perf_counter() - begun:.0f} s"
        )
        common.keep(options.json, {"sets": sets})
    differences = ("next − least sure", "bits − least sure", "log loss, next − least sure")
    header = ["set", "none", *WAYS, *differences, "said", "true"]
    about = INTRODUCTION.format(model=options.model, shown=SHOWN, runs=runs).strip()
    rows = [line(name, of) for name, of in sets.items()]
    common.write(options.out, [about, common.markdown(header, rows), common.machine()])
    return 0


if __name__ == "__main__":
    sys.exit(main())
