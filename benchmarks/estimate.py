"""Measure what audits promise against known truth, on any folder of sets.

    python benchmarks/estimate.py [--data FOLDER] [--json FILE] [--read sets NAME ...]

A set is a folder with labels.csv (or labels.csv.gz: item, coder, label) and gold.csv (item, label);
sets with fewer than 300 items of known truth are left out. The default model is fitted once to all
labels, without any truth. Then audits of 30, 60 and 120 items are drawn again and again of the
items of known truth, as `am.audit` draws them, and judged by their truth; what `am.estimate` makes
of each is compared with the truth of all. `width_audit` is the exact interval of a simple random
sample of as many items, without a model.

Of a table with the columns model, prompt and order (verdicts of language models) the plain prompt
in the given order is a set of its own, NAME_judges; the groups that its items are named by are its
slices, and the label that came first wins.
"""

from __future__ import annotations

import csv
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common
import numpy as np
from numpy.typing import NDArray

import annomodels as am
from annomodels.auditing.answers import Answers
from annomodels.auditing.design import allocate, beliefs, calibration_prior, stratify
from annomodels.auditing.estimator import (
    ENDS,
    Estimator,
    Observed,
    exact,
    prediction_powered,
    weighted,
)
from annomodels.auditing.tables import (
    WRONG,
    AuditTables,
    accuracies,
    classes,
    panel,
    slices,
)
from annomodels.errors import AnnomodelsError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SIZES = (30, 60, 120)
FEWEST, MOST_LABELS = 300, 60
# coders with fewer labels of known truth have no accuracy to compare with, slices with fewer items
FEWEST_LABELS, FEWEST_ITEMS = 20, 40
# coders, slices and other tables, which take most of the time, are looked at in one audit of these
EVERY = 10
DRAWS, DRAWS_OF_GROUPS = 1000, 400
# slices that the items are cut into
GROUPS = 3
HIGHER = "the higher of two slices"
WHAT = ("wrong", "prevalence", "alone")
ABSTAINS = "abstain"

INTRODUCTION = """
Audits of 30, 60 and 120 items of public sets with known truth, each drawn {resamples:,} times.
*Covers* is the share of audits in per cent whose 95 % interval covers the real number: of wrong
labels, of items of the commonest true label, of the right labels of coders ({few} labels or more).
*Alone* is that share for the interval of the audit alone, the lower one of wrong labels and of the
commonest label.
*Width* is the median width of the interval of wrong labels, in percentage points of the items;
*ratio* is that width over the one of the exact interval of a simple random sample of as many items
without a model, *Jeffreys* over that of a Bayesian interval of such a sample, which is shorter and
promises less. *Design* is the same ratio for the best that could cover by design alone: a normal
interval of the estimate without bias that knows how the real risk of an item rises with P(wrong),
and picks items accordingly. *Prevalence* is the ratio of the widths for the items of the commonest
true label. *Normal* is how often the prediction-powered normal interval (PPI++) of a simple
random sample of the same size covers the number of wrong labels.
"""

TABLES = """
All other intervals that an estimate prints, from one in {every} of these audits. *Cover*: intervals
that cover the actual number, in per cent, mean over sets; *least*: the set where fewest do.
{groups} slices *at random* are of equal size; of {groups} *gathered* ones the first has two thirds
of the wrong gold labels in a third of the items, which no model can see. Slices have {fewest}
items or more, coders {labels} items of the class or more. *The higher of two slices* counts pairs
in which the higher one has `p_higher` of 2.5 % or more; its width is the mean of `p_higher`.
"""


@dataclass(frozen=True, eq=False)
class Set:
    """A fitted set, the truth of its items (-1 where it is not known), and their slices."""

    name: str
    fit: Any
    truth: Ints
    slice: Ints

    @property
    def data(self) -> Any:
        """Labels of the set."""
        return self.fit.data

    @property
    def p(self) -> Floats:
        """P(truth), shape [item, truth]."""
        return beliefs(self.fit)


