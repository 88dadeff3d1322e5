"""Measure what a fit says on simulated crowds of many kinds, against their truth.

    python benchmarks/regimes.py [--sets 20] [--json FILE] [--regimes NAME ...] [--start 0]
    python benchmarks/regimes.py --implied-alpha [--sets 40]

A regime is a generator of `crowds.py` with sizes that vary from set to set. Columns: share of right
labels (votes, Dawid-Skene, the default model); log loss over that of the vote shares (Dawid-Skene,
hierarchical, the default); wrong labels, expected and real; sets whose interval contains the real
number; coders (share of right labels) and classes whose real share is in its interval; items listed
as contested; verdicts; and what the coders are called. Truth is what was simulated.

With `--implied-alpha` the alpha that the default implies for 200 items is compared with that of the
labels of 20,200 items by the same coders.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import common
import crowds
import numpy as np
import truth as truths

import annomodels as am

Rng = np.random.Generator
Crowd = tuple[crowds.Rows, crowds.Truth]


# -- crowds that only this study needs ----------------------------------------------------------


def neighbor(rng: Rng, size: int = 400) -> Crowd:
    """Draw a class that most coders read as its neighbor."""
    base = np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.55, 0.4]])
    truth = rng.choice(3, size, p=[0.5, 0.3, 0.2])
    rows = [np.stack([rng.dirichlet(15 * row + 0.01) for row in base]) for _ in range(20)]
    return crowds.records(crowds.labeled(rng, truth, rows, 6)), crowds.told(truth)


def _by_difficulty(rng: Rng, hard: Any, k: int, per_item: int, n_coders: int = 20) -> Crowd:
    size = len(hard)
    truth = rng.integers(0, k, size)
    odds = np.log(1 / rng.uniform(0.1, 0.3, n_coders) - 1) - hard[:, None]
    right = rng.random((size, n_coders)) < 1 / (1 + np.exp(-odds))
    other = (truth[:, None] + rng.integers(1, k, (size, n_coders))) % k
    y = crowds.thinned(rng, np.where(right, truth[:, None], other), per_item)
    return crowds.records(y), crowds.told(truth)


def difficult(rng: Rng, size: int = 200, *, sd: float = 1.0, per_item: int = 12) -> Crowd:
    """Draw items that only differ in difficulty: no item has two readings."""
    return _by_difficulty(rng, rng.normal(0, sd, size), int(rng.choice([3, 4, 5])), per_item)


def heavy_tails(rng: Rng, size: int = 200) -> Crowd:
    """Draw items some of which are far more difficult than others."""
    return _by_difficulty(rng, rng.standard_t(2, size), 4, 7, 12)


def hard_group(rng: Rng, size: int = 200) -> Crowd:
    """Draw items 40 % of which tempt coders to one wrong class."""
    truth = rng.integers(0, 3, size)
    hard = rng.random(size) < 0.4
    tempting = (truth + rng.integers(1, 3, size)) % 3
    y = crowds.labeled(rng, truth, [crowds.one_coin(a, 3) for a in rng.uniform(0.8, 0.95, 12)], 7)
    led = hard[:, None] & (rng.random(y.shape) < 0.45) & (y >= 0)
    return crowds.records(np.where(led, tempting[:, None], y)), crowds.told(truth)


def ordinal(rng: Rng, size: int = 200, *, k: int = 5) -> Crowd:
    """Draw labels of an ordered scale; errors go to neighbors."""
    place = rng.normal(0, 1, size)
    cuts = np.linspace(-1.5, 1.5, k - 1)
    seen = place[:, None] + rng.normal(0, 1, (size, 12)) * rng.uniform(0.4, 1.0, 12)
    y = crowds.thinned(rng, (seen[:, :, None] > cuts).sum(axis=2), 5)
    return crowds.records(y), crowds.told((place[:, None] > cuts).sum(axis=1))


@dataclass(frozen=True)
class Regime:
    """A kind of crowd: its generator, options of it, and sizes that sets are drawn from.

    `given` are items of known truth that the fit is given, and how many of these are wrong; what is
    measured leaves them out.
    """

    make: Callable[..., Crowd]
    options: dict[str, Any] = field(default_factory=dict)
    sizes: tuple[int, ...] = (150, 200, 300)
    scale: str = "nominal"
    given: tuple[int, int] = (0, 0)


REGIMES: dict[str, Regime] = {
    "clean": Regime(crowds.clean),
    "noise, 2 classes": Regime(crowds.noise, {"k": 2}),
    "noise, 4 classes": Regime(crowds.noise, {"k": 4, "n_coders": 20, "per_item": 3}),
    "noise, habits": Regime(crowds.noise, {"k": 3, "habits": 0.2}),
    "rare class": Regime(crowds.rare, sizes=(500,)),
    "adversaries": Regime(crowds.adversaries, sizes=(200,)),
    "spammers": Regime(crowds.spammers),
    "near chance": Regime(crowds.clean, {"k": 2, "low": 0.5, "high": 0.65}),
    "neighbor": Regime(neighbor, sizes=(400,)),
    "copies 97 %": Regime(crowds.copies, sizes=(200,)),
    "copies 80 %": Regime(crowds.copies, {"rate": 0.8}, sizes=(200,)),
    "cliques": Regime(crowds.cliques),
    "shared bias": Regime(crowds.shared_bias, {"follow": 0.9}, sizes=(300,)),
    "split guideline": Regime(crowds.split_guideline),
    "two coders": Regime(crowds.two_coders),
    "three coders": Regime(crowds.clean, {"n_coders": 3, "per_item": None}),
    "sparse": Regime(crowds.sparse, sizes=(500,)),
    "25 labels": Regime(crowds.near_chance),
    "ordinal": Regime(ordinal, scale="ordinal"),
    "difficult, sd 1": Regime(difficult, sizes=(200,)),
    "difficult, sd 1.5": Regime(difficult, {"sd": 1.5, "per_item": 16}, sizes=(200,)),
    "heavy tails": Regime(heavy_tails),
    "hard group": Regime(hard_group),
    "swapped classes": Regime(crowds.swapped),
    "items twice": Regime(crowds.items_twice),
    "drift": Regime(crowds.drift),
    "known truth": Regime(crowds.clean, given=(40, 0)),
    "known truth, 20 % wrong": Regime(crowds.clean, given=(40, 8)),
}


def crowd(name: str, number: int, seed: int) -> truths.Set:
    """Draw a crowd of a regime; the same for the same name, number and seed."""
    regime = REGIMES[name]
    rng = np.random.default_rng([seed, number, zlib.crc32(name.encode())])
    rows, truth = regime.make(rng, int(rng.choice(regime.sizes)), **regime.options)
    labels = sorted({label for *_, label in rows}) if regime.scale != "nominal" else None
    gold = crowds.spoiled(rng, truth, *regime.given)
    data = am.Annotations.from_records(rows, scale=regime.scale, labels=labels, truth=gold)
    code = {str(label): k for k, label in enumerate(data.labels)}
    rest = [-1 if str(i) in gold else code.get(truth[str(i)], -1) for i in data.items]
    return truths.Set(name, data, np.array(rest))


def measured(each: truths.Set, seed: int) -> dict[str, Any]:
    """Measure votes, single models and the default on a crowd."""
    out: dict[str, Any] = {
        "votes": truths.measures(truths.vote_shares(each.data.votes), each.truth, each.known)
    }
    for model in ("dawid-skene", "hierarchical"):
        fit = am.fit(each.data, model, seed=seed, chains=2, draws=400, warmup=300, threads=1)
        p = fit.tree["truth"]["p_truth"].values
        out[model] = truths.measures(p, each.truth, each.known)
    fit = am.fit(each.data, seed=seed, threads=1)
    state, check = fit.gold().table["state"], fit.check()
    out["default"] = truths.of_fit(each, fit, each.known, 0.0) | {
        "verdict": check.verdict,
        "contested": float((state == "contested").mean()),
        "kinds": dict(Counter(fit.coders().table["kind"])),
        "found": sorted(check.table.query("not ok")["name"]),
        "model_alpha": _model_alpha(fit),
    }
    return out


def _model_alpha(fit: am.Fit) -> list[float]:
    """Alpha as the model implies it, with its interval."""
    row = fit.agreement().table.set_index("coefficient").loc["alpha"]
    return [float(row[name]) for name in ("model", "model_low", "model_high")]


def _skewed(rng: Rng, size: int) -> Crowd:
    truth = rng.choice(3, size, p=[0.9, 0.07, 0.03])
    rows = [crowds.one_coin(each, 3) for each in rng.uniform(0.7, 0.95, 8)]
    return crowds.records(crowds.labeled(rng, truth, rows, 5)), crowds.told(truth)


CELLS: dict[str, Callable[[Rng, int], Crowd]] = {
    "clean": lambda rng, n: crowds.clean(rng, n),
    "difficulty": lambda rng, n: _by_difficulty(rng, rng.normal(0, 1, n), 3, 5, 10),
    "skewed": _skewed,
}


def implied_alpha(name: str, sets: int, seed: int) -> str:
    """Count how often the interval of the implied alpha holds that of very many items."""
    gaps, held = [], 0
    for number in range(sets):
        rng = np.random.default_rng([seed, number, len(name)])
        rows = list(CELLS[name](rng, 20_200)[0])
        some = set(rng.choice(sorted({item for item, *_ in rows}), 200, replace=False))
        true = float(am.agreement(am.Annotations.from_records(rows), "alpha").value)
        data = am.Annotations.from_records([one for one in rows if one[0] in some])
        value, low, high = _model_alpha(am.fit(data, seed=1, threads=1))
        gaps.append(value - true)
        held += low <= true <= high
    return f"{name}: {held} of {sets} intervals hold alpha, mean difference {np.mean(gaps):.3f}"


def row(name: str, sets: list[dict[str, Any]]) -> list[str]:
    """Give the row of a regime."""

    def mean(model: str, what: str) -> float:
        return float(np.mean([each[model][what] for each in sets]))

    def over(model: str) -> str:
        return f"{mean(model, 'log_loss') / mean('votes', 'log_loss'):.2f}"

    mine = [each["default"] for each in sets]

    def part(of: str, whole: str) -> str:
        return f"{sum(each[of] for each in mine):.0f}/{sum(each[whole] for each in mine):.0f}"

    kinds: Counter[str] = sum((Counter(each["kinds"]) for each in mine), Counter())
    verdicts = Counter(each["verdict"] for each in mine)
    found = Counter(one for each in mine for one in each["found"])
    return [
        name,
        "/".join(f"{mean(m, 'accuracy'):.3f}" for m in ("votes", "dawid-skene", "default")),
        "/".join(over(m) for m in ("dawid-skene", "hierarchical", "default")),
        f"{mean('default', 'expected_wrong'):.1f}/{mean('default', 'wrong'):.1f}",
        f"{sum(each['covered'] for each in mine)}/{len(mine)}",
        part("coders_covered", "coders"),
        part("prevalence_covered", "classes"),
        f"{100 * mean('default', 'contested'):.1f} %",
        ", ".join(f"{verdict} {n}" for verdict, n in verdicts.most_common()),
        ", ".join(f"{kind} {n}" for kind, n in kinds.most_common()),
        ", ".join(f"{one} {n}" for one, n in found.most_common(4)),
    ]


HEADER = [
    "crowd", "right: votes/DS/default", "log loss: DS/hierarchical/default",
    "wrong: expected/real", "covered", "coders", "classes", "contested", "verdict", "coders are",
    "findings",
]  # fmt: skip

ABOUT = (
    "Coders: those whose share of right labels is in its 95 % interval. Known truth: the fit is "
    "given the truth of 40 items, and the numbers are those of the others."
)


def main() -> None:
    """Measure, and write the table."""
    parser = common.arguments(__doc__, "regimes.md")
    parser.add_argument("--sets", type=int, default=20, help="simulated crowds per regime")
    parser.add_argument("--start", type=int, default=0, help="number of the first crowd")
    parser.add_argument("--json", type=Path, help="file for all numbers")
    parser.add_argument("--regimes", nargs="+", choices=list(REGIMES), help="some of the regimes")
    parser.add_argument("--implied-alpha", action="store_true", help="measure the implied alpha")
    options = parser.parse_args()
    n = 2 if options.reduced else options.sets
    if options.implied_alpha:
        for name in CELLS:
            common.say(implied_alpha(name, n, options.seed))
        return
    done: dict[str, list[dict[str, Any]]] = {}
    for name in options.regimes or REGIMES:
        numbers = range(options.start, options.start + n)
        done[name] = [measured(crowd(name, m, options.seed), 1) for m in numbers]
        common.say(" | ".join(row(name, done[name])))
        common.keep(options.json, done)
    table = common.markdown(HEADER, [row(name, sets) for name, sets in done.items()])
    said = f"{n} crowds per regime, seed {options.seed}. {ABOUT} {common.machine()}"
    common.write(options.out, [table, said])


if __name__ == "__main__":
    main()
