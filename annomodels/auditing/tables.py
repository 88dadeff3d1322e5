"""Tables of an estimate: all items, slices, systems and coders."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.auditing.answers import Answers
from annomodels.auditing.design import AuditDesign, places, say
from annomodels.auditing.estimator import (
    ENDS,
    LEVEL,
    Estimator,
    Observed,
    further,
    prediction_powered,
    weighted,
)
from annomodels.coefficients.tables import over
from annomodels.data.names import label_text
from annomodels.data.validation import some
from annomodels.errors import AnnotationError, NotApplicable, Option
from annomodels.summaries.draws import estimated
from annomodels.summaries.gold import LIMITS
from annomodels.summaries.notes import listed
from annomodels.summaries.trust.known_truth import expected_range, to_be_expected
from annomodels.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

WRONG = -1

Slice = tuple[Ints, tuple[Hashable, ...]]
Three = Floats | tuple[float, float, float]


def named_codes(fit: Fit, given: Mapping[Any, Any]) -> Slice:
    """Return the code of each item's name, -1 without one, and the names."""
    place = places(fit.data.items)
    found = {place[item]: name for item, name in given.items() if item in place}
    if not found:
        what = f"None of these items is in the fit: {some(list(given))}."
        remedy = f"Use the item names of the fit, such as {some(list(fit.data.items)[:3])}."
        raise AnnotationError(what, remedy=remedy)
    names = tuple(sorted(set(found.values()), key=label_text))
    code = {name: n for n, name in enumerate(names)}
    codes = np.full(fit.data.n_items, -1)
    codes[list(found)] = [code[name] for name in found.values()]
    return codes, names


def units_of(member: Ints, inside: Bools) -> tuple[Ints, Ints]:
    item = np.flatnonzero((member >= 0) & inside)
    return item, member[item]


def flipped(found: Floats) -> Floats:
    """Convert an error rate with its interval into an accuracy with its interval."""
    share, low, high = found
    return np.array([1 - share, 1 - high, 1 - low])


def three(
    name: str, draws: Floats, bare: bool = False, otherwise: Floats | float = np.nan
) -> dict[str, Floats]:
    """Return mean and 95 % interval of draws [draw, ...]; `bare` omits the name in the ends.

    Rows without draws have the value `otherwise`, and no interval.
    """
    found = estimated(name, draws, ENDS[1] - ENDS[0], ("low", "high") if bare else None)
    return found | {name: np.where(np.isfinite(found[name]), found[name], otherwise)[()]}


def row_of(
    quantity: str, label: Hashable, draws: Floats, audit: Three, model: Three
) -> dict[str, object]:
    found: dict[str, object] = {"quantity": quantity, "label": label}
    found |= three("value", draws, bare=True)
    for name, values in (("audit", audit), ("model", model)):
        found |= dict(zip((name, f"{name}_low", f"{name}_high"), map(float, values), strict=True))
    return found


# maximum size of the draws of groups, and minimum number of draws
CELLS, FEWEST_DRAWS = 20_000_000, 400