def places(folders: list[Path], names: list[str] | None) -> list[Path]:
    """Folders that hold labels and gold, in a fixed order."""
    found = sorted(path.parent for data in folders for path in data.glob("*/gold.csv"))
    return [place for place in found if not names or place.name in names]


def tables(folder: Path) -> list[tuple[str, am.Annotations, Any]]:
    """Names and data of the sets of a folder; slices of items are named by their beginning."""
    import pandas as pd

    there = [p for p in (folder / "labels.csv", folder / "labels.csv.gz") if p.exists()]
    if not there:
        return []
    labels = there[0]
    rows = pd.read_csv(labels, dtype=str)
    data = am.read(labels)
    if ABSTAINS in data.labels:
        data = am.read(labels, dont_know=[ABSTAINS])
    out = [(folder.name, data, None)]
    if {"model", "prompt", "order"} <= set(rows.columns):
        plain = rows[(rows["prompt"] == "Vanilla") & (rows["order"] == "given")]
        own = am.Annotations.from_frame(plain, item="item", coder="model", label="label")
        named = [str(item).rsplit("-", 1)[0] for item in own.items]
        code = {name: n for n, name in enumerate(sorted(set(named)))}
        out.append((f"{folder.name}_judges", own, np.array([code[name] for name in named])))
    return out


