"""Posterior predictive checks: misfit of the model, and the model to try next."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.columns import Column, columns
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.errors import Verb
from annomodels.limits import AGREEMENT_OFF, DISPERSION, SHARE_OFF
from annomodels.models import MODELS
from annomodels.models.catalog import is_stack
from annomodels.summaries.draws import Draws, choices, draw_labels, model_of, thinned
from annomodels.summaries.trust.discrepancies import Design, error_dispersion
from annomodels.summaries.trust.findings import MESSAGES, Finding, finding
from annomodels.types import Floats, Ints

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


def predictive(tree: xr.DataTree, data: Annotations, seed: int = 0) -> Summary:
    """Compare the labels with labels replicated from the model by the same coders."""
    # p_value: proportion of replicates at or above the observed value, ties half; for chi-square,
    # errors and rows of coders only small values count. Gelman, Meng & Stern 1996, Statistica
    # Sinica 6, 733-807.
    return aspects(tree, data, seed)[0]


def aspects(tree: xr.DataTree, data: Annotations, seed: int = 0) -> tuple[Summary, list[Finding]]:
    """Return the summary of :func:`predictive`, and a finding for each aspect of the data."""
    design = Design(data)
    rng = np.random.default_rng(seed)
    draws = thinned(tree, data, int(np.clip(WORK // len(data), FEWEST_DRAWS, MOST_DRAWS)))
    repeats = -(-FEWEST_DRAWS // len(draws))  # few draws are used more than once
    seen = _replicate(draws, design, rng, repeats)
    observed = _statistics(design, data.label.astype(np.int64))
    # P(truth) of a stack allows for errors concentrated on items: its model need not fit
    rows, judge = Rows(), partial(reproduced, needed=not is_stack(model_of(tree)))
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
    rows: Rows,
    design: Design,
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


def _statistics(design: Design, label: Ints) -> dict[str, Floats]:
    out = {"uses": design.uses(label).ravel(), "pairs": design.pair_agreement(label)}
    if design.has_pairs:
        votes = design.votes(label)
        out["cells"] = design.cells(votes)
        out["spread"] = np.array([design.spread(votes)])
        out["agreement"] = np.array([design.agreement(votes)])
        out["alpha"] = np.array([design.alpha(votes)])
    return out


def _replicate(
    draws: Draws, design: Design, rng: np.random.Generator, repeats: int
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


class Rows:
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
