"""Conflict of priors with the data, sensitivity of results to priors, and item effects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import softmax

from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import Column, columns, short
from annomodels.data.messages import NAMED
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.data.validation import counted, some
from annomodels.models.answering import answers_of
from annomodels.models.base import Model, log_priors, n_states
from annomodels.models.catalog import is_stack
from annomodels.models.continuous.item_difficulty import item_effects
from annomodels.models.continuous.laplace import log_marginal
from annomodels.models.hierarchical import expected_accuracy
from annomodels.models.parameters import ExpectedAccuracy
from annomodels.priors.shares import inside
from annomodels.summaries import skills
from annomodels.summaries.draws import (
    Draws,
    evenly,
    flat,
    model_of,
    n_samples,
    thinned,
    truth_probabilities,
)
from annomodels.summaries.notes import listed
from annomodels.summaries.trust.findings import Finding, finding, phrase
from annomodels.summaries.trust.held_out import power_sensitivity, smoothed
from annomodels.summaries.trust.patterns import consensus
from annomodels.types import Floats

# posterior mean number of standard deviations below expectation from which coders contradict
# their prior
FAR = 3.0
# fewest labels of a class for a contradiction
FEWEST_TOLD = 30
CODE = "prior_against_data"
WEAKER, STRONGER = 0.8, 1.25
NEARBY = (0.99, 1.01)  # powers between which the sensitivity is a slope
SENSITIVE = 0.05
FEWEST_DRAWS = 100
MOST_DRAWS = 1000
CELLS = 200_000_000  # draws x items x states for P(truth)
WIDEST = 40
LEAST = 0.001  # smallest change that is reported

say = partial(phrase, "prior_sensitivity")


def prior_finding(tree: xr.DataTree, data: Annotations) -> Finding | None:
    """Judge whether coders mostly mistake a class for another, against their prior."""
    # Use the consensus of coders: in P(truth), uncertainty about a common class outweighs a rare
    # class.
    if n_samples(tree) < 2:
        return None
    try:
        found = expected_accuracy(model_of(tree), partial(flat, tree))
    except KeyError:  # result of an earlier version with fewer variables
        return None
    if found is None:
        return None
    p: Floats = tree["truth"].to_dataset()["p_truth"].values
    crowd = consensus(data)
    if crowd is not None:
        p = np.where(data.known[:, None] >= 0, p, crowd.p)
    told = np.zeros((data.n_labels, data.n_labels))
    for label in range(data.n_labels):
        told[:, label] = p[data.item[data.label == label]].sum(axis=0)
    far = ((found.mean - found.seen) / found.spread).mean(axis=0)
    # populations of coders already allow for classes that are merely harder
    given = told.sum(axis=1)
    mistaken = (told.argmax(axis=1) != np.arange(len(told))) & (given >= FEWEST_TOLD)
    value = float(np.where(mistaken, far, 0.0).max())
    if value < FAR:
        return finding(CODE, "fine", value, FAR)
    classes = np.flatnonzero(mistaken & (far >= FAR)).tolist()
    said = [_said(k, told[k] / told[k].sum(), found, data) for k in classes]
    return finding(CODE, "mistaken", value, FAR, told=said)


def _said(k: int, share: Floats, found: ExpectedAccuracy, data: Annotations) -> str:
    """Describe the label that coders give to a class, and the prior expectation."""
    other = int(share.argmax())
    name, instead = (label_text(data.labels[n]) for n in (k, other))
    mean, spread = found.mean[:, k].mean(), found.spread[:, k].mean()
    low, high = (min(max(mean + z * spread, 0.0), 1.0) for z in (-2.0, 2.0))
    words = {"name": name, "instead": instead, "share": share[k], "other": share[other]}
    return phrase(CODE, "class", seen=found.seen[:, k].mean(), low=low, high=high, **words)


@dataclass(frozen=True, eq=False)
class _Weights:
    """Weights of the draws under power-scaled priors, [sample].

    Unless they are reliable, `weaker` and `stronger` are first-order approximations.
    """

    weaker: Floats
    stronger: Floats
    nearby: tuple[Floats, Floats]
    reliable: bool


COLUMNS = columns(
    "what",
    ALL["name"].called("Of"),
    Column("mean", "With these priors", digits=3),
    ALL["sd"].called(kind="number", digits=3),
    Column("weaker", "A fifth weaker", digits=3),
    Column("stronger", "A quarter stronger", digits=3),
    "prior_sensitivity",
)


def prior_sensitivity(tree: xr.DataTree, data: Annotations) -> Summary:
    """Compute the effect of priors a fifth weaker or a quarter stronger (power scaling)."""
    # Draws are weighted by p(theta)^(alpha - 1), smoothed; to first order if few draws would carry
    # the weight. Kallioinen et al. 2024, doi:10.1007/s11222-023-10366-5.
    title = "What other priors would change"
    model = model_of(tree)
    cells = data.n_items * max(n_states(model, data.n_labels), data.n_labels)
    most = int(np.clip(CELLS // cells, FEWEST_DRAWS, MOST_DRAWS))
    draws = thinned(tree, data, most)
    if len(draws) < FEWEST_DRAWS:  # few draws, or few that fit in memory
        note = say("few_draws", n=len(draws), least=FEWEST_DRAWS)
        return Summary(title, _table((), (), np.empty((0, 0)), None), notes=(note,))
    chosen = evenly(n_samples(tree), len(draws))
    values = {str(name): flat(tree, str(name), chosen) for name in tree["posterior"].data_vars}
    log_prior, priors = log_chosen_priors(model, data, values)
    weights = _weights(log_prior)
    accuracy = skills.accuracy(draws.prevalence, draws.confusion)
    table = _table(
        [label_text(name) for name in data.labels],
        [label_text(name) for name in data.coders],
        np.concatenate([draws.prevalence, accuracy], axis=1),
        weights,
    )
    gold = say("stack") if is_stack(model) else _changed(draws, data, weights)
    return Summary(
        title, table, notes=(_scaled(priors, weights), _moved(table), gold), columns=COLUMNS
    )


def log_chosen_priors(
    model: Model, data: Annotations, values: dict[str, Floats]
) -> tuple[Floats, list[str]]:
    """Return the log density of chosen priors on every draw, [sample], and their names."""
    # Excludes coders around an estimated population, and variables without kept draws.
    model = answers_of(model)
    known = {name: np.asarray(v, dtype=np.float64) for name, v in model.pymc_values(values).items()}
    for each in model.variables(data.n_labels):
        if each.name in known and each.support in ("simplex", "unit"):
            known[each.name] = inside(known[each.name])
    said = log_priors(model, known, chosen=True)
    return np.asarray(sum(said.values())), list(said)


def _weights(log_prior: Floats) -> _Weights:
    def to_the_power(power: float) -> tuple[Floats, float]:
        log_weights, k = smoothed((power - 1.0) * log_prior)
        return np.exp(log_weights), k

    limit = min(1.0 - 1.0 / np.log10(len(log_prior)), 0.7)
    (weaker, k_weaker), (stronger, k_stronger) = map(to_the_power, (WEAKER, STRONGER))
    reliable = max(k_weaker, k_stronger) <= limit
    if not reliable:
        slope = (log_prior - log_prior.mean()) / len(log_prior)
        weaker, stronger = (1.0 / len(log_prior) + (p - 1.0) * slope for p in (WEAKER, STRONGER))
    nearby = to_the_power(NEARBY[0])[0], to_the_power(NEARBY[1])[0]
    return _Weights(weaker, stronger, nearby, reliable)


def _table(
    labels: Sequence[str], coders: Sequence[str], values: Floats, weights: _Weights | None
) -> pd.DataFrame:
    """Tabulate prevalence and accuracy from draws, [sample, label and coder]."""
    what = ["prevalence"] * len(labels) + ["accuracy"] * len(coders)
    table = pd.DataFrame({"what": what, "name": [*labels, *coders]})
    of = dict.fromkeys(("mean", "sd", "weaker", "stronger", "prior_sensitivity"), np.empty(0))
    if weights is not None:
        each = np.ascontiguousarray(values.T)
        slope = [power_sensitivity(of_one, weights.nearby, NEARBY) for of_one in each]
        of = {
            "mean": values.mean(axis=0),
            "sd": values.std(axis=0, ddof=1),
            "weaker": weights.weaker @ values,
            "stronger": weights.stronger @ values,
            "prior_sensitivity": np.nan_to_num(slope),  # constants
        }
    table = table.assign(**of)
    return table.assign(sensitive=table["prior_sensitivity"] >= SENSITIVE)


def _scaled(priors: Sequence[str], weights: _Weights) -> str:
    of = listed([name.replace("_", " ") for name in priors], len(priors))
    code = "reweighted" if weights.reliable else "first_order"
    return say(code, of=of, weaker=WEAKER, stronger=STRONGER)


def _moved(table: pd.DataFrame) -> str:
    """Describe the largest changes, and the sensitive quantities."""
    away = table[["weaker", "stronger"]].sub(table["mean"], axis=0).abs().max(axis=1)
    by = {}
    for what in ("prevalence", "accuracy"):
        own = table["what"] == what
        worst, most = int(away[own].argmax()), away[own].max()
        name = short(table.loc[own, "name"].iloc[worst], WIDEST)
        by[what] = say("most" if most >= LEAST else "least", value=most, name=name, least=LEAST)
    much = table[table["sensitive"]]
    of = [f"{what} of {_first(rows)}" for what, rows in much.groupby("what", sort=False)]
    end = say("sensitive" if of else "not_sensitive", least=SENSITIVE, of="; ".join(of))
    return say("moved", end=end, **by)


def _first(rows: pd.DataFrame) -> str:
    """List the most sensitive names, and count the others."""
    # two prevalences are equally sensitive: rounding errors must not decide which comes first
    most = rows["prior_sensitivity"].round(9).sort_values(ascending=False, kind="stable").index
    return some(rows.loc[most, "name"], partial(short, width=WIDEST), NAMED, WIDEST)


def _changed(draws: Draws, data: Annotations, weights: _Weights) -> str:
    means = np.zeros((3, data.n_items, data.n_labels))
    for n, p in truth_probabilities(draws, data):
        for mean, weight in zip(
            means, (1.0 / len(draws), weights.weaker[n], weights.stronger[n]), strict=True
        ):
            mean += weight * p
    best = means.argmax(axis=2)
    others = int((best[1:] != best[0]).any(axis=0).sum())
    return say("changed" if others else "unchanged", n=others, items=data.n_items)


# items per value below which a coefficient is mostly prior; proportion of a term's variance
# explained by the class from which the two are confounded; range of a column, in standard
# deviations, from which a few items dominate
FEW, EXPLAINED, RANGE = 10, 0.8, 15.0


def item_terms_finding(tree: xr.DataTree, data: Annotations) -> Finding | None:
    """Find item terms whose coefficient depends on the prior, on few items, or on the class."""
    declared = model_of(tree).parameters(data.n_labels)
    terms = [term for each in declared if each.dims == ("item_term",) for term in each.terms]
    if not terms:
        return None
    draws = thinned(tree, data, 1)
    kinds = draws.kinds_of(data)
    if draws.kinds is None or kinds is None:
        return None
    truth: Floats = tree["truth"].to_dataset()["p_truth"].values
    votes = np.eye(data.n_labels)[data.votes.argmax(axis=1)]
    split = (data.votes > 0).sum(axis=1) > 1
    several = data.votes.sum(axis=1) > 1
    said = []
    for (term, unit), x in zip(terms, draws.kinds.design[kinds].T, strict=True):
        reasons = []
        if unit.startswith("against"):
            has = x > 0
            if min(has.sum(), (~has).sum()) < FEW:
                few = int(min(has.sum(), (~has).sum()))
                side = "with" if has.sum() == few else "without"
                reasons.append(f"{counted(few, 'item')} {side} it")
            for part, where in ((has, "with it"), (~has, "without it")):
                if (part & several).any() and not (part & split).any() and split.any():
                    reasons.append(f"coders never disagree on items {where}")
        elif np.ptp(x) > RANGE:
            far = f"{np.ptp(x):.0f} of its standard deviations"
            reasons.append(f"it has a range of {far}, so take its logarithm")
        if max(_explained(x, truth), _explained(x, votes)) > EXPLAINED:
            reasons.append("it nearly equals the class, so it may describe the votes, not the item")
        if reasons:
            said.append(f"{term} ({'; '.join(reasons)})")
    state = "prior" if said else "fine"
    return finding("covariates_of_items", state, len(said), terms=said, n=len(terms))


def _explained(x: Floats, truth: Floats) -> float:
    """Return the proportion of a term's variance explained by P(class), by least squares."""
    left = x - truth @ np.linalg.lstsq(truth, x, rcond=None)[0]
    return float(1.0 - left.var() / max(x.var(), 1e-300))


