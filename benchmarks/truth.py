"""Measure what the first page says against known truth, on any folder of sets.

    python benchmarks/truth.py [--data FOLDER] [--json FILE] [--sets NAME ...] [--picks 20]
    python benchmarks/truth.py --learn [--data FOLDER]

A set is a folder with labels.csv (or labels.csv.gz: item, coder, label) and gold.csv (item, label).
Rows: votes, hierarchical, the members of the stack, the stack, and the stack with 30 and 60 items
of known truth (means over random picks, measured on the other items). `--leave-one-out` gives the
stack of each set the constants that were learnt on the other sets of the folder; `--learn` prints
the constants learnt on all of them, which `annomodels.models.Stack` has as its defaults.
"""

from __future__ import annotations

import csv
import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import common
import numpy as np
from numpy.typing import NDArray

import annomodels as am
from annomodels.models.mixtures.stack import Dependence, Stack, layered, vote_shares

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

OLD = (
    "snow_rte", "snow_temp", "snow_wsd", "bluebirds", "dog", "face", "possent", "web",
    "weather_cf", "weather_amt", "music",
)  # fmt: skip
NEW = ("product", "ducks", "adult2", "trec", "aircrowd6", "valence5")
KNOWN = (30, 60)
FLOOR = 1e-15
HEAD = """\
Mean log loss of P(truth) as a ratio to that of the vote shares (given in nats); labels that are
wrong, and how many the stack expects with its 95 % interval; coders with 20 labels or more whose
share of right labels lies in its 95 % interval, and classes whose share of items does. +30 and +60:
with so many items of known truth, means of random picks ({picks} of each), on the other items.
"""
# how far sets are taken to differ, as a share of what is learnt: intervals of sets that are left
# out hold on 15 or 16 of 17 with it, as they do without
NARROWED = 0.92
# coders with fewer labels of known truth have no accuracy to compare with
FEWEST = 20


@dataclass(frozen=True, eq=False)
class Set:
    """Labels and the truth of the items, -1 where it is not known or is no label of the set."""

    name: str
    data: am.Annotations
    truth: Ints

    @property
    def known(self) -> Ints:
        """Items whose truth is known."""
        return np.flatnonzero(self.truth >= 0)


def load(folder: Path) -> Set:
    """Read the labels and the gold of a folder."""
    labels = next(p for p in (folder / "labels.csv", folder / "labels.csv.gz") if p.exists())
    data = am.read(labels)
    with (folder / "gold.csv").open(encoding="utf-8", newline="") as file:
        known = {row["item"]: row["label"] for row in csv.DictReader(file)}
    code = {str(label): k for k, label in enumerate(data.labels)}
    truth = [code.get(known.get(str(item), ""), -1) for item in data.items]
    return Set(folder.name, data, np.array(truth))


def folders(data: Path, names: list[str] | None) -> list[Path]:
    """Folders that hold labels and gold of classes, in a fixed order."""
    if names:
        return [data / name for name in names]
    standard = [name for name in (*OLD, *NEW) if (data / name / "gold.csv").exists()]
    if standard:
        return [data / name for name in standard]
    return sorted(path.parent for path in data.glob("*/gold.csv"))


# -- what is measured --------------------------------------------------------------------------


def measures(p: Floats, truth: Ints, known: Ints) -> dict[str, Any]:
    """Accuracy, log loss, calibration error and wrong labels on items of known truth."""
    p, truth = p[known], truth[known]
    at = np.arange(len(truth))
    top = p.max(axis=1)
    best = p >= top[:, None] * (1 - 1e-9)
    right = best[at, truth] / best.sum(axis=1)
    where = np.minimum((top * 10).astype(int), 9)
    return {
        "accuracy": float(right.mean()),
        "log_loss": float(-np.log(np.maximum(p[at, truth], FLOOR)).mean()),
        "ece": float(np.abs(np.bincount(where, right - top, minlength=10)).sum() / len(truth)),
        "wrong": float((1 - right).sum()),
        "expected_wrong": float((1 - top).sum()),
    }


