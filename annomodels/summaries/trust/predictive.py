"""Posterior predictive checks: statistics, misfit of the model, and the model to try next."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.coefficients.implied import evaluate
from annomodels.coefficients.tables import from_joint
from annomodels.data.annotations import Annotations
from annomodels.data.columns import Column, columns
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.errors import Verb
from annomodels.limits import AGREEMENT_OFF, DISPERSION, SHARE_OFF
from annomodels.models import MODELS
from annomodels.models.catalog import is_stack
from annomodels.summaries.draws import (
    Draws,
    as_known,
    choices,
    draw_labels,
    model_of,
    per_item,
    state_probabilities,
    thinned,
)
from annomodels.summaries.trust.findings import MESSAGES, Finding, finding
from annomodels.summaries.why import runs
from annomodels.types import Floats, Ints

MOST_VOTES = 10  # votes per item up to which each vote count is a cell
EDGES = np.array([0.6, 0.8, 1.0])
MOST_CODERS, MOST_PAIRED = 100, 20
FEWEST_SHARED = 10


class Assignment:
    """Assignment of coders to items, fixed while labels are replicated."""

    def __init__(self, data: Annotations) -> None:
        self.data = data
        self.n: Ints = np.diff(data.starts)
        self.several = self.n >= 2
        self.has_pairs = bool(self.several.any())
        self.by_votes = (
            data.n_labels == 2 and bool((self.n == self.n[0]).all()) and self.n[0] <= MOST_VOTES
        )

    @cached_property
    def _cell(self) -> Ints:
        """Offset of each label's item in the flat vote counts."""
        return self.data.item.astype(np.int64) * self.data.n_labels

    def votes(self, label: Ints) -> Ints:
        """Count the votes of each item, shape [item, label]."""
        size = self.data.n_items * self.data.n_labels
        return np.bincount(self._cell + label, minlength=size).reshape(-1, self.data.n_labels)

    @property
    def cell_names(self) -> list[str]:
        if self.by_votes:
            name, n = label_text(self.data.labels[1]), self.n[0]
            return [f"items with {v} of {n} labels {name}" for v in range(n + 1)]
        return [
            "items with less than 60 % for the first label",
            "items with 60 to 79 % for the first label",
            "items with 80 to 99 % for the first label",
            "items with all labels the same",
        ]

    def cells(self, votes: Ints) -> Floats:
        """Count items by their votes, or by the share of their most frequent label."""
        if self.by_votes:
            return np.bincount(votes[:, 1], minlength=self.n[0] + 1).astype(float)
        share = votes[self.several].max(axis=1) / self.n[self.several]
        where = np.searchsorted(EDGES, share + 1e-9, side="right")
        return np.bincount(where, minlength=len(EDGES) + 1).astype(float)

    def spread(self, votes: Ints) -> float:
        """Compute half the variance of label shares over items, summed over labels."""
        share = votes[self.several] / self.n[self.several, None]
        return float(share.var(axis=0).sum() / 2)

    def agreement(self, votes: Ints) -> float:
        """Compute the proportion of agreeing label pairs within items."""
        pairs = (self.n * (self.n - 1)).sum()
        return float((votes * (votes - 1)).sum() / pairs)

    def alpha(self, votes: Ints) -> float:
        """Compute Krippendorff's nominal alpha of the votes; NaN if undefined."""
        shared, r = votes[self.several].astype(float), self.n[self.several]
        weighted = shared / (r - 1)[:, None]
        joint = weighted.T @ shared - np.diag(weighted.sum(axis=0))
        return float(evaluate("alpha", from_joint(joint, n=r.sum())).value)

    # -- coders ---------------------------------------------------------------------------------

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(-self.data.per_coder, kind="stable")

    @cached_property
    def busiest(self) -> Ints:
        return self._order[:MOST_CODERS]

    def uses(self, label: Ints) -> Floats:
        """Compute the label distribution of the busiest coders, shape [coder, label]."""
        data = self.data
        size = data.n_coders * data.n_labels
        flat = np.bincount(data.coder.astype(np.int64) * data.n_labels + label, minlength=size)
        counts = flat.reshape(-1, data.n_labels)[self.busiest]
        return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)

    @cached_property
    def _paired(self) -> tuple[Ints, Ints, Ints]:
        data = self.data
        place = np.full(data.n_coders, -1)
        chosen = self._order[:MOST_PAIRED]
        place[chosen] = np.arange(len(chosen))
        rows = np.flatnonzero((place[data.coder] >= 0) & runs(data))
        _, item = np.unique(data.item[rows], return_inverse=True)
        return rows, item, place[data.coder[rows]]

    @cached_property
    def pairs(self) -> tuple[Ints, Ints, Floats]:
        """Pairs of coders with enough common items: places of both, number of common items."""
        _, item, place = self._paired
        seen = np.zeros((item.max(initial=-1) + 1, min(MOST_PAIRED, self.data.n_coders)))
        seen[item, place] = 1
        shared = seen.T @ seen
        one, two = np.nonzero(np.triu(shared >= FEWEST_SHARED, 1))
        return one, two, shared[one, two]

    def pair_agreement(self, label: Ints) -> Floats:
        """Compute the proportion of common items with equal labels for each pair, shape [pair]."""
        rows, item, place = self._paired
        one, two, shared = self.pairs
        agree = np.zeros(len(one))
        if not len(one):
            return agree
        said = label[rows]
        hot = np.zeros((item.max() + 1, min(MOST_PAIRED, self.data.n_coders)), dtype=np.float32)
        for k in range(self.data.n_labels):
            hot[item, place] = said == k
            agree += (hot.T @ hot)[one, two]
        return agree / shared

    def pair_names(self) -> list[str]:
        names = [str(self.data.coders[j]) for j in self._order[:MOST_PAIRED]]
        one, two, _ = self.pairs
        return [f"{names[a]} and {names[b]}" for a, b in zip(one, two, strict=True)]


