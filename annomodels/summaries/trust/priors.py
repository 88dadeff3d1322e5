"""Conflict of priors with the data, and sensitivity of results to priors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import Column, columns, short
from annomodels.data.messages import NAMED
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.data.validation import some
from annomodels.models.answering import answers_of
from annomodels.models.base import Model, log_priors, n_states
from annomodels.models.catalog import is_stack
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
    told = [name.replace("_", " ") for name in priors]
    of = " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)
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