DRAWS, ITEMS = 3, 24
# errors of the log probability of an item's labels, and of P(truth), that are reported
LOG_ERROR, P_ERROR = 0.25, 0.02


@dataclass(frozen=True)
class SummedOut:
    """Error of the fit's quadrature points relative to a rule adapted to each item."""

    points: int  # number of points
    log_error: float  # root mean square error of the log probability of the labels of an item
    p_error: float  # mean absolute error of P(truth), of the class where it is largest
    said: float  # root mean square standard error of the log probability by the adapted rule


def summed_out(tree: xr.DataTree, data: Annotations) -> SummedOut | None:
    """Compare the quadrature points with an adapted rule on some draws and items, if any."""
    model = model_of(tree)
    total, n = n_samples(tree), np.diff(data.starts)
    order = np.argsort(-n, kind="stable")[: int((n > 0).sum())]
    chosen = order[evenly(len(order), min(ITEMS, len(order)))]
    errors, gaps, said = [], [], []
    points = 0
    for draw in evenly(total, min(DRAWS, total)):
        names = map(str, tree["posterior"].data_vars)
        values = {name: flat(tree, name, slice(draw, draw + 1))[0] for name in names}
        effects = item_effects(model, values)
        if effects is None:
            return None
        found = model.states({name: value[None] for name, value in values.items()})
        assert found is not None
        logit, scale = effects
        points = found.share.shape[1] // data.n_labels
        log_prevalence = np.log(np.maximum(values["prevalence"], 1e-300))
        log_emission, log_share = np.log(found.emission[0]), np.log(found.share[0])
        for i in chosen:
            mine = slice(data.starts[i], data.starts[i + 1])
            label = data.label[mine].astype(np.int64)
            row = np.zeros(len(label), np.int64) if len(logit) == 1 else data.coder[mine]
            usual = (log_share + log_emission[row, :, label].sum(axis=0)).reshape(-1, points)
            by_points = np.logaddexp.reduce(usual, axis=1)
            adapted = log_marginal(logit[row], scale, label)
            by_rule = adapted.log + log_prevalence
            errors.append(np.logaddexp.reduce(by_points) - np.logaddexp.reduce(by_rule))
            gaps.append(np.abs(softmax(by_points) - softmax(by_rule)).max())
            said.append(float(softmax(by_rule) @ adapted.error))
    rms = [float(np.sqrt(np.mean(np.square(each)))) for each in (errors, said)]
    return SummedOut(points, rms[0], float(np.mean(gaps)), rms[1])


def effects_finding(tree: xr.DataTree, data: Annotations) -> Finding | None:
    found = summed_out(tree, data)
    if found is None:
        return None
    fine = found.log_error < LOG_ERROR and found.p_error < P_ERROR
    code, state = "points_of_item_effects", "fine" if fine else "few"
    words = {"points": found.points, "rule": found.said, "p": found.p_error}
    return finding(code, state, found.log_error, LOG_ERROR, **words)