def of_fit(each: Set, fit: am.Fit, known: Ints, seconds: float) -> dict[str, Any]:
    """All that a fit says, against the truth of the items `known`."""
    p = fit.tree["truth"]["p_truth"].values
    found = measures(p, each.truth, known)
    drawn = wrong_draws(fit, known)
    low, high = np.quantile(drawn, [0.025, 0.975])
    found |= {
        "low": float(low),
        "high": float(high),
        "covered": bool(np.floor(low) <= found["wrong"] <= np.ceil(high)),
        "half_width": float((high - low) / 2 / max(np.median(drawn), 1.0)),
    }
    found |= of_coders(each, fit)
    found |= of_prevalence(each, fit)
    return found | {"seconds": seconds, "verdict": fit.check().verdict}


def wrong_draws(fit: am.Fit, known: Ints) -> Floats:
    """Draws of the number of wrong labels among some items."""
    from annomodels.summaries.draws import choices
    from annomodels.summaries.stacked import truth_draws

    best = fit.tree["truth"]["p_truth"].values.argmax(axis=1)
    rng = np.random.default_rng(0)
    _, truths = truth_draws(fit.tree, fit.data, 1000)
    return np.array(
        [(choices(p[known], rng.random(len(known))) != best[known]).sum() for _, p in truths],
        dtype=float,
    )


def of_coders(each: Set, fit: am.Fit) -> dict[str, int]:
    """Count coders with enough labels, and those whose share of right labels is in its interval.

    The share is what known truth shows; the accuracy, on many items, is counted beside it.
    """
    data = each.data
    of_label = each.truth[data.item]
    given = of_label >= 0
    n = np.bincount(data.coder[given], minlength=data.n_coders)
    right = np.bincount(data.coder[given], (data.label == of_label)[given], data.n_coders)
    table = fit.coders().table.set_index("coder")
    table = table.loc[list(data.coders)]
    many = n >= FEWEST
    share = right[many] / n[many]
    inside = {}
    for name in ("share_right", "accuracy"):
        low, high = (table[f"{name}_{end}"].to_numpy()[many] for end in ("low", "high"))
        inside[name] = int(((low <= share) & (share <= high)).sum())
    return {
        "coders": int(many.sum()),
        "coders_covered": inside["share_right"],
        "accuracy_covered": inside["accuracy"],
    }


def of_prevalence(each: Set, fit: am.Fit) -> dict[str, int]:
    """Count classes, and those whose true share lies in the interval."""
    truth = each.truth[each.known]
    share = np.bincount(truth, minlength=each.data.n_labels) / len(truth)
    table = fit.prevalence().table
    low, high = table["prevalence_low"].to_numpy(), table["prevalence_high"].to_numpy()
    inside = (low - 1e-9 <= share) & (share <= high + 1e-9)
    return {"classes": len(share), "prevalence_covered": int(inside.sum())}


# -- fits --------------------------------------------------------------------------------------