def error_dispersion(
    draws: Draws, data: Annotations, rng: np.random.Generator, repeats: int = 1
) -> tuple[Floats, Floats]:
    """Compare the dispersion of errors over items with replicates, [repeats * sample]."""
    # D = sum_i (e_i - m_i)^2 / sum_n a_n (1 - a_n), where e_i are errors and m_i expected errors
    # given a drawn truth. D is about 1 if errors are independent given the truth. Realized
    # discrepancies: Gelman, Meng & Stern 1996.
    observed: list[float] = []
    replicated: list[float] = []
    for _ in range(repeats):
        for step, p in state_probabilities(draws, data):
            emission = draws.emission[step]
            state = choices(p, rng.random(data.n_items))
            given = as_known(draws.truth(step)[state], data)
            truth = choices(given, rng.random(data.n_items))[data.item]
            label = draw_labels(emission, data.coder, state[data.item], rng)
            right = emission[data.coder, state[data.item], truth]
            variance = max(float((right * (1 - right)).sum()), 1e-12)
            for found, said in ((observed, data.label), (replicated, label)):
                excess = per_item((said != truth) - (1 - right), data.starts)
                found.append(float((excess**2).sum()) / variance)
    return np.array(observed), np.array(replicated)


WORK = 2_000_000  # replicated labels
FEWEST_DRAWS, MOST_DRAWS = 120, 400
REJECTED = 0.01
# verdicts on a statistic that the check does not reject
FITS, BY_CHANCE = "fits", "outside, as some are by chance"
WORST = 3  # coders and pairs with a separate row
SMALLEST_SD = 0.01
# misfit from which results change; errors on the same items also measure the spread of the
# votes, so its limit, a variance of 1, is never reached
LIMITS = {
    "votes_chi_square": 1.0,
    "spread_of_the_votes": 1.0,
    "pairwise_agreement": AGREEMENT_OFF,
    "krippendorff_s_alpha": AGREEMENT_OFF,
    "errors_on_the_same_items": DISPERSION,
    "use_of_labels": SHARE_OFF,
    "agreement_of_pairs": SHARE_OFF,
}

COLUMNS = columns(
    "statistic",
    Column("observed", "Observed", "quantity"),
    Column("expected", "Expected", "quantity", interval=("low", "high")),
    "p_value verdict",
)