@dataclass(eq=False)
class AuditTables:
    fit: Fit
    estimator: Estimator
    seen: Observed
    answers: Answers
    weights: Floats  # weights of the audited items in an audit alone [audited]
    cluster: Ints | None  # clusters of the audited items, from 0 [audited]
    alike: bool  # whether all items had the same probability of selection
    cautious: bool  # whether intervals of an audit alone are conservative, see `weighted`
    n_draws: int
    seed: int
    _totals: dict[int, tuple[Floats, Floats]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.data = self.fit.data
        extra = self.answers.extra
        self.extra = Observed(extra, self.answers.extra_truth, np.ones(len(extra)))
        self.n_items = int(self.estimator.strata.size.sum()) + len(extra)

    def drawn(self, label: int) -> tuple[Floats, Floats]:
        """Draw the number of items that are wrong (-1) or have a label, and strata proportions."""
        if label not in self._totals:
            rng = np.random.default_rng([self.seed, label + 1])
            total, shares = self.estimator.total(label, self.seen, self.n_draws, rng)
            self._totals[label] = total + self._known(label), shares
        return self._totals[label]

    def _known(self, label: int) -> float:
        """Count the judged items outside the sample that are wrong (-1) or have a label."""
        return float(self.estimator.found(label, self.extra).sum())

    def overall(self) -> pd.DataFrame:
        wrong, _ = self.drawn(WRONG)
        n, audit = self.n_items, self._audit(WRONG)
        model = self._model(WRONG)
        rows = [
            row_of("accuracy", "", 1 - wrong / n, flipped(audit), flipped(model)),
            row_of("wrong", "", wrong, audit * n, model * n),
            row_of("still_wrong", "", wrong - self._found(WRONG), (np.nan,) * 3, (np.nan,) * 3),
        ]
        shares = self._prevalences()
        for label, (name, value) in enumerate(
            zip(self.data.labels, self._balanced(shares), strict=True)
        ):
            audit, model = self._audit(label), self._model(label)
            row = row_of("prevalence", name, shares[:, label], audit, model)
            rows.append(row | {"value": float(value)})
        codes = (WRONG, None, None, *range(self.data.n_labels))
        if self.alike:
            for row, label in zip(rows, codes, strict=True):
                row |= self._normal(label, flip=row["quantity"] == "accuracy")
        return pd.DataFrame(rows)

    def _found(self, label: int) -> float:
        """Count the judged items that are wrong (-1) or have a label."""
        return float(self.estimator.found(label, self.seen).sum()) + self._known(label)

    def _prevalences(self) -> Floats:
        """Return draws of the prevalence of each label, shape [draw, label]."""
        totals = np.stack([self.drawn(k)[0] for k in range(self.data.n_labels)], axis=1)
        if self.data.n_labels == 2:
            totals[:, 1] = self.n_items - totals[:, 0]
        return np.asarray(totals / self.n_items)

    def _balanced(self, shares: Floats) -> Floats:
        """Average the prevalences; scale those of unjudged items by one factor to a sum of 1."""
        # The draws are not scaled: rare labels are overestimated, and the most common label should
        # not be reduced for it.
        known = np.array([self._found(k) for k in range(self.data.n_labels)]) / self.n_items
        rest = np.maximum(shares.mean(axis=0) - known, 0.0)
        value = known + rest * (1.0 - known.sum()) / max(float(rest.sum()), 1e-12)
        return np.asarray(np.clip(value, *np.quantile(shares, ENDS, axis=0)))

    def _audit(self, label: int, level: float = LEVEL) -> Floats:
        """Return proportion, low and high from the audited items alone."""
        found, rest = self.estimator.found(label, self.seen), len(self.answers.extra)
        size = int(self.estimator.strata.size.sum())
        if not len(self.seen.item):
            return np.full(3, np.nan)
        alone = weighted(found, self.weights, size, self.cluster, level, self.cautious)
        share = np.array(alone)
        return np.asarray((share * size + self._known(label)) / (size + rest))

    def _model(self, label: int) -> Floats:
        """Return proportion, low and high from the model alone; no ends if its items differ."""
        share, ends = float(self.estimator.told(label)[self._part()].mean()), (np.nan, np.nan)
        if label == WRONG:
            of = self.fit.wrong_labels()
            if of.n == self.n_items:
                ends = of.gold_low / of.n, of.gold_high / of.n
        elif self.n_items == self.data.n_items:
            row = self.fit.prevalence().table.iloc[label]
            ends = row["prevalence_low"], row["prevalence_high"]
        return np.array([share, *ends])

    def _part(self) -> Ints:
        inside = np.flatnonzero(self.estimator.inside)
        return np.concatenate([inside, self.answers.extra])

    def _normal(self, label: int | None, flip: bool) -> dict[str, float]:
        names = ("normal", "normal_low", "normal_high")
        if label is None or not len(self.seen.item):
            return dict.fromkeys(names, np.nan)
        told = self.estimator.told(label)
        rest = self.estimator.inside.copy()
        rest[self.seen.item] = False
        y = self.estimator.found(label, self.seen)
        found = np.array(prediction_powered(y, told[self.seen.item], told[rest]))
        return dict(zip(names, flipped(found) if flip else found, strict=True))

    def some(self, label: int, groups: int) -> Floats:
        """Return strata proportions in as many draws as memory allows for so many groups."""
        _, shares = self.drawn(label)
        return shares[: max(FEWEST_DRAWS, CELLS // max(groups, 1))]

    def groups(
        self, label: int, units: tuple[Ints, Ints], number: int, stream: Sequence[int]
    ) -> Floats:
        """Draw the number of items per group that are wrong (-1) or have a label [draw, group].

        A group without audited items has NaN: the model's error in the group was not measured.
        """
        rng = np.random.default_rng([self.seed, *stream])
        item, group = units
        draws = min(self.n_draws, max(FEWEST_DRAWS, CELLS // max(number, 1)))
        out = np.zeros((draws, number))
        out[:, np.unique(group)] = np.nan
        for audited in np.unique(group[np.isin(item, self.seen.item)]).tolist():
            of_group = item[group == audited]
            out[:, audited] = self.estimator.within(of_group, label, self.seen, draws, rng)
        return out

    @cached_property
    def judged(self) -> tuple[Ints, Ints, Ints]:
        """Place of the audited item, coder and label of each label of an audited item."""
        place = np.full(self.data.n_items, -1)
        place[self.seen.item] = np.arange(len(self.seen.item))
        at = place[self.data.item]
        return at[at >= 0], self.data.coder[at >= 0], self.data.label[at >= 0]

    def thresholds(self) -> pd.DataFrame:
        inside, top = np.flatnonzero(self.estimator.inside), self.estimator.p.max(axis=1)
        rows = []
        for number, limit in enumerate(LIMITS[1:]):
            above = inside[top[inside] >= limit]
            if not len(above):
                continue
            units = above, np.zeros(len(above), dtype=np.int64)
            right = 1 - self.groups(WRONG, units, 1, (1_000_001, number))[:, 0] / len(above)
            audited = int(np.isin(self.seen.item, above).sum())
            row: dict[str, Any] = {"threshold": limit, "n": len(above), "audited": audited}
            rows.append(row | three("accuracy", right, otherwise=float(top[above].mean())))
        return pd.DataFrame(rows)

    def needs(self, design: AuditDesign | None) -> pd.DataFrame:
        had = self.seen.item if design is None else design.items(self.data.items)
        had = had[self.estimator.inside[had]]
        drawn = self.estimator.strata.count(had).astype(np.int64)
        found = further(self.estimator, self.seen, drawn)
        return pd.DataFrame(found, columns=["further", "width", "width_audit_alone"])

    def draws(self) -> xr.Dataset:
        wrong, _ = self.drawn(WRONG)
        labels = [label_text(label) for label in self.data.labels]
        return xr.Dataset(
            {
                "wrong": ("sample", wrong),
                "still_wrong": ("sample", wrong - self._found(WRONG)),
                "prevalence": (("sample", "truth"), self._prevalences()),
            },
            coords={"truth": labels},
        )

    def sentences(self) -> list[str]:
        if not len(self.seen.item):
            return []
        n, wrong = len(self.seen.item), int(self.estimator.found(WRONG, self.seen).sum())
        item = self.seen.item
        drawn = to_be_expected(self.fit.tree, self.data, item, self.estimator.best[item])
        said = expected_range(drawn)[2]
        labels = self.data.labels
        tested = (WRONG, *range(1 if len(labels) == 2 else len(labels)))
        level = 1.0 - (1.0 - LEVEL) / len(tested)
        part, names = self._part(), []
        for label in tested:
            _, least, most = self._audit(label, level)
            if not least <= self.estimator.told(label)[part].mean() <= most:
                name = "the number of wrong labels"
                names.append(name if label < 0 else f"the share of {label_text(labels[label])}")
        against = [say("contradicted", of=listed(names, len(names)))] if names else []
        return [*against, say("wrong", n=n, wrong=wrong, expected=said)]


# maximum number of slices for pairwise comparisons
MOST_COMPARED = 12


def slices(t: AuditTables, by: Mapping[str, Slice]) -> tuple[pd.DataFrame, pd.DataFrame]:
    tables: list[pd.DataFrame] = []
    between: list[pd.DataFrame] = []
    for number, (name, (member, names)) in enumerate(by.items()):
        item, group = units_of(member, t.estimator.inside)
        n = np.bincount(group, minlength=len(names))
        judged = np.bincount(group[np.isin(item, t.seen.item)], minlength=len(names))
        pairs = list(combinations(range(len(names)), 2)) if len(names) <= MOST_COMPARED else []
        one, other = ([pair[side] for pair in pairs] for side in (0, 1))
        share: Floats = np.empty(0)
        for label in (WRONG, *range(t.data.n_labels)):
            if label == 1 and t.data.n_labels == 2:
                share = 1 - share  # the complement of the first label
            else:
                stream = 1_000_004, number, label + 1
                share = over(t.groups(label, (item, group), len(names), stream), n)
            told = over(np.bincount(group, t.estimator.told(label)[item], len(names)), n)
            quantity, of = "prevalence", t.data.labels[label]
            if label == WRONG:
                share, told, quantity, of = 1 - share, 1 - told, "accuracy", ""
            what = {"quantity": quantity, "label": [of] * len(names)}
            held: dict[str, Any] = {"by": name, "slice": list(names), **what}
            held |= {"n": n, "audited": judged}
            tables.append(pd.DataFrame(held | three("value", share, True, told)))
            if pairs:
                both = {"first": [names[a] for a in one], "second": [names[b] for b in other]}
                held = {"by": name, **both, "quantity": quantity, "label": [of] * len(pairs)}
                less = three("difference", share[:, one] - share[:, other], bare=True)
                higher = (share[:, one] > share[:, other]).mean(axis=0)
                both_judged = np.isfinite(less["difference"])
                higher = np.where(both_judged, higher, np.nan)
                between.append(pd.DataFrame(held | less | {"p_higher": higher}))
    return stacked(tables), stacked(between)


def stacked(tables: list[pd.DataFrame]) -> pd.DataFrame:
    full = [table for table in tables if len(table)]
    return pd.concat(full, ignore_index=True) if full else pd.DataFrame()


def systems(
    t: AuditTables,
    pairs: Mapping[Any, tuple[Hashable, Hashable]] | None,
    wins: tuple[Hashable, Hashable] | None,
) -> pd.DataFrame:
    """Tabulate the win rate of each system; a tie counts one half."""
    if pairs is None:
        return pd.DataFrame()
    won_by = _wins(t, wins)
    sides = [named_codes(t.fit, {i: pair[side] for i, pair in pairs.items()}) for side in (0, 1)]
    names = tuple(dict.fromkeys([*sides[0][1], *sides[1][1]]))
    place = {name: n for n, name in enumerate(names)}
    won: Floats = np.zeros((1, len(names)))
    n, judged, told = (np.zeros(len(names)) for _ in range(3))
    for side, (member, own) in enumerate(sides):
        item, group = units_of(member, t.estimator.inside)
        group = np.array([place[name] for name in own])[group]
        n += np.bincount(group, minlength=len(names))
        judged += np.bincount(group[np.isin(item, t.seen.item)], minlength=len(names))
        for label in range(t.data.n_labels):
            if label == won_by[1 - side]:
                continue
            worth = 1.0 if label == won_by[side] else 0.5
            stream = 1_000_005, side, label
            won = won + worth * t.groups(label, (item, group), len(names), stream)
            told += worth * np.bincount(group, t.estimator.told(label)[item], len(names))
    counts = {"n": n.astype(np.int64), "audited": judged.astype(np.int64)}
    total = np.maximum(n, 1)
    rates = three("win_rate", won / total, otherwise=told / total)
    found = pd.DataFrame({"system": list(names), **counts, **rates})
    return found.sort_values("win_rate", ascending=False, ignore_index=True)


def _wins(t: AuditTables, wins: tuple[Hashable, Hashable] | None) -> tuple[int, int]:
    """Return the codes of the labels for a win of the first and of the second system."""
    place = {label_text(label): n for n, label in enumerate(t.data.labels)}
    if t.data.n_labels < 2:
        raise NotApplicable("Pairs need two labels: which of the two systems won.")
    if wins is None:
        return 0, 1
    texts = [label_text(label) for label in wins]
    if len(texts) != 2 or texts[0] == texts[1] or not set(texts) <= set(place):
        raise NotApplicable(
            f"{Option('wins', wins)}: name the two labels that say which system won: two of "
            f"{some(t.data.labels)}."
        )
    return place[texts[0]], place[texts[1]]


# maximum number of rows of the table of coders and labels, and of draws of the panel
MOST_CLASSES, PANEL_DRAWS = 2_000, 1_000
# minimum number of shared audited items per pair of coders, and maximum number of coders
FEWEST_SHARED, MOST_CODERS = 10, 150


def accuracies(t: AuditTables) -> tuple[Floats, Ints]:
    """Draw the accuracy [draw, coder], NaN without labels, and count the labels."""
    data = t.data
    labels = data.item, data.coder.astype(np.int64), data.label.astype(np.int64)
    rng = np.random.default_rng([t.seed, 1_000_002])
    shares = t.some(WRONG, data.n_coders)
    right, n = t.estimator.coders(t.seen, shares, labels, data.n_coders, rng)
    return over(right, n), n


def coders(t: AuditTables, share: Floats, n: Ints) -> pd.DataFrame:
    at, coder, label = t.judged
    right = coder[label == t.seen.truth[at]]
    audited, hits = (np.bincount(who, minlength=t.data.n_coders) for who in (coder, right))
    counts = {"coder": list(t.data.coders), "n": n, "audited": audited, "right": hits}
    return pd.DataFrame(counts | three("share_right", share))


def classes(t: AuditTables) -> pd.DataFrame:
    # by the audited items alone: a model does not detect items that all coders mislabel
    data, rows = t.data, []
    columns = ["coder", "label", "audited", "right", "share", "share_low", "share_high"]
    if data.n_coders * data.n_labels > MOST_CLASSES:
        return pd.DataFrame(columns=columns)
    every, who, given = t.judged
    n = np.bincount(data.coder, minlength=data.n_coders)
    for label, coder in product(range(data.n_labels), range(data.n_coders)):
        here = (who == coder) & (t.seen.truth[every] == label)
        at, right = every[here], (given[here] == label).astype(float)
        cluster = None if t.cluster is None else t.cluster[at]
        share: Three = (np.nan,) * 3
        if len(at):
            share = weighted(right, t.weights[at], int(n[coder]), cluster, cautious=t.cautious)
        counts = len(at), int(right.sum())
        rows.append((data.coders[coder], data.labels[label], *counts, *share))
    return pd.DataFrame(rows, columns=columns)


def panel(t: AuditTables, share: Floats, n: Ints) -> pd.DataFrame:
    data, rows = t.data, []
    at, coder, label = t.judged
    errors = np.full((len(t.seen.item), data.n_coders), np.nan)
    errors[at, coder] = label != t.seen.truth[at]
    rng = np.random.default_rng([t.seed, 1_000_006])
    worth, together = effective(errors, t.weights, min(t.n_draws, PANEL_DRAWS), rng)
    found = [("effective_coders", "", worth), ("error_correlation", "", together)]
    many = np.flatnonzero(2 * n >= n.max())
    if len(many) > 1 and len(t.seen.item):
        # the best coder by mean accuracy is the same coder in all draws
        best = int(many[share[:, many].mean(axis=0).argmax()])
        gold = 1 - t.drawn(WRONG)[0][: len(share)] / t.n_items
        found += [
            ("best_coder", data.coders[best], share[:, best]),
            ("gold_less_best_coder", data.coders[best], gold - share[:, best]),
        ]
    for quantity, who, draws in found:
        if len(draws):
            row = {"quantity": quantity, "coder": who} | three("value", draws, bare=True)
            # intervals of the effective number covered too seldom (docs/research/audits.md)
            rows.append(row if who else row | {"low": np.nan, "high": np.nan})
    return pd.DataFrame(rows, columns=["quantity", "coder", "value", "low", "high"])


def effective(
    errors: Floats, counts: Floats, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw the effective number of coders, and the mean correlation of their errors."""
    # n_eff = J / (1 + (J - 1) rho): rho >= 0 is the mean correlation of errors over pairs of coders
    # (Kish 1965), under a Bayesian bootstrap of the audited items (Rubin 1981,
    # doi:10.1214/aos/1176345338). `errors` [audited, coder] is 1, 0, or NaN without a label. Both
    # results are empty if no two coders share enough items.
    given = np.isfinite(errors)
    n_coders = errors.shape[1]
    shared = given.T.astype(float) @ given
    pairs = np.argwhere(np.triu(shared >= FEWEST_SHARED, 1))
    if not len(pairs) or n_coders > MOST_CODERS:
        return np.empty(0), np.empty(0)
    there = given.astype(float)
    wrong = np.where(given, errors, 0.0)
    correlation = np.empty(draws)
    for draw in range(draws):
        weight = (rng.standard_exponential(len(errors)) * counts)[:, None]
        n = (there * weight).T @ there
        both = (wrong * weight).T @ wrong
        of_first = (wrong * weight).T @ there
        a, b = pairs.T
        total = np.maximum(n[a, b], 1e-300)
        p, q = of_first[a, b] / total, of_first[b, a] / total
        spread = np.sqrt(p * (1 - p) * q * (1 - q))
        with np.errstate(invalid="ignore", divide="ignore"):
            rho = np.where(spread > 1e-12, (both[a, b] / total - p * q) / spread, np.nan)
        correlation[draw] = np.nanmean(rho) if np.isfinite(rho).any() else np.nan
    correlation = correlation[np.isfinite(correlation)]
    worth = n_coders / (1.0 + (n_coders - 1) * np.clip(correlation, 0.0, 1.0))
    return worth, correlation
