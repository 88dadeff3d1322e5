"""Summaries of links: true readings of mentions, silver chains, and coders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from annomodels.data.candidates import Candidates, antecedents_of
from annomodels.data.columns import percent
from annomodels.data.summary import Summary
from annomodels.errors import NotApplicable
from annomodels.models.pairs import PairModel, PairValues
from annomodels.summaries.draws import model_of
from annomodels.summaries.trust.checks import Check, judged
from annomodels.summaries.trust.convergence import fit_findings
from annomodels.summaries.trust.findings import Finding, finding
from annomodels.types import Floats

GOOD_ERROR = 0.05
FEW = 20
SHARE = 0.02
SPLIT = "Mentions left unjoined because their antecedent has several parts: {n}."


def interpretations(tree: xr.DataTree, data: Candidates) -> Summary:
    """Tabulate all candidates with P(true), its Monte Carlo error, and votes."""
    model, codes, p, truth = _read(tree, data)
    silver = p > 0.5
    if model.single:
        silver = np.zeros(len(p), dtype=bool)
        silver[_best(codes, p)] = True
    table = pd.DataFrame(
        {
            "item": np.array(codes.items, dtype=object)[codes.mention],
            "label": np.array(codes.labels, dtype=object),
            "class": np.array(codes.classes, dtype=object)[codes.cls],
            "votes": codes.votes,
            "coders": codes.judged()[codes.mention],
            "p_true": p,
            "mc_error": monte_carlo_error(truth["p_true"].values),
            "p_next": truth["p_next"].values,
            "silver": silver,
        }
    )
    return Summary("Interpretations", table, truth[["p_true"]])


def mentions(tree: xr.DataTree, data: Candidates) -> Summary:
    """Tabulate mentions with their most probable label and P(none, one, several are true)."""
    _, codes, p, truth = _read(tree, data)
    best, number = _best(codes, p), truth["p_number"].values
    names = truth["number"].values.astype(object)
    table = pd.DataFrame(
        {
            "item": np.array(codes.items, dtype=object),
            "silver": np.array(codes.labels, dtype=object)[best],
            "p_silver": p[best],
            "p_next": truth["p_next"].values[best],
            **{f"p_{name}": number[:, k] for k, name in enumerate(names)},
            "readings": names[number.argmax(axis=1)],
        }
    )
    counts = table["readings"].value_counts()
    note = ", ".join(f"{int(counts.get(name, 0))} with {name}" for name in names)
    notes = (f"Mentions by their most probable number of true readings: {note}.",)
    return Summary("Mentions", table, truth[["p_true"]], notes)


def ambiguous(tree: xr.DataTree, data: Candidates, threshold: float = 0.5) -> Summary:
    """Tabulate mentions that likely have no or several true readings, or an uncertain one."""
    _require_probability("threshold", threshold)
    found = mentions(tree, data)
    table = found.table
    doubt = 1 - table["p_silver" if _read(tree, data)[0].single else "p_one"]
    chosen = table[doubt >= threshold].assign(doubt=doubt[doubt >= threshold])
    chosen = chosen.sort_values(["doubt", "item"], ascending=[False, True], kind="stable")
    table = chosen.drop(columns="doubt").reset_index(drop=True)
    return Summary("Ambiguous mentions", table, found.draws)


def coders(tree: xr.DataTree, data: Candidates, prob: float = 0.95) -> Summary:
    """Tabulate sensitivity and specificity (or accuracy) of each coder for each class."""
    if not 0 < prob < 1:
        raise NotApplicable(f"prob={prob!r} should be between 0 and 1, for instance 0.9.")
    model, posterior = _model(tree), tree["posterior"].to_dataset()
    rate = PairValues.of(posterior).rate
    edges = (1 - prob) / 2, (1 + prob) / 2
    low, high = np.quantile(rate, edges, axis=(0, 1))
    mean = rate.mean(axis=(0, 1))
    kinds = [(name, quantity) for name in data.classes for quantity in model.quantities]
    rows = [
        (name, cls, quantity, mean[j, k], low[j, k], high[j, k], int(data.per_coder[j]))
        for j, name in enumerate(data.coders)
        for k, (cls, quantity) in enumerate(kinds)
    ]
    columns = ["coder", "class", "quantity", "mean", "low", "high", "judgments"]
    notes = (f"Intervals contain {percent(prob, 0)} of the draws.",)
    return Summary("Coders", pd.DataFrame(rows, columns=columns), posterior, notes)


def links(tree: xr.DataTree, data: Candidates, at_least: float = 0.0) -> Summary:
    """Tabulate the most probable antecedent of each mention, unless it is split or missing."""
    _require_probability("at_least", at_least)
    _, codes, p, truth = _read(tree, data)
    p_next, found, split = truth["p_next"].values, [], 0
    for item, m in zip(codes.items, _best(codes, p), strict=True):
        names = antecedents_of(codes.labels[m])
        split += len(names) > 1
        if len(names) == 1 and p[m] >= at_least:
            text, mark, _ = item.rpartition("#")
            found.append((item, f"{text}{mark}{names[0]}", float(p[m]), float(p_next[m])))
    table = pd.DataFrame(found, columns=["item", "antecedent", "p_link", "p_next"])
    notes = (SPLIT.format(n=split),) if split else ()
    return Summary("Silver links", table, truth[["p_true"]], notes)


def chains(tree: xr.DataTree, data: Candidates, at_least: float = 0.0) -> Summary:
    """Tabulate silver chains: mentions joined by :func:`links`, named by the first mention."""
    found = links(tree, data, at_least)
    antecedent = dict(zip(found.table["item"], found.table["antecedent"], strict=True))
    p = dict(zip(found.table["item"], found.table["p_link"], strict=True))
    rows = []
    for chain, members in sorted(joined(antecedent).items()):
        weakest = min(p[name] for name in members if name in p)
        rows += [(chain, name, p.get(name, float("nan")), weakest) for name in sorted(members)]
    table = pd.DataFrame(rows, columns=["chain", "item", "p_link", "p_weakest"])
    return Summary("Silver chains", table, found.draws, found.notes)


def joined(links: Mapping[str, str]) -> dict[str, list[str]]:
    """Return chains of linked mentions, given the antecedent of each; keyed by a mention."""
    root: dict[str, str] = {}

    def top(name: str) -> str:
        while root.setdefault(name, name) != name:
            root[name] = root[root[name]]
            name = root[name]
        return name

    for name, antecedent in links.items():
        root[top(name)] = top(antecedent)
    chains: dict[str, list[str]] = {}
    for name in list(root):
        chains.setdefault(top(name), []).append(name)
    return chains


def check(tree: xr.DataTree, data: Candidates) -> Check:
    """Check the chains, the coders, and whether true and false are swapped."""
    mixed = fit_findings(tree, data)
    findings = [*mixed, _error(tree), *_swapped(tree, data), _few(data), _alone(data)]
    return judged(findings, " ".join(each.sentence for each in mixed[:2]))


def _error(tree: xr.DataTree) -> Finding:
    error = float(monte_carlo_error(tree["truth"].to_dataset()["p_true"].values).max())
    return finding(
        "monte_carlo_error", "fine" if error <= GOOD_ERROR else "large", error, GOOD_ERROR
    )


def _swapped(tree: xr.DataTree, data: Candidates) -> list[Finding]:
    if _model(tree).single:
        return []
    mean = PairValues.of(tree["posterior"].to_dataset()).mean
    shares = (mean[:, :, 0::2] + mean[:, :, 1::2] < 1.0).mean(axis=(0, 1)).tolist()
    return [
        finding("swap_on_a_class", "often" if share > SHARE else "fine", share, SHARE, label=name)
        for name, share in zip(data.classes, shares, strict=True)
    ]


def _few(data: Candidates) -> Finding:
    few = [data.coders[j] for j in np.flatnonzero(data.per_coder < FEW)]
    least, state = int(data.per_coder.min()), "few" if few else "fine"
    return finding("mentions_of_a_coder", state, least, FEW, coders=few)


def _alone(data: Candidates) -> Finding:
    alone = int((data.judged() < 2).sum())
    return finding("mentions_of_one_coder", "some" if alone else "fine", alone, of=data.n_items)


def _model(tree: xr.DataTree) -> PairModel:
    return cast("PairModel", model_of(tree))


def _read(tree: xr.DataTree, data: Candidates) -> tuple[PairModel, Candidates, Floats, xr.Dataset]:
    """Return the model, its encoded candidates, P(true) of each, and the group `truth`."""
    model, truth = _model(tree), tree["truth"].to_dataset()
    return model, model.encode(data), truth["p_true"].values.mean(axis=(0, 1)), truth


def _best(codes: Candidates, p: Floats) -> NDArray[np.int64]:
    """Return the most probable candidate per mention; ties go to more votes, then the first."""
    order = np.lexsort((-np.arange(len(p)), codes.votes, p, codes.mention))
    return np.asarray(order[codes.firsts[1:] - 1])


def monte_carlo_error(p_batches: Floats) -> Floats:
    """Return the standard error of P(true) from batches of draws, shape [candidate]."""
    flat = p_batches.reshape(-1, p_batches.shape[2])
    if len(flat) < 2:
        return np.full(flat.shape[1], np.nan)
    return np.asarray(flat.std(axis=0, ddof=1) / np.sqrt(len(flat)))


def _require_probability(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise NotApplicable(f"{name}={value!r} should be between 0 and 1.")
