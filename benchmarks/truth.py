"""Measure what the first page says against known truth, on any folders of sets.

    python benchmarks/truth.py [--data FOLDER ...] [--json FILE] [--sets NAME ...] [--picks 20]
    python benchmarks/truth.py --learn [--data FOLDER ...]

A set is a folder with labels.csv (or labels.csv.gz: item, coder, label) and gold.csv (item, label).
Rows: votes, hierarchical, the stack, the stack whose constants were learned on the sets of other
families ("left out"), and the stack with 30 and 60 items of known truth (means over random picks,
measured on the other items). `--learn` prints the constants learned on all sets, which
`annomodels.models.Stack` has as its defaults. Families count alike, and within them sets do.
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
from annomodels.data.copying import kept_of_copies
from annomodels.engines.layer import draw_layer
from annomodels.engines.source.stacked import averaged
from annomodels.models.mixtures.stack import Dependence, Stack, layered

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# sets by what they have in common; others are one more family
FAMILIES = {
    "language": ("snow_rte", "snow_temp", "snow_wsd"),
    "sentiment": ("possent", "weather_cf", "weather_amt", "barzan", "valence5"),
    "perception": ("bluebirds", "dog", "face", "ducks", "aircrowd6", "music"),
    "web": ("web", "trec", "adult2", "product", "hitspam_cf"),
    "medicine": (
        "medicheck_query", "medicheck_alexa", "medicheck_dialogpt", "medicheck_reddit",
        "medrel_treat_adj", "medrel_treat_exp", "medrel_cause_adj", "medrel_cause_exp",
        "optimal_crowd",
    ),
    "safety": ("dices",),
    "language models": ("llmbar_all", "llmbar_vanilla", "judgebench"),
    "laboratory": (
        "mvh_silhouette", "mvh_high_pass", "mvh_edge", "mvh_sketch", "mvh_stylized", "mvh_low_pass",
        "mvh_colour", "mvh_uniform_noise", "mvh_eidolonI", "mvh_false_colour",
    ),
    "programs": ("lf_youtube",),
}  # fmt: skip
# the sets that the first versions of the stack were calibrated on
FIRST = (
    "snow_rte", "snow_temp", "snow_wsd", "bluebirds", "dog", "face", "possent", "web",
    "weather_cf", "weather_amt", "music", "product", "ducks", "adult2", "trec", "aircrowd6",
    "valence5",
)  # fmt: skip
KNOWN = (30, 60)
FLOOR = 1e-15
HEAD = """\
Mean log loss of P(truth) as a ratio to that of the vote shares (given in nats); "left out": with
constants learned on the other families; labels that are wrong, and how many the stack expects with
its 95 % interval, left out; coders with 20 labels or more whose share of right labels lies in its
95 % interval, and classes whose share of items does. +30 and +60: with so many items of known
truth, means of random picks ({picks} of each), on the other items.
"""
# items of a set that constants are learned from: sets count alike, however large
MOST = 300
# what crowds with independent errors count among the families
INDEPENDENT = 0.07
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


def family(name: str) -> str:
    """Return the family of a set."""
    return next((title for title, names in FAMILIES.items() if name in names), "others")


def folders(places: list[Path], names: list[str] | None) -> list[Path]:
    """Folders that hold labels and gold of classes, in a fixed order."""
    found = {path.parent.name: path.parent for data in places for path in data.glob("*/gold.csv")}
    if names:
        return [found[name] for name in names]
    known = [name for of in FAMILIES.values() for name in of if name in found]
    # of a folder that has sets of the families, others have labels of another shape
    return [found[name] for name in known or sorted(found)]


def vote_shares(votes: Any) -> Floats:
    """Shares of the votes of each item, with half a vote more for every class."""
    smooth = votes + 0.5
    return np.asarray(smooth / smooth.sum(axis=1, keepdims=True))


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
    found = measures(p_truth(fit), each.truth, known)
    drawn = wrong_draws(fit, known)
    found |= interval(drawn, found["wrong"])
    found |= of_coders(each, fit)
    found |= of_prevalence(each, fit)
    return found | {"seconds": seconds}


def interval(drawn: Floats, wrong: float) -> dict[str, Any]:
    """Interval of the number of wrong labels, and whether it covers the actual one."""
    low, high = np.quantile(drawn, [0.025, 0.975])
    return {
        "low": float(low),
        "high": float(high),
        "covered": bool(np.floor(low) <= wrong <= np.ceil(high)),
        "half_width": float((high - low) / 2 / max(np.median(drawn), 1.0)),
    }


def wrong_draws(fit: am.Fit, known: Ints) -> Floats:
    """Draws of the number of wrong labels among some items."""
    from annomodels.summaries.draws import choices, truth_draws

    best = p_truth(fit).argmax(axis=1)
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


def rows_of(
    each: Set, model: Stack, seed: int, draws: int, picks: int
) -> tuple[dict[str, Any], Seen]:
    """All rows of a set but the one left out, and what constants are learned from."""
    rows: dict[str, Any] = {"votes": measures(vote_shares(each.data.votes), each.truth, each.known)}
    fit, seconds = timed(each.data, "hierarchical", seed, draws)
    rows["hierarchical"] = of_fit(each, fit, each.known, seconds)
    fit, seconds = timed(each.data, model, seed, draws)
    rows["stack"] = of_fit(each, fit, each.known, seconds)
    common.say(f"{each.name} without gold")
    for n_known in KNOWN if picks else ():
        found = [taught(each, model, seed, n_known, pick) for pick in range(picks)]
        for row, measured in zip(("stack", "votes"), zip(*found, strict=True), strict=True):
            rows[f"{row}+{n_known}"] = _mean(list(measured))
        common.say(f"{each.name} with {n_known} known items")
    return rows, seen(each, fit)


def picked(each: Set, n_known: int, pick: int) -> Ints:
    """Items of known truth chosen at random, never more than half of them."""
    rng = np.random.default_rng([n_known, pick])
    return np.asarray(rng.permutation(each.known)[: min(n_known, len(each.known) // 2)])


def taught(
    each: Set, model: Stack, seed: int, n_known: int, pick: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Measure a stack that is told the truth of some items, and the votes, on the others."""
    told = picked(each, n_known, pick)
    gold = np.full(each.data.n_items, -1)
    gold[told] = each.truth[told]
    p = p_truth(briefly(each.data.replace(gold=gold), model, seed + pick))
    rest = np.setdiff1d(each.known, told)
    shares = vote_shares(each.data.votes)
    return measures(p, each.truth, rest), measures(shares, each.truth, rest)


