"""Items: how uncertain, why, and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.coefficients.tables import over
from annomodels.data.annotations import Annotations
from annomodels.data.columns import columns, percent
from annomodels.data.copying import without_copies
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.limits import (
    CONTESTED_APART,
    CONTESTED_LABELS,
    CONTESTED_SIDES,
    DISSENT,
    SETTLED,
)
from annomodels.summaries import skills
from annomodels.summaries.draws import model_of, per_item, thinned, told_by
from annomodels.summaries.items.contested import contested, listed, sides
from annomodels.summaries.items.readings import surprise
from annomodels.types import Bools, Floats, Ints

WORK = 4_000_000  # replicated labels
FEWEST_DRAWS, MOST_DRAWS = 100, 500
WORTH_NAMING = 0.15
QUADRANTS = ("easy", "hard but settled", "needs more labels", "contested")
CARELESS = 0.1  # accuracy by which dissenting coders must be worse to be called less reliable

COLUMNS = columns(
    "item n label probability quadrant disagreement entropy difficulty p_ambiguous p_easy reason"
)


def items(tree: xr.DataTree, data: Annotations, seed: int = 0) -> Summary:
    """Tabulate the uncertainty of every item, taken apart, with a reason for items that stand out.

    entropy = reducible + irreducible, in bits, with irreducible = E[entropy of P(truth | labels,
    parameters)]: only further labels of the item lower it. p_contested comes from the labels alone,
    surprise is a posterior predictive p-value (:func:`surprise`); :func:`quadrants` has the rules.
    With two classes labels cannot tell a hard item from a contested one.
    """
    truth = tree["truth"].to_dataset()
    p = truth["p_truth"].values
    best = p.argmax(axis=1)
    n = np.diff(data.starts)
    entropy = skills.entropy_bits(p)
    irreducible = np.minimum(truth["conditional_entropy"].values / np.log(2), entropy)
    n_draws = int(np.clip(WORK // len(data), FEWEST_DRAWS, MOST_DRAWS))
    draws = thinned(tree, data, n_draws)
    p_surprise, _ = surprise(draws, data, np.random.default_rng(seed))
    prevalence, confusion = draws.prevalence.mean(axis=0), draws.confusion.mean(axis=0)
    own = state_columns(tree, data)
    p_ambiguous = own.get("p_ambiguous")
    p_contested, undecided = to_decide(data, p_ambiguous)
    facts = ItemFacts(
        data=data,
        best=best,
        probability=p[np.arange(len(p)), best],
        contested=p_contested,
        undecided=undecided,
        settled=settled(p, data, skills.signal(tree, data)),
        accuracy=skills.accuracy(prevalence, confusion),
        bits=skills.bits(prevalence, confusion),
        ambiguous=None if p_ambiguous is None else np.asarray(p_ambiguous),
        readings=[str(text) for text in own.get("readings", [])],
    )
    where = quadrants(facts)
    table = pd.DataFrame(
        {
            "item": list(data.items),
            "n": n,
            "label": [data.labels[k] for k in best],
            "probability": facts.probability,
            "entropy": entropy,
            "reducible": entropy - irreducible,
            "irreducible": irreducible,
            "disagreement": disagreement(data),
            "surprise": p_surprise,
            "p_contested": p_contested,
            **own,
            "quadrant": where,
            "reason": reasons(facts, where),
        }
    )
    counted = ", ".join(
        f"{where.count(word):,} {quadrant_name(word, data.n_labels)}" for word in QUADRANTS
    )
    notes = [f"Of {data.n_items:,} items: {counted}.", *told_by(tree)]
    notes += _sides_note(p_contested, data) if p_ambiguous is None else []
    if any(each.effect for each in model_of(tree).parameters(data.n_labels)):
        from annomodels.summaries.coders.effects import effect_sentences

        notes += effect_sentences(tree, data, "item")
    if tree.attrs.get("engine") == "em":
        notes.append(
            "The engine em treats its estimate as certain: the reducible part is zero and the "
            "probabilities are overconfident."
        )
    return Summary("Items", table, truth[["p_truth"]], tuple(notes), COLUMNS)


def to_decide(data: Annotations, p_ambiguous: object = None) -> tuple[Floats, Bools]:
    """Return P(contested) of each item, and which ones an expert should decide."""
    p = contested(without_copies(data))
    if p_ambiguous is None:
        chosen, groups = _divided(p, data)
        chosen &= not groups or data.n_labels == 2
    else:
        chosen = np.asarray(p_ambiguous) > 0.5
    return p, chosen & (data.known < 0)


def _divided(p: Floats, data: Annotations) -> tuple[Bools, bool]:
    """Return the items that divide the coders, and whether groups of coders side together there."""
    n = data.votes.sum(axis=1)
    able = (n >= CONTESTED_LABELS) & (n - data.votes.max(axis=1) >= CONTESTED_APART)
    chosen = listed(p, able)
    return chosen, sides(without_copies(data), chosen) > CONTESTED_SIDES


def _sides_note(p: Floats, data: Annotations) -> list[str]:
    """Say that groups of coders divide items, and what the list of contested ones is then worth."""
    chosen, groups = _divided(p, data)
    if not groups:
        return []
    then = (
        "The list of hard or contested items shows where they differ."
        if data.n_labels == 2
        else "So none of these is called contested; p_contested still has its value."
    )
    return [
        f"{chosen.sum():,} items divide the coders, and the same coders take the same side far "
        "more often than by chance: groups of coders share their errors, or read these items "
        f"differently. {then}"
    ]


def settled(p: Floats, data: Annotations, strength: Floats, threshold: float = SETTLED) -> Bools:
    """Return which items have a label that needs no more work."""
    # If all labels look alike, a prevalence near 1 is no knowledge of an item.
    return np.asarray(
        (p.max(axis=1) >= threshold) & ((data.known >= 0) | (not skills.doubtful(strength)))
    )


def quadrant_name(word: str, n_labels: int) -> str:
    """Return the name under which people read a quadrant."""
    return f"hard or {word}" if word == "contested" and n_labels == 2 else word


def disagreement(data: Annotations) -> Floats:
    """Share of the pairs of labels of an item that differ, NaN with fewer than two labels."""
    n = np.diff(data.starts).astype(float)
    pairs = n * (n - 1)
    agreeing = (data.votes * (data.votes - 1)).sum(axis=1)
    share: Floats = np.divide(agreeing, pairs, out=np.full(len(n), np.nan), where=pairs > 0)
    return 1 - share


def state_columns(tree: xr.DataTree, data: Annotations) -> dict[str, Floats | list[str]]:
    """Columns of the items' table that only models with states fill; empty for the others."""
    if "items" not in tree.children:
        return {}
    found = tree["items"].to_dataset()
    columns: dict[str, Floats | list[str]] = {}
    probabilities = model_of(tree).yes_or_no(data.n_labels)
    for name in map(str, found.data_vars):
        if name != "p_state" and name.removesuffix("_sd") not in probabilities:
            columns[name] = np.asarray(found[name].values)
    for name in probabilities.intersection(map(str, found.data_vars)):
        columns[f"p_{name}"] = np.asarray(found[name].values)
    shares = readings(tree, data)
    if shares is not None:
        names = [label_text(label) for label in data.labels]
        columns["readings"] = [_in_words(row, names) for row in shares]
    return columns