def sets(folder: Path, model: str | None, seed: int, draws: int) -> list[Set]:
    """Fit the sets of a folder that have enough items of known truth."""
    with (folder / "gold.csv").open(encoding="utf-8", newline="") as file:
        known = {row["item"]: row["label"] for row in csv.DictReader(file)}
    out = []
    try:
        found = tables(folder)
    except AnnomodelsError as error:
        common.say(f"{folder.name}: left out: {error}")
        return []
    for name, data, named in found:
        code = {str(label): k for k, label in enumerate(data.labels)}
        truth = np.array([code.get(known.get(str(item), ""), -1) for item in data.items])
        if (truth >= 0).sum() < FEWEST or data.n_labels > MOST_LABELS:
            common.say(f"{name}: left out, {(truth >= 0).sum()} items of known truth, "
                       f"{data.n_labels} labels")  # fmt: skip
            continue
        begun = time.perf_counter()
        fit = am.fit(data, model, seed=seed, draws=draws, warmup=draws // 2)
        common.say(f"{name}: fitted in {time.perf_counter() - begun:.0f} s")
        out.append(Set(name, fit, truth, np.full(len(truth), -1) if named is None else named))
    return out


def holds(draws: Floats, real: float) -> tuple[bool, float]:
    """Whether the 95 % interval of counts holds the real one, and its width."""
    low, high = np.quantile(draws, ENDS)
    return bool(np.floor(low) <= real <= np.ceil(high)), float(high - low)


def measure(each: Set, size: int, resamples: int, seed: int) -> dict[str, Any]:
    """Draw audits of one size, and compare what is made of them with the truth."""
    part = each.truth >= 0
    n = int(part.sum())
    strata = stratify(each.p, part, size)
    estimator = Estimator(each.p, strata, *calibration_prior(each.fit))
    members = [np.flatnonzero(strata.stratum == s) for s in range(len(strata))]
    share = allocate(strata, size)
    everything = Observed(np.flatnonzero(part), each.truth[part], np.ones(n))
    wrong = float(estimator.found(WRONG, everything).sum())
    # of two labels the first is estimated, and the other one is the rest
    top = 0 if each.p.shape[1] == 2 else int(np.bincount(each.truth[part]).argmax())
    common_one = float((each.truth[part] == top).sum())
    rng = np.random.default_rng([seed, size])
    of_coders, of_tables = _Coders(each, part), _Tables(each, part, rng)
    seen_wrong, seen_top, widths, alone, jeffreys, normal = [], [], [], [], [], []
    of_tops, alone_top = [], []
    by_audit: dict[int, list[bool]] = {WRONG: [], top: []}
    for number in range(resamples):
        picked = np.concatenate(
            [rng.choice(m, k, replace=False) for m, k in zip(members, share, strict=True)]
        )
        seen = Observed(picked, each.truth[picked], np.ones(size))
        weights = (strata.size / share)[strata.stratum[picked]]
        total, shares = estimator.total(WRONG, seen, DRAWS, rng)
        held, width = holds(total, wrong)
        seen_wrong.append(held)
        widths.append(width / n)
        tops, _ = estimator.total(top, seen, DRAWS, rng)
        held, width = holds(tops, common_one)
        for label, real in ((WRONG, wrong), (top, common_one)):
            _, low, high = weighted(estimator.found(label, seen), weights, n, cautious=True)
            by_audit[label].append(low * n - 1e-6 <= real <= high * n + 1e-6)
        seen_top.append(held)
        of_tops.append(width / n)
        if number % EVERY == 0:
            of_coders.look(estimator, seen, shares[:DRAWS_OF_GROUPS], rng)
            of_tables.look(estimator, seen, weights, number)
        simple = rng.choice(np.flatnonzero(part), size, replace=False)
        bad = (estimator.best[simple] != each.truth[simple]).astype(float)
        low, high = exact(n, size, int(bad.sum()))
        alone.append((high - low) / n)
        low, high = exact(n, size, int((each.truth[simple] == top).sum()))
        alone_top.append((high - low) / n)
        rate = rng.beta(bad.sum() + 0.5, size - bad.sum() + 0.5, DRAWS)
        counted = rng.binomial(n - size, rate)
        jeffreys.append(float(np.ptp(np.quantile(counted, [0.025, 0.975]))) / n)
        rest = np.setdiff1d(np.flatnonzero(part), simple)
        _, low_p, high_p = prediction_powered(bad, estimator.wrong[simple], estimator.wrong[rest])
        normal.append(low_p <= wrong / n <= high_p)
    return {
        "coverage_wrong": float(np.mean(seen_wrong)),
        "coverage_accuracy": float(np.mean(seen_wrong)),
        "coverage_prevalence": float(np.mean(seen_top)),
        "coverage_alone": min(float(np.mean(held)) for held in by_audit.values()),
        "width": float(np.median(widths)),
        "width_audit": float(np.median(alone)),
        "width_jeffreys": float(np.median(jeffreys)),
        "width_design": best_by_design(each.p[part], each.truth[part], size),
        "width_prevalence": float(np.median(of_tops)),
        "width_prevalence_audit": float(np.median(alone_top)),
        "coverage_normal": float(np.mean(normal)),
        **of_coders.result(),
        **of_tables.result(),
        "items": n,
        "wrong": wrong,
    }


def best_by_design(p: Floats, truth: Ints, size: int) -> float:
    r"""Width of the narrowest normal interval of the share of wrong labels that holds by design.

    .. math:: 2 \cdot 1.96 \, \frac{1}{N} \sqrt{\sum_i r_i (1 - r_i) (1 / \pi_i - 1)}

    r is the real risk of the items as a rising function of P(wrong), which nobody knows, and
    :math:`\pi_i \propto \sqrt{r_i (1 - r_i)}`, 1 at most, the best chances for `size` items.
    """
    from scipy.optimize import isotonic_regression

    told, wrong = 1.0 - p.max(axis=1), (p.argmax(axis=1) != truth).astype(float)
    order = np.argsort(told, kind="stable")
    risk = isotonic_regression(wrong[order]).x
    spread = np.sqrt(risk * (1.0 - risk))
    low, high = 0.0, size / max(spread[spread > 0].min(), 1e-9)
    for _ in range(100):
        factor = (low + high) / 2
        over = np.minimum(factor * spread, 1.0).sum() > size
        low, high = (low, factor) if over else (factor, high)
    chance = np.minimum(low * spread, 1.0)
    some = chance > 0
    variance = (spread[some] ** 2 * (1.0 / chance[some] - 1.0)).sum()
    return float(2 * 1.96 * np.sqrt(variance) / len(told))


class _Coders:
    """Whether the intervals of coders hold the share of their labels that is right."""

    def __init__(self, each: Set, part: NDArray[np.bool_]) -> None:
        data = each.data
        use = part[data.item]
        item, coder, label = (x[use].astype(np.int64) for x in (data.item, data.coder, data.label))
        self.labels, self.n_coders = (item, coder, label), data.n_coders
        n = np.bincount(coder, minlength=data.n_coders)
        self.right = np.bincount(coder, label == each.truth[item], data.n_coders)
        self.many = n >= FEWEST_LABELS
        self.held: list[float] = []

    def look(self, estimator: Estimator, seen: Observed, shares: Floats, rng: Any) -> None:
        if self.many.any():
            draws, _ = estimator.coders(seen, shares, self.labels, self.n_coders, rng)
            low, high = np.quantile(draws[:, self.many], ENDS, axis=0)
            right = self.right[self.many]
            self.held.append(float(((np.floor(low) <= right) & (right <= np.ceil(high))).sum()))

    def result(self) -> dict[str, Any]:
        held = float(np.mean(self.held)) if self.held else 0.0
        return {"coders": int(self.many.sum()), "coders_covered": held}


class _Tables:
    """Whether the intervals of the tables of slices, thresholds, coders and the panel cover."""

    def __init__(self, each: Set, part: NDArray[np.bool_], rng: Any) -> None:
        self.each, self.item = each, np.flatnonzero(part)
        self.wrong = each.p[part].argmax(axis=1) != each.truth[part]
        self.cuts = {"at random": rng.integers(0, GROUPS, len(self.item)),
                     "gathered": gathered(self.wrong, rng)}  # fmt: skip
        if (each.slice >= 0).any():
            self.cuts["by name"] = each.slice[part]
        held = {name: np.full(len(part), -1) for name in self.cuts}
        for name, group in self.cuts.items():
            held[name][self.item] = group
        self.by = {name: (codes, tuple(range(codes.max() + 1))) for name, codes in held.items()}
        self.held: dict[str, list[tuple[float, float]]] = {}
        data = each.data
        errors = np.full((len(part), data.n_coders), np.nan)
        errors[data.item, data.coder] = data.label != each.truth[data.item]
        self.errors = errors[part]

    def look(self, estimator: Estimator, seen: Observed, weights: Floats, seed: int) -> None:
        """Compare all intervals of one audit with the truth of all items."""
        none = np.empty(0, dtype=np.int64)
        answers = Answers(seen.item, seen.truth, none, none, ())
        t = AuditTables(self.each.fit, estimator, seen, answers, weights, None, False, True,
                   DRAWS_OF_GROUPS, seed)  # fmt: skip
        rows, between = slices(t, self.by)
        self._slices(rows, between)
        top = self.each.p[self.item].max(axis=1)
        for row in t.thresholds().itertuples():
            real = 1 - self.wrong[top >= row.threshold].mean()
            self._add("thresholds", row.accuracy_low, row.accuracy_high, real)
        right, data = self.errors == 0, self.each.data
        truth, given = self.each.truth[self.item], np.isfinite(self.errors)
        for row in classes(t).itertuples():
            coder = data.coders.index(row.coder)
            mine = given[:, coder] & (truth == data.labels.index(row.label))
            if mine.sum() >= FEWEST_LABELS:
                real = right[mine, coder].mean()
                self._add("classes", row.share_low, row.share_high, real)
        share, n = accuracies(t)
        rates = right.sum(axis=0) / np.maximum(given.sum(axis=0), 1)
        for row in panel(t, share, n).itertuples():
            if row.coder != "":
                best = rates[data.coders.index(row.coder)]
                less = row.quantity == "gold_less_best_coder"
                real = 1 - self.wrong.mean() - best if less else best
                self._add(
                    "panel less best coder" if less else "best coder", row.low, row.high, real
                )

    def _slices(self, rows: Any, between: Any) -> None:
        for name, group in self.cuts.items():
            n = np.bincount(group)
            for label, (quantity, of) in enumerate(
                [("accuracy", ""), *(("prevalence", x) for x in self.each.data.labels)], WRONG
            ):
                hit = ~self.wrong if label == WRONG else self.each.truth[self.item] == label
                real = np.bincount(group, hit) / np.maximum(n, 1)
                chosen = f"by == {name!r} and quantity == {quantity!r} and label == {of!r}"
                for row in rows.query(chosen).itertuples():
                    if n[row.slice] >= FEWEST_ITEMS:
                        self._add(f"{quantity}, {name}", row.low, row.high, real[row.slice])
                if not len(between):
                    continue
                for row in between.query(chosen).itertuples():
                    pair = [row.first, row.second]
                    if n[pair].min() >= FEWEST_ITEMS:
                        less = real[row.first] - real[row.second]
                        self._add(f"difference of {quantity}, {name}", row.low, row.high, less)
                        if np.isfinite(row.p_higher) and less:
                            p = row.p_higher if less > 0 else 1 - row.p_higher
                            self.held.setdefault(HIGHER, []).append((float(p >= 0.025), p))

    def _add(self, what: str, low: float, high: float, real: float) -> None:
        if np.isfinite(low):
            inside = low - 1e-9 <= real <= high + 1e-9
            self.held.setdefault(what, []).append((float(inside), high - low))

    def result(self) -> dict[str, Any]:
        """Share of intervals that cover, and their mean width, of each kind."""
        return {
            "printed": {
                what: [len(found), *np.mean(found, axis=0).tolist()]
                for what, found in self.held.items()
            }
        }


def gathered(wrong: NDArray[np.bool_], rng: Any) -> Ints:
    """Three slices of equal size, of which the first has two thirds of the wrong items."""
    n = len(wrong)
    bad, good = (rng.permutation(np.flatnonzero(part)) for part in (wrong, ~wrong))
    first = min(round(2 * len(bad) / 3), n // GROUPS)
    rest = rng.permutation(np.concatenate([bad[first:], good[n // GROUPS - first :]]))
    group = np.zeros(n, dtype=np.int64)
    group[rest] = 1 + np.arange(len(rest)) % (GROUPS - 1)
    return group


def page(found: dict[str, Any]) -> list[str]:
    """Give the table of the page, and the sentences below it."""
    lines = []
    for name, sizes in found.items():
        for size, row in sizes.items():
            coders = f"{100 * row['coders_covered'] / row['coders']:.0f}" if row["coders"] else ""
            lines.append(
                [
                    f"{name}, {size}",
                    f"{row['wrong']:.0f} of {row['items']:,}",
                    *(f"{100 * row[f'coverage_{x}']:.1f}" for x in WHAT),
                    coders,
                    f"{100 * row['width']:.1f}",
                    f"{row['width'] / row['width_audit']:.2f}",
                    f"{row['width'] / row['width_jeffreys']:.2f}",
                    f"{row['width_design'] / row['width_audit']:.2f}",
                    f"{row['width_prevalence'] / row['width_prevalence_audit']:.2f}",
                    f"{100 * row['coverage_normal']:.1f}",
                ]
            )  # fmt: skip
    header = ["set, audited", "wrong", "covers: wrong", "prevalence", "alone", "coders", "width",
              "ratio", "Jeffreys", "design", "prevalence ratio", "normal"]  # fmt: skip
    cells = [row[f"coverage_{x}"] for sizes in found.values() for row in sizes.values()
             for x in WHAT[:2]]  # fmt: skip
    out = [
        common.markdown(header, lines),
        f"Of {len(cells)} cells (set, size, wrong labels or prevalence) "
        f"{sum(cell >= 0.93 for cell in cells)} cover in 93 % of the audits or more.",
    ]
    for size in next(iter(found.values())):
        rows = [sizes[size] for sizes in found.values()]
        ratio = [row["width"] / row["width_audit"] for row in rows]
        jeffreys = [row["width"] / row["width_jeffreys"] for row in rows]
        design = [row["width_design"] / row["width_audit"] for row in rows]
        shares = [row["width_prevalence"] / row["width_prevalence_audit"] for row in rows]
        coders = sum(row["coders"] for row in rows)
        held = sum(row["coders_covered"] for row in rows)
        least = [100 * min(row[f"coverage_{x}"] for row in rows) for x in WHAT]
        text = (
            f"{size} items on {len(rows)} sets: intervals of wrong labels cover in "
            f"{least[0]:.1f} % of the audits of a set or more, those of prevalence in "
            f"{least[1]:.1f} %, those of the audit alone in {least[2]:.1f} %; ratio "
            f"{max(ratio):.2f} at most and {np.median(ratio):.2f} in the median set (Jeffreys "
            f"{np.median(jeffreys):.2f}, design {np.median(design):.2f}); of the prevalence "
            f"{np.median(shares):.2f}"
        )
        out.append(f"{text}; coders {100 * held / coders:.1f} %." if coders else f"{text}.")
    return [*out, *tables_page(found)]


def tables_page(found: dict[str, Any]) -> list[str]:
    """Give the table of all other intervals: the set where fewest cover, and the mean of sets."""
    kinds = dict.fromkeys(
        what for sizes in found.values() for row in sizes.values() for what in row["printed"]
    )
    lines = []
    for what in kinds:
        for size in next(iter(found.values())):
            sets = {name: of[size]["printed"][what] for name, of in found.items()
                    if what in of[size]["printed"]}  # fmt: skip
            if not sets:
                continue
            least = min(sets, key=lambda name: sets[name][1])
            number, cover, width = np.array(list(sets.values())).T
            lines.append([
                what, size, str(len(sets)), f"{int(number.sum()):,}", f"{100 * cover.mean():.1f}",
                f"{100 * sets[least][1]:.1f} ({least})", f"{width.mean():.2f}",
            ])  # fmt: skip
    header = ["interval of", "audited", "sets", "intervals", "cover", "least", "width"]
    words = {"every": EVERY, "groups": GROUPS, "fewest": FEWEST_ITEMS, "labels": FEWEST_LABELS}
    return [TABLES.strip().format(**words),
            common.markdown(header, lines)]  # fmt: skip


def main() -> None:
    """Measure, and write the table."""
    parser = common.arguments_of_sets(__doc__, "estimate.md", 1000)
    parser.add_argument("--resamples", type=int, default=1000, help="audits of each set and size")
    parser.add_argument("--model", help="model that is audited [default: that of am.fit]")
    options = parser.parse_args()
    if options.reduced:
        options.resamples, options.draws = min(options.resamples, 40), 200
        options.sets = options.sets or ["weather_cf"]
    begun = time.perf_counter()
    found: dict[str, Any] = {}
    for folder in places(common.folders_of(options), options.sets):
        for each in sets(folder, options.model, options.seed, options.draws):
            found[each.name] = {
                str(size): measure(each, size, options.resamples, options.seed)
                for size in SIZES
                if size < (each.truth >= 0).sum()
            }
            common.say(f"{each.name}: audited")
            common.keep(options.json, {"sets": found})
    if not found:
        raise SystemExit("No set has enough items of known truth.")
    minutes = (time.perf_counter() - begun) / 60
    introduction = INTRODUCTION.strip().format(resamples=options.resamples, few=FEWEST_LABELS)
    parts = [introduction, *page(found), f"{common.machine()} It took {minutes:.0f} minutes."]
    common.write(Path(options.out), parts)


if __name__ == "__main__":
    sys.exit(main())