def briefly(data: am.Annotations, model: Stack, seed: int) -> am.Fit:
    """Fit a stack for P(truth) alone, which does not depend on the draws of the coders."""
    return am.fit(data, model, chains=1, draws=20, warmup=10, seed=seed)


def p_truth(fit: am.Fit) -> Floats:
    """P(truth) of the items [item, truth]."""
    return np.asarray(fit.tree["truth"]["p_truth"].values)


def _mean(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Means of numbers."""
    return {key: float(np.mean([part[key] for part in found])) for key in found[0]}


# -- constants learned across sets -------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Seen:
    """What constants are learned from: mode, votes and dependence of a set, and its truth."""

    family: str
    log_mode: Floats
    counted: Ints  # labels that count in the mode, shape [item]
    votes: Floats
    dependence: Dependence
    truth: Ints
    base: float  # log loss that counts as 1

    def some(self, most: int) -> Seen:
        """Return so many of the items."""
        chosen = np.random.default_rng(1).permutation(len(self.truth))[:most]
        parts = {name: getattr(self, name) for name in ("log_mode", "counted", "votes", "truth")}
        return replace(self, **{name: part[chosen] for name, part in parts.items()})

    def log_mixture(self, model: Stack) -> Floats:
        """Mix what was seen as a stack with other constants does, [item, truth]."""
        return model.log_mixture(self.log_mode, self.counted, self.votes, self.dependence)


def seen(each: Set, fit: am.Fit, independent: bool = False) -> Seen:
    """Keep what constants change; of independent crowds the mode counts as 1, of others votes."""
    dependence = Dependence(**json.loads(fit.tree.attrs["dependence"]))
    truth, votes = each.truth[each.known], each.data.votes[each.known]
    log_mode = fit.tree["stack"]["log_mode"].values[each.known]
    base = np.exp(log_mode) if independent else vote_shares(votes)
    loss = measures(base, truth, np.arange(len(truth)))["log_loss"]
    name = "" if independent else family(each.name)
    counted = counted_labels(fit)[each.known]
    return Seen(name, log_mode, counted, votes.astype(float), dependence, truth, loss)


def counted_labels(fit: am.Fit) -> Ints:
    """Count the labels of each item as the mode does: those of copies once."""
    copies = [np.array(group) for group in json.loads(fit.tree.attrs["copies"])]
    kept = kept_of_copies(fit.data.item, fit.data.coder, copies, fit.data.n_coders)
    return np.bincount(fit.data.item[kept], minlength=fit.data.n_items)


def independent_crowds(seed: int) -> list[Seen]:
    """Return what is seen of simulated crowds whose coders err independently."""
    sizes: list[dict[str, Any]] = [
        {"items": 500, "coders": 20, "labels": 2, "labels_per_item": 5},
        {"items": 500, "coders": 20, "labels": 4, "labels_per_item": 5},
        {"items": 300, "coders": 30, "labels": 3, "labels_per_item": 10},
        {"items": 400, "coders": 20, "labels": 16, "labels_per_item": 4},
        {"items": 3000, "coders": 60, "labels": 4, "labels_per_item": 5},
        {"items": 60, "coders": 6, "labels": 3, "labels_per_item": 4},
    ]
    found = []
    for n, size in enumerate(sizes):
        crowd = am.simulate(**size, seed=seed + n)
        whole = Set(f"independent {n}", crowd.annotations, np.asarray(crowd.truth))
        found.append(seen(whole, briefly(whole.data, Stack(), seed), independent=True))
    return found


NUMBERS = ("halfway", "tempering", "believed", "sharpness", "unknown")


def learned(sets: list[Seen], crowds: list[Seen]) -> Stack:
    """Learn the constants of a stack: as calibrated as can be where families count alike."""
    from scipy.optimize import minimize

    start = _numbers(Stack())
    sets, crowds = [each.some(MOST) for each in sets], [each.some(MOST) for each in crowds]
    families = sorted({each.family for each in sets})

    def cost(x: Floats) -> float:
        model = _model(x)
        parts = []
        for name in families:
            own = [log_loss(model, s) / s.base for s in sets if s.family == name]
            # worse than the votes counts more
            parts.append(np.mean(own) + 0.5 * np.maximum(np.array(own) - 1.0, 0.0).mean())
        close = [np.log((log_loss(model, s) + 0.01) / (s.base + 0.01)) for s in crowds]
        near = 0.003 * float(((x - start) ** 2).sum())
        return float(np.mean(parts)) + INDEPENDENT * float(np.mean(close)) + near

    x = minimize(cost, start, method="L-BFGS-B", options={"maxiter": 15}).x
    return _model(x)


def _numbers(model: Stack) -> Floats:
    logs = np.log([model.halfway, model.tempering, model.sharpness])
    odds = [np.log(share / (1 - share)) for share in (model.believed, model.unknown)]
    return np.array([logs[0], logs[1], odds[0], logs[2], odds[1]])


def _model(x: Floats) -> Stack:
    believed, unknown = 1.0 / (1.0 + np.exp(-x[[2, 4]]))
    halfway, tempering, sharpness = np.exp(x[[0, 1, 3]])
    values = (halfway, tempering, believed, sharpness, unknown)
    return Stack(**{name: float(v) for name, v in zip(NUMBERS, values, strict=True)})


def _layer(n_labels: int, n: int = 24) -> Floats:
    """Numbers z of draws of a layer that stand for all of them."""
    from scipy.special import ndtri

    rng = np.random.default_rng(n_labels)
    even = ndtri((np.arange(n) + 0.5) / n)
    z = np.column_stack([even, rng.permutation(even), rng.standard_normal((n, n_labels))])
    return np.concatenate([z, z * np.array([1.0, -1.0, *[-1.0] * n_labels])])


def log_loss(model: Stack, each: Seen) -> float:
    """Log loss of P(truth) averaged over the layer."""
    log_q = each.log_mixture(model)
    p = layered(log_q, *model.layer(_layer(log_q.shape[1]), each.dependence)).mean(axis=0)
    return measures(p, each.truth, np.arange(len(p)))["log_loss"]


def left_out(model: Stack, each: Seen) -> dict[str, Any]:
    """Measure a stack with other constants on a set, from what its fit keeps."""
    log_q = each.log_mixture(model)
    none = np.full(len(log_q), -1)
    layer = draw_layer(model, log_q, none, each.dependence, 1)
    p = averaged(log_q, layer)[0]
    at = np.arange(len(p))
    found = measures(p, each.truth, at)
    best, rng = p.argmax(axis=1), np.random.default_rng(0)
    drawn = np.array(
        [
            (rng.random(len(p)) > layered(log_q, *layer.part(slice(n, n + 1)))[0, at, best]).sum()
            for n in range(len(layer.unknown))
        ]
    )
    return found | interval(drawn, found["wrong"])


# -- tables ------------------------------------------------------------------------------------


def table(sets: dict[str, Any]) -> list[str]:
    """Give the table of the page, and the sentences below it."""
    lines = []
    for name, rows in sets.items():
        stack, votes, ds = rows["stack"], rows["votes"], rows["hierarchical"]
        left = rows.get("left out", stack)
        more = [rows.get(f"stack+{n}") for n in KNOWN]
        lines.append(
            [
                name, family(name),
                f"{100 * votes['accuracy']:.1f}", f"{100 * ds['accuracy']:.1f}",
                f"{100 * stack['accuracy']:.1f}",
                f"{votes['log_loss']:.3f}", f"{ds['log_loss'] / votes['log_loss']:.2f}",
                f"{stack['log_loss'] / votes['log_loss']:.2f}",
                f"{left['log_loss'] / votes['log_loss']:.2f}",
                *(
                    "" if row is None else
                    f"{row['log_loss'] / rows[f'votes+{n}']['log_loss']:.2f}"
                    for n, row in zip(KNOWN, more, strict=True)
                ),
                f"{left['wrong']:.0f}",
                f"{left['expected_wrong']:.0f} ({left['low']:.0f} to {left['high']:.0f})",
                "yes" if left["covered"] else "no",
                f"{stack['coders_covered']} of {stack['coders']}",
                f"{stack['prevalence_covered']} of {stack['classes']}",
            ]
        )  # fmt: skip
    header = [
        "set", "family", "% votes", "% hierarchical", "% stack", "log loss, votes", "hierarchical",
        "stack", "left out", "+30", "+60", "wrong", "expected", "covered", "coders", "prevalence",
    ]  # fmt: skip
    return [common.markdown(header, lines, left=2), *summary(sets)]


def summary(sets: dict[str, Any]) -> list[str]:
    """Means over families and coverage, in sentences."""
    out = []
    first = [name for name in FIRST if name in sets]
    for title, names in (("the first seventeen", first), ("all", list(sets))):
        chosen = {name: sets[name] for name in names}
        if not chosen:
            continue
        rows = list(chosen.values())
        said = []
        for row, base in (
            ("stack", "votes"), ("left out", "votes"), ("stack+30", "votes+30"),
            ("stack+60", "votes+60"),
        ):  # fmt: skip
            if all(row in r for r in rows):
                each = {n: r[row]["log_loss"] / r[base]["log_loss"] for n, r in chosen.items()}
                said.append(f"{row} {np.mean(list(each.values())):.3f} ({by_family(each):.3f})")
        left = [r.get("left out", r["stack"]) for r in rows]
        covered = sum(each["covered"] for each in left)
        wide = np.median([each["half_width"] for each in left])
        shares = {}
        for key, of in (("coders_covered", "coders"), ("prevalence_covered", "classes")):
            some = {
                n: r["stack"][key] / r["stack"][of] for n, r in chosen.items() if r["stack"][of]
            }
            shares[of] = 100 * np.mean(list(some.values()))
        right = [100 * np.mean([r[key]["accuracy"] for r in rows]) for key in ("votes", "stack")]
        out.append(
            f"Of {title}, {len(rows)} sets: log loss over that of the votes, mean over the sets "
            f"(families count alike): {', '.join(said)}. Right labels: votes {right[0]:.1f} %, "
            f"stack {right[1]:.1f} %. Left out, the interval of wrong labels covers the actual "
            f"number on {covered} of {len(rows)} sets, and half its width is {wide:.2f} of its "
            f"median in the median set. Intervals cover the share of right labels of "
            f"{shares['coders']:.0f} % of the coders and the share of {shares['classes']:.0f} % of "
            "the classes (means over the sets)."
        )
    return out


def by_family(values: dict[str, float]) -> float:
    """Mean over families of the means over their sets."""
    families = {family(name) for name in values}
    means = [np.mean([v for n, v in values.items() if family(n) == of]) for of in sorted(families)]
    return float(np.mean(means))


def main() -> None:
    """Measure, and write the tables."""
    parser = common.arguments_of_sets(__doc__, "truth.md", 1000)
    parser.add_argument("--picks", type=int, default=20, help="random picks of known items")
    parser.add_argument("--learn", action="store_true", help="print the constants of the stack")
    options = parser.parse_args()
    if options.reduced:
        options.picks, options.draws = min(options.picks, 1), 200
        options.sets = options.sets or ["bluebirds", "snow_wsd"]
    loaded = [load(place) for place in folders(common.folders_of(options), options.sets)]
    begun = time.perf_counter()
    if options.learn:
        every = [seen(each, briefly(each.data, Stack(), options.seed)) for each in loaded]
        print(learned(every, independent_crowds(options.seed)))
        return
    sets, known = {}, {}
    for each in loaded:
        rows = rows_of(each, Stack(), options.seed, options.draws, options.picks)
        sets[each.name], known[each.name] = rows
        common.keep(options.json, {"sets": sets})
    families = sorted({each.family for each in known.values()})
    crowds = independent_crowds(options.seed) if len(families) > 1 else []
    for of in families if len(families) > 1 else ():
        without = learned([each for each in known.values() if each.family != of], crowds)
        common.say(f"without {of}: {without}")
        for name, own in known.items():
            if own.family == of:
                sets[name]["left out"] = left_out(without, own)
    common.keep(options.json, {"sets": sets})
    minutes = (time.perf_counter() - begun) / 60
    parts = [
        HEAD.format(picks=options.picks),
        *table(sets),
        f"{common.machine()} It took {minutes:.0f} minutes.",
    ]
    common.write(Path(options.out), parts)


if __name__ == "__main__":
    sys.exit(main())