def aspects(tree: xr.DataTree, data: Annotations, seed: int = 0) -> tuple[Summary, list[Finding]]:
    """Compare the labels with replicates from the model, as a summary and findings per aspect."""
    # p_value: proportion of replicates at or above the observed value, ties half; for chi-square,
    # errors and rows of coders only small values count. Gelman, Meng & Stern 1996, Statistica
    # Sinica 6, 733-807.
    design = Assignment(data)
    rng = np.random.default_rng(seed)
    draws = thinned(tree, data, int(np.clip(WORK // len(data), FEWEST_DRAWS, MOST_DRAWS)))
    repeats = -(-FEWEST_DRAWS // len(draws))  # few draws are used more than once
    seen = _replicate(draws, design, rng, repeats)
    observed = _statistics(design, data.label.astype(np.int64))
    # P(truth) of a stack allows for errors concentrated on items: its model need not fit
    rows, judge = CheckRows(), partial(reproduced, needed=not is_stack(model_of(tree)))
    found = []
    if design.has_pairs:
        found = _of_items(rows, design, observed, seen, judge)
        uneven = error_dispersion(draws, data, rng, repeats)
        errors = rows.realised("errors on the same items", *uneven)
        found.append(judge("errors_on_the_same_items", errors, times=uneven[0].mean()))
    names = [
        f"{data.coders[j]} says {label_text(label)}"
        for j in design.busiest
        for label in data.labels
    ]
    found.append(judge("use_of_labels", rows.worst(names, observed["uses"], seen["uses"])))
    if len(observed["pairs"]):
        names = [f"{pair} agree" for pair in design.pair_names()]
        pairs = rows.worst(names, observed["pairs"], seen["pairs"])
        found.append(judge("agreement_of_pairs", pairs))
    missed = [each for each in found if each.state != "fine"]
    other = next_model(
        fitted_model(tree), [each.name for each in missed], data.n_labels, data.scale
    )
    notes = list(dict.fromkeys(each.sentence for each in missed))
    notes += [] if other is None else [other.sentence]
    table = rows.table()
    kept = xr.Dataset(
        {
            "replicated": (("draw", "statistic"), np.stack(rows.draws, axis=1)),
            "observed": (("statistic",), table["observed"].to_numpy()),
        },
        coords={"statistic": table["statistic"].to_list()},
    )
    well = "The labels look like labels that the model would produce."
    return Summary(
        "Posterior predictive checks", table, kept, tuple(notes or [well]), COLUMNS
    ), found


def reproduced(code: str, seen: Compared, needed: bool = True, **words: object) -> Finding:
    """Judge if the model reproduces an aspect of the data, and if the difference is large."""
    large = needed and seen.size >= LIMITS[code]
    state = "fine" if seen.fits else "large" if large else "small"
    return finding(code, state, seen.size, LIMITS[code], which=seen.which, **words)


def _of_items(
    rows: CheckRows,
    design: Assignment,
    observed: dict[str, Floats],
    seen: dict[str, Floats],
    judge: Callable[..., Finding],
) -> list[Finding]:
    for k, name in enumerate(design.cell_names):
        rows.two_sided(name, observed["cells"][k], seen["cells"][:, k])
    expected = np.maximum(seen["cells"].mean(axis=0), 0.5)
    chi = ((seen["cells"] - expected) ** 2 / expected).sum(axis=1)
    chi_seen = float(((observed["cells"] - expected) ** 2 / expected).sum())
    votes = rows.one_sided("votes, chi-square", chi_seen, chi, "not as the model expects")
    found = [judge("votes_chi_square", votes)]
    for code, name, key in (
        ("spread_of_the_votes", "spread of the votes", "spread"),
        ("pairwise_agreement", "pairwise agreement", "agreement"),
        ("krippendorff_s_alpha", "Krippendorff's alpha", "alpha"),
    ):
        value, replicated = observed[key][0], seen[key][:, 0]
        if not np.isnan([value, *replicated]).any():
            one = rows.two_sided(name, value, replicated)
            found.append(judge(code, one, side=int(one.p_value < 0.5)))
    return found


def _statistics(design: Assignment, label: Ints) -> dict[str, Floats]:
    out = {"uses": design.uses(label).ravel(), "pairs": design.pair_agreement(label)}
    if design.has_pairs:
        votes = design.votes(label)
        out["cells"] = design.cells(votes)
        out["spread"] = np.array([design.spread(votes)])
        out["agreement"] = np.array([design.agreement(votes)])
        out["alpha"] = np.array([design.alpha(votes)])
    return out


def _replicate(
    draws: Draws, design: Assignment, rng: np.random.Generator, repeats: int
) -> dict[str, Floats]:
    """Compute the statistics of `repeats` replicates per draw."""
    data = design.data
    found: dict[str, list[Floats]] = {}
    for step in np.repeat(np.arange(len(draws)), repeats):
        state = choices(_shares(draws, data, int(step)), rng.random(data.n_items))
        label = draw_labels(draws.emission[step], data.coder, state[data.item], rng)
        for name, value in _statistics(design, label).items():
            found.setdefault(name, []).append(value)
    return {name: np.stack(values) for name, values in found.items()}


def _shares(draws: Draws, data: Annotations, step: int) -> Floats:
    """Return P(state) of each item before its labels, shape [item, state]."""
    kinds = draws.kinds_of(data)
    out = np.tile(draws.share[step], (data.n_items, 1))
    if kinds is not None:
        out = np.exp(draws.log_share(step, kinds))
    known = np.flatnonzero(data.known >= 0)
    joint = out[known] * draws.truth(step).T[data.known[known]]
    out[known] = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
    return out


class Compared(NamedTuple):
    """An observed statistic and its replicates under the model."""

    p_value: float  # posterior predictive p-value
    fits: bool  # True if the model reproduces it, regardless of size
    size: float = 0.0  # distance of the labels from the model, in the unit of the limit
    which: str = ""  # coders or pairs that stand out, as text


class CheckRows:
    """Rows of the table under construction, with their replicated values."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float, float, float, float, float, str]] = []
        self.draws: list[Floats] = []

    def table(self) -> pd.DataFrame:
        columns = ["statistic", "observed", "expected", "low", "high", "p_value", "verdict"]
        return pd.DataFrame(self.rows, columns=columns)

    def two_sided(self, name: str, observed: float, seen: Floats) -> Compared:
        """Add a number that should be neither large nor small; ties count half."""
        p = float((seen > observed).mean() + (seen == observed).mean() / 2)
        fits = REJECTED <= p <= 1 - REJECTED
        self._add(name, observed, seen, p, _verdict(fits, p < 0.5))
        return Compared(p, fits, float(abs(observed - seen.mean())))

    def one_sided(self, name: str, observed: float, seen: Floats, verdict: str) -> Compared:
        """Add a distance; only large values are evidence against the model."""
        p = _p_at_least(observed, seen)
        fits = p >= REJECTED
        self._add(name, observed, seen, p, FITS if fits else verdict)
        return Compared(p, fits)

    def realised(self, name: str, observed: Floats, seen: Floats) -> Compared:
        """Add a realized discrepancy, computed for data and replicate on every draw."""
        p = _p_at_least(observed, seen)
        fits = p >= REJECTED
        self._add(name, float(observed.mean()), seen, p, _verdict(fits, more=True))
        return Compared(p, fits, float(observed.mean() / seen.mean()))

    def worst(self, names: list[str], observed: Floats, seen: Floats) -> Compared:
        """Add rows for the entries farthest from expectation; p-values allow for their number."""
        mean = seen.mean(axis=0)
        sd = np.maximum(seen.std(axis=0), SMALLEST_SD)
        far = np.abs(observed - mean) / sd
        farthest = (np.abs(seen - mean) / sd).max(axis=1)
        out = []
        ps = []
        order = np.argsort(-far, kind="stable")
        for at in order[:WORST]:
            p = _p_at_least(far[at], farthest)
            more = bool(observed[at] > mean[at])
            self._add(names[at], observed[at], seen[:, at], p, _verdict(p >= REJECTED, more))
            ps.append(p)
            if p < REJECTED:
                out.append(f"{names[at]} {'more' if more else 'less'} often")
        size = float(np.abs(observed - mean)[order[:WORST]].max(initial=0.0))
        return Compared(min(ps), not out, size, ", ".join(out))

    def _add(self, name: str, observed: float, seen: Floats, p: float, verdict: str) -> None:
        low, high = np.quantile(seen, [0.025, 0.975])
        if verdict == FITS and not low <= observed <= high:
            verdict = BY_CHANCE
        row = (name, float(observed), float(seen.mean()), float(low), float(high), p, verdict)
        self.rows.append(row)
        self.draws.append(seen)


def _p_at_least(observed: float | Floats, seen: Floats) -> float:
    return float((1 + (seen >= observed).sum()) / (1 + len(seen)))


def _verdict(fits: bool, more: bool) -> str:
    return FITS if fits else f"{'more' if more else 'less'} than the model expects"


# aspects of the data that rules call "items"
OF_ITEMS = (
    *("votes, chi-square", "spread of the votes", "pairwise agreement", "Krippendorff's alpha"),
    "errors on the same items",
)
ORDERED = ("alike", "narrow", "matrices")  # families that do not use the order of labels
RULES = MESSAGES["next_model"]["rules"]


def next_model(
    model: str, rejected: Collection[str], n_labels: int, scale: str = "nominal"
) -> Finding | None:
    """Name the model to try if the fitted model misfits the data, as the value "other"."""
    if not rejected:
        return None
    family = MODELS[model].family if model in MODELS else ""
    other = because = ""
    if scale == "ordinal" and n_labels > 2 and family in ORDERED:
        other, because = "ordinal", MESSAGES["next_model"]["ordinal"]
    kinds = {*rejected, *(["items"] if set(OF_ITEMS).intersection(rejected) else [])}
    for rule in RULES:
        applies = family in rule["families"] and kinds.intersection(rule["rejected"])
        if not other and applies and n_labels >= rule.get("labels", 2):
            other, because = rule["then"], rule["because"]
    if not other:
        return None
    fit = Verb(f'am.fit(data, "{other}")', f"annomodels run DATA --model {other}")
    words = {"model": model, "other": other, "because": because}
    words["compare"] = str(Verb("am.compare", "annomodels compare"))
    return finding("next_model", "other", len(rejected), remedy=fit, **words)


def fitted_model(tree: xr.DataTree) -> str:
    """Return the short name of the fitted model, empty if the tree does not contain it."""
    return str(json.loads(tree.attrs.get("model", "{}")).get("name", ""))