def timed(data: am.Annotations, model: Any, seed: int, draws: int) -> tuple[am.Fit, float]:
    """Fit, and say how long it took."""
    begun = time.perf_counter()
    fit = am.fit(data, model, seed=seed, draws=draws, warmup=draws // 2)
    return fit, time.perf_counter() - begun


def rows_of(each: Set, model: Stack, seed: int, draws: int, picks: int) -> dict[str, Any]:
    """All rows of a set."""
    rows: dict[str, Any] = {"votes": measures(vote_shares(each.data.votes), each.truth, each.known)}
    fit, seconds = timed(each.data, "hierarchical", seed, draws)
    rows["hierarchical"] = of_fit(each, fit, each.known, seconds)
    fit, seconds = timed(each.data, model, seed, draws)
    rows["stack"] = of_fit(each, fit, each.known, seconds)
    for n, name in enumerate(model.names[1:], 1):
        p = np.exp(fit.tree["stack"]["member"].values[n])
        rows[name] = measures(p, each.truth, each.known)
    common.say(f"{each.name} without gold")
    for n_known in KNOWN if picks else ():
        found = [taught(each, model, seed, draws, n_known, pick) for pick in range(picks)]
        rows[f"stack+{n_known}"] = _mean(found)
        rows[f"votes+{n_known}"] = _mean([votes for votes, _ in _pairs(each, n_known, picks)])
        common.say(f"{each.name} with {n_known} known items")
    return rows


def picked(each: Set, n_known: int, pick: int) -> Ints:
    """Items of known truth chosen at random, never more than half of them."""
    rng = np.random.default_rng([n_known, pick])
    return np.asarray(rng.permutation(each.known)[: min(n_known, len(each.known) // 2)])


def _pairs(each: Set, n_known: int, picks: int) -> list[tuple[dict[str, Any], int]]:
    """Measures of the votes on the items that are not picked."""
    shares = vote_shares(each.data.votes)
    rest = [np.setdiff1d(each.known, picked(each, n_known, pick)) for pick in range(picks)]
    return [(measures(shares, each.truth, some), len(some)) for some in rest]


def taught(
    each: Set, model: Stack, seed: int, draws: int, n_known: int, pick: int
) -> dict[str, Any]:
    """Measures of a stack that is told the truth of some items, on the others."""
    told = picked(each, n_known, pick)
    gold = np.full(each.data.n_items, -1)
    gold[told] = each.truth[told]
    fit, seconds = timed(each.data.replace(gold=gold), model, seed + pick, draws)
    return of_fit(each, fit, np.setdiff1d(each.known, told), seconds)


def _mean(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Means of numbers; of verdicts, how often each was given."""
    out: dict[str, Any] = {}
    for key in found[0]:
        values = [part[key] for part in found]
        if isinstance(values[0], str):
            out[key] = {value: values.count(value) for value in sorted(set(values))}
        else:
            out[key] = float(np.mean(values))
    return out


# -- constants learnt across sets --------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Seen:
    """What the members say of a set, and its truth: all that the constants are learnt from."""

    p: Floats
    held_out_weight: Floats
    dependence: Dependence
    truth: Ints
    votes: float


def seen(each: Set, seed: int, draws: int) -> Seen:
    """Fit the members of the stack to a set."""
    fit, _ = timed(each.data, "stack", seed, draws)
    stack = fit.tree["stack"].to_dataset()
    p = np.exp(stack["member"].values)[:, each.known]
    truth = each.truth[each.known]
    votes = measures(p[0], truth, np.arange(len(truth)))["log_loss"]
    common.say(f"{each.name} seen")
    dependence = Dependence(**json.loads(fit.tree.attrs["dependence"]))
    return Seen(p, stack["held_out_weight"].values, dependence, truth, votes)


def learnt(sets: list[Seen]) -> Stack:
    """Learn the constants of a stack: first the mixture, then how sets differ from each other."""
    from scipy.optimize import minimize

    start = _numbers(Stack())

    def loss(x: Floats) -> float:
        ratios = np.array([_log_loss(_model(x, model), each) / each.votes for each in sets])
        return float(
            ratios.mean()
            + 0.5 * np.maximum(ratios - 1.0, 0.0).mean()
            + 0.02 * ((x - start) ** 2).mean()
        )

    model = Stack()
    for _ in range(2):
        x = minimize(loss, _numbers(model), method="L-BFGS-B", options={"maxiter": 30}).x
        model = _model(x, model)
        for _ in range(5):
            model = replace(model, spread=_spread(model, sets))
    first, second, third = model.spread
    return replace(model, spread=(NARROWED * first, NARROWED * second, NARROWED * third))


def _numbers(model: Stack) -> Floats:
    odds = [np.log(share / (1 - share)) for share in (model.evidence, model.votes, model.unknown)]
    return np.array(
        [
            *model.log_prior_weight,
            *np.log(model.powers),
            *odds,
            np.log(model.sharpness),
            model.together / 10,
        ]
    )


def _model(x: Floats, like: Stack) -> Stack:
    m = len(Stack().members)
    evidence, votes, unknown = 1.0 / (1.0 + np.exp(-x[2 * m : 2 * m + 3]))
    return replace(
        like,
        log_prior_weight=tuple(x[:m].tolist()),
        powers=tuple(np.exp(x[m : 2 * m]).tolist()),
        evidence=float(evidence),
        votes=float(votes),
        unknown=float(unknown),
        sharpness=float(np.exp(x[2 * m + 3])),
        together=float(10 * x[2 * m + 4]),
    )


def _mixture(model: Stack, each: Seen) -> Floats:
    return model.log_mixture(each.p, model.weights(each.held_out_weight))


def _log_loss(model: Stack, each: Seen) -> float:
    # what is learnt is as good as P(truth) averaged over the layer, as a fit gives it
    z = np.random.default_rng(0).standard_normal((8, 2 + each.p.shape[2]))
    z, log_q = np.concatenate([z, -z]), _mixture(model, each)
    views = [layered(log_q, *model.layer(z, each.dependence, n)).mean(axis=0) for n in (0, 1)]
    apart = each.dependence.independent
    p = (1.0 - apart) * views[0] + apart * views[1]
    return measures(p, each.truth, np.arange(len(p)))["log_loss"]


def _spread(model: Stack, sets: list[Seen], most: int = 400) -> tuple[float, float, float]:
    """One step of EM for the standard deviations of the layer, by Laplace's approximation."""
    from scipy.optimize import minimize

    from annomodels.engines.layer import log_truth

    squares: list[list[float]] = [[], [], []]
    rng = np.random.default_rng(0)
    for each in sets:
        k = each.p.shape[2]
        # sets count alike, however many of their items are known
        some = rng.permutation(len(each.truth))[:most]
        log_q, truth = _mixture(model, each)[some], each.truth[some]

        def cost(z: Floats, log_q: Floats = log_q, truth: Ints = truth, each: Seen = each) -> float:
            layer = model.layer(z[None], each.dependence)
            return -log_truth(log_q, truth, *layer) + 0.5 * float(z @ z)

        z = minimize(cost, np.zeros(2 + k), method="BFGS", options={"maxiter": 60}).x
        step, here = 0.05 * np.eye(2 + k), cost(z)
        bent = np.array([(cost(z + e) - 2 * here + cost(z - e)) / 0.05**2 for e in step])
        size = z**2 + 1.0 / np.maximum(bent, 1.0)
        for square, part in zip(squares, (size[:1], size[1:2], size[2:]), strict=True):
            square.append(float(part.mean()))
    grown = np.sqrt([np.mean(square) for square in squares]) * np.array(model.spread)
    return float(grown[0]), float(grown[1]), float(grown[2])


# -- tables ------------------------------------------------------------------------------------


def table(sets: dict[str, Any]) -> list[str]:
    """Give the table of the page, and the sentences below it."""
    lines = []
    for name, rows in sets.items():
        stack, votes, ds = rows["stack"], rows["votes"], rows["hierarchical"]
        more = [rows.get(f"stack+{n}") for n in KNOWN]
        lines.append(
            [
                name,
                f"{100 * votes['accuracy']:.1f}", f"{100 * ds['accuracy']:.1f}",
                f"{100 * stack['accuracy']:.1f}",
                f"{votes['log_loss']:.3f}", f"{ds['log_loss'] / votes['log_loss']:.2f}",
                f"{stack['log_loss'] / votes['log_loss']:.2f}",
                *(
                    "" if row is None else
                    f"{row['log_loss'] / rows[f'votes+{n}']['log_loss']:.2f}"
                    for n, row in zip(KNOWN, more, strict=True)
                ),
                f"{stack['wrong']:.0f}",
                f"{stack['expected_wrong']:.0f} ({stack['low']:.0f} to {stack['high']:.0f})",
                f"{stack['coders_covered']} of {stack['coders']}",
                f"{stack['prevalence_covered']} of {stack['classes']}",
            ]
        )  # fmt: skip
    header = [
        "set", "% votes", "% hierarchical", "% stack", "log loss, votes", "hierarchical", "stack",
        "+30", "+60", "wrong", "expected", "coders", "prevalence",
    ]  # fmt: skip
    return [common.markdown(header, lines), *summary(sets)]


def summary(sets: dict[str, Any]) -> list[str]:
    """Means and coverage over groups of sets, in sentences."""
    out = []
    for title, names in (("the first eleven", OLD), ("the others", NEW), ("all", tuple(sets))):
        rows = [sets[name] for name in names if name in sets]
        if not rows:
            continue
        ratio = {
            row: np.mean([r[row]["log_loss"] / r[base]["log_loss"] for r in rows])
            for row, base in (
                ("stack", "votes"),
                ("stack+30", "votes+30"),
                ("stack+60", "votes+60"),
            )
            if all(row in r for r in rows)
        }
        said = ", ".join(f"{row} {value:.3f}" for row, value in ratio.items())
        right = np.mean([r["stack"]["accuracy"] for r in rows])
        covered = sum(r["stack"]["covered"] for r in rows)
        wide = np.median([r["stack"]["half_width"] for r in rows])
        coders = [sum(r["stack"][key] for r in rows) for key in ("coders_covered", "coders")]
        classes = [sum(r["stack"][key] for r in rows) for key in ("prevalence_covered", "classes")]
        out.append(
            f"Of {title}, {len(rows)} sets: log loss over that of the votes {said}; "
            f"{100 * right:.1f} % right; the "
            f"interval of wrong labels holds the real number on {covered} of {len(rows)} sets, and "
            f"half its width is {wide:.2f} of its median in the median set; intervals hold the "
            f"share of right labels of {coders[0]} of {coders[1]} coders and the share of "
            f"{classes[0]} of {classes[1]} classes."
        )
    return out


def main() -> None:
    """Measure, and write the tables."""
    parser = common.arguments_of_sets(__doc__, "truth.md", 1000)
    parser.add_argument("--picks", type=int, default=20, help="random picks of known items")
    parser.add_argument("--learn", action="store_true", help="print the constants of the stack")
    parser.add_argument("--leave-one-out", action="store_true", help="constants of the other sets")
    options = parser.parse_args()
    if options.reduced:
        options.picks, options.draws = min(options.picks, 1), 200
        options.sets = options.sets or ["bluebirds", "snow_wsd"]
    places = folders(options.data or common.shared_data(), options.sets)
    begun = time.perf_counter()
    if options.learn:
        print(learnt([seen(load(p), options.seed, options.draws) for p in places]))
        return
    models = {place: Stack() for place in places}
    if options.leave_one_out:
        known = {place: seen(load(place), options.seed, options.draws) for place in places}
        for place in places:
            models[place] = learnt([known[p] for p in places if p != place])
    sets = {}
    for place in places:
        sets[place.name] = rows_of(
            load(place), models[place], options.seed, options.draws, options.picks
        )
        common.keep(options.json, {"sets": sets})
    minutes = (time.perf_counter() - begun) / 60
    if options.leave_one_out and Path(options.out).name == "truth.md":
        options.out = Path(options.out).with_name("truth_left_out.md")
    parts = [
        HEAD.format(picks=options.picks),
        *table(sets),
        f"{common.machine()} It took {minutes:.0f} minutes.",
    ]
    common.write(Path(options.out), parts)


if __name__ == "__main__":
    sys.exit(main())