def readings(tree: xr.DataTree, data: Annotations) -> Floats | None:
    """Shares of the readings of each item with several, [item, truth]; None without any."""
    truth = model_of(tree).state_truth(data.n_labels)
    found = tree["items"].to_dataset()
    if truth is None or "p_state" not in found:
        return None
    several = truth.max(axis=1) < 1.0
    if not several.any():
        return None
    joint = found["p_state"].values[:, several] @ truth[several]
    shares: Floats = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
    return shares


def _in_words(row: Floats, names: list[str]) -> str:
    order = np.argsort(-row, kind="stable")
    return ", ".join(f"{names[k]} {percent(row[k], 0)}" for k in order if row[k] >= WORTH_NAMING)


@dataclass(frozen=True, eq=False)
class ItemFacts:
    """What quadrant and reason are made from."""

    data: Annotations
    best: Ints
    probability: Floats
    contested: Floats
    undecided: Bools
    settled: Bools
    accuracy: Floats
    bits: Floats
    ambiguous: Floats | None = None
    readings: Sequence[str] = ()


def quadrants(facts: ItemFacts) -> list[str]:
    """Sort items into quadrants by the rules at :func:`annomodels.summaries.items.items.items`."""
    votes = facts.data.votes
    n = votes.sum(axis=1)
    agreeing = votes[np.arange(len(n)), facts.best]
    hard = (n - agreeing >= DISSENT * n) & (n >= 2)
    rules = [facts.undecided, ~facts.settled, hard]
    words = ["contested", "needs more labels", "hard but settled"]
    return [str(word) for word in np.select(rules, words, default="easy")]


