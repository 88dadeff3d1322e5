"""Whether the labels that `Fit.next` asks for are worth more than others, on public sets.

    python benchmarks/next_labels.py [--reduced] [--sets snow_rte possent]

Of every item a few labels are shown and the rest is held back. One held-back label per item, on
average, may be bought; each way of choosing buys as many. The coder of a bought label is drawn at
random from those held back, so that only the choice of items is compared.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import common
import numpy as np
from numpy.typing import NDArray

import annomodels as am

SETS = {"snow_rte": 3, "snow_temp": 3, "possent": 3, "bluebirds": 5, "dog": 3, "face": 3}
"""Set -> labels shown of every item."""

RUN = {"chains": 2, "draws": 300, "warmup": 200, "extend": False}
WAYS = ("none", "random", "least sure", "next", "next, bits")

INTRODUCTION = """
Share of right gold labels in per cent, of the hierarchical model, with 3 labels per item (bluebirds
5) and one more per item on average, bought in one batch: none; at random; in turn for the items
whose label has a probability below .95, the least sure first (*least sure*); as `fit.next(budget=)`
asks; as `fit.next(budget=, by="bits")` asks. *Expected* is what the fit says before and after the
labels of `fit.next`. Means over {runs} choices of what is shown, with the standard error of the
difference between next and random over these.
"""

Ints = NDArray[np.int64]


class Held:
    """A set with labels held back."""

    def __init__(self, folder: Path, shown: int, rng: np.random.Generator) -> None:
        with (folder / "labels.csv").open(newline="", encoding="utf-8") as file:
            rows = sorted(
                {(r["item"], r["coder"]): r["label"] for r in csv.DictReader(file)}.items()
            )
        with (folder / "gold.csv").open(newline="", encoding="utf-8") as file:
            self.gold = {r["item"]: r["label"] for r in csv.DictReader(file)}
        order = rng.permutation(len(rows))
        self.shown: list[tuple[str, str, str]] = []
        self.back: dict[str, list[tuple[str, str, str]]] = {}
        count: dict[str, int] = {}
        for n in order:
            (item, coder), label = rows[n]
            count[item] = count.get(item, 0) + 1
            place = self.shown if count[item] <= shown else self.back.setdefault(item, [])
            place.append((item, coder, label))
        self.labels = sorted({label for _, label in rows} | set(self.gold.values()))

    def data(self, bought: dict[str, int]) -> am.Annotations:
        """Annotations with so many held-back labels of each item."""
        more = [row for item, n in bought.items() for row in self.back.get(item, [])[:n]]
        return am.Annotations.from_records([*self.shown, *more], labels=self.labels)

    def score(self, fit: am.Fit) -> float:
        """Share of right gold labels in per cent."""
        table = fit.gold().table
        said = dict(zip(table["item"], table["label"], strict=True))
        return 100 * float(np.mean([said[i] == k for i, k in self.gold.items() if i in said]))


def spend(wanted: list[str], held: Held, budget: int) -> dict[str, int]:
    """Take labels in the order of a list of items, while there are any."""
    bought: dict[str, int] = {}
    for item in wanted:
        if budget and bought.get(item, 0) < len(held.back.get(item, [])):
            bought[item] = bought.get(item, 0) + 1
            budget -= 1
    return bought


def wishes(way: str, fit: am.Fit, held: Held, budget: int, rng: np.random.Generator) -> list[str]:
    """Items in the order in which a way of choosing wants labels of them."""
    items = [str(name) for name in fit.data.items]
    fill = [items[n] for _ in range(5) for n in rng.permutation(len(items))]
    if way == "none":
        return []
    if way == "random":
        pool = [item for item in items for _ in held.back.get(item, [])]
        return [pool[n] for n in rng.permutation(len(pool))]
    if way == "least sure":
        p = fit.gold().table["probability"].to_numpy()
        order = np.argsort(p, kind="stable")[: max(1, int((p < 0.95).sum()))]
        return [items[n] for _ in range(5) for n in order] + fill
    by = "gold" if way == "next" else "bits"
    asked = fit.next(budget, by, **limits(fit, budget))
    return [str(item) for item in asked.table["item"]] + fill


def limits(fit: am.Fit, budget: int) -> dict[str, Any]:
    """All coders, each for the same number of labels, as the coders of held-back labels are."""
    return {"coders": fit.data.coders, "per_coder": 1 + budget // fit.data.n_coders, "stop": 0.0}


def one(folder: Path, shown: int, seed: int) -> tuple[list[float], float, float]:
    """Scores of all ways, and the wrong labels expected before and after."""
    rng = np.random.default_rng(seed)
    held = Held(folder, shown, rng)
    start = am.fit(held.data({}), "hierarchical", seed=seed, **RUN)
    budget = start.data.n_items
    asked = start.next(budget, **limits(start, budget))
    scores = []
    for way in WAYS:
        bought = spend(wishes(way, start, held, budget, rng), held, budget)
        fit = (
            start if way == "none" else am.fit(held.data(bought), "hierarchical", seed=seed, **RUN)
        )
        scores.append(held.score(fit))
    n = budget / 100
    return scores, 100 - asked.before / n, 100 - asked.after / n


def main() -> int:
    """Run the comparison and write its table."""
    parser = common.arguments(__doc__, "next_labels.md")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    chosen = parser.parse_args()
    runs = 2 if chosen.reduced else 5
    rows = []
    for name in chosen.sets[:1] if chosen.reduced else chosen.sets:
        common.say(name)
        found = [one(common.shared_data() / name, SETS[name], chosen.seed + r) for r in range(runs)]
        scores = np.array([scores for scores, _, _ in found])
        gap = scores[:, 3] - scores[:, 1]
        error = gap.std(ddof=1) / np.sqrt(runs)
        expected = [np.mean([run[at] for run in found]) for at in (1, 2)]
        rows.append(
            [
                name,
                *(f"{value:.1f}" for value in scores.mean(axis=0)),
                f"{gap.mean():+.1f} ± {error:.1f}",
                f"{expected[0]:.1f} → {expected[1]:.1f}",
            ]
        )
        common.say(" ".join(rows[-1]))
    header = ["set", *WAYS, "next − random", "expected"]
    common.write(
        chosen.out,
        [INTRODUCTION.format(runs=runs).strip(), common.markdown(header, rows), common.machine()],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