def reasons(facts: ItemFacts, where: list[str]) -> list[str]:
    """One sentence for each item that is not easy, with the numbers behind it."""
    data, accuracy = facts.data, facts.accuracy
    names = [label_text(name) for name in data.labels]
    n = np.diff(data.starts)
    dissents = data.label != facts.best[data.item]
    against = per_item(dissents.astype(float), data.starts)
    of_coder = accuracy[data.coder]
    acc_all = over(per_item(of_coder, data.starts), n)
    acc_against = over(per_item(of_coder * dissents, data.starts), against)
    acc_for = over(per_item(of_coder * ~dissents, data.starts), n - against)
    bits = over(per_item(facts.bits[data.coder], data.starts), n)
    known = data.known >= 0
    out = [""] * data.n_items
    for i, word in enumerate(where):
        label, p, dissent = names[facts.best[i]], facts.probability[i], int(against[i])
        if word == "contested" and facts.ambiguous is not None:
            read = f", read as {facts.readings[i]}" if facts.readings else ""
            out[i] = (
                f"It is ambiguous with probability {facts.ambiguous[i]:.2f}{read}: {dissent} of "
                f"{n[i]} labels are not {label!r}, from coders who are right "
                f"{percent(acc_all[i], 0)} of the time."
            )
        elif word == "contested":
            two = data.n_labels == 2
            more = "their errors" if two else "their errors and its difficulty explain"
            it = "It may be hard, or have two readings" if two else "It may have two readings"
            out[i] = (
                f"{dissent} of {n[i]} labels are not {label!r}, although these coders are right "
                f"{percent(acc_all[i], 0)} of the time; with probability {facts.contested[i]:.2f} "
                f"that is more than {more}. {it}."
            )
        elif word == "needs more labels":
            out[i] = _needs_more(label, p, int(n[i]), dissent, bits[i])
            if p >= SETTLED:
                out[i] = "The labels may not depend on any truth, so no probability settles it."
        elif word == "hard but settled":
            sure = (
                "is known"
                if known[i]
                else f"has probability {'above .999' if p > 0.999 else f'{p:.3f}'}"
            )
            start = f"{dissent} of {n[i]} labels are not {label!r}, which {sure}"
            if acc_for[i] - acc_against[i] > CARELESS:
                out[i] = (
                    f"{start}; they come from less reliable coders "
                    f"({percent(acc_against[i], 0)} right against {percent(acc_for[i], 0)})."
                )
            else:
                out[i] = f"{start}; the coders differ no more than their errors explain."
    return out


def _needs_more(label: str, p: float, n: int, dissent: int, bits: float) -> str:
    if n == 0:
        return "It has no label."
    many = "1 label" if n == 1 else f"{n} labels"
    weak = f"{many} of {bits:.2f} bits each on average"
    if dissent == 0:
        return f"{weak} make {label!r} only {p:.2f} probable, though all agree."
    return f"{weak}, {dissent} of them not {label!r}, leave it at probability {p:.2f}."
