"""Uncertainty of items, its reasons and remedies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.coefficients.tables import over
from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
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
    STATES,
)
from annomodels.models.mixtures.state_model import layout_of
from annomodels.summaries import skills
from annomodels.summaries.coders import effect_sentences
from annomodels.summaries.draws import Draws, model_of, per_item, thinned, told_by, two_readings
from annomodels.summaries.items.contested import contested, listed, sides
from annomodels.summaries.notes import items_by_state, say
from annomodels.summaries.trust.known_truth import contradicted, known_truth_finding
from annomodels.types import Bools, Floats, Ints

WORK = 4_000_000  # replicated labels
FEWEST_DRAWS, MOST_DRAWS = 100, 500
WORTH_NAMING = 0.15
TWO_READINGS = "An expert decided that it has two readings."
CARELESS = 0.1  # loss of accuracy from which dissenting coders are called less reliable

_P_CONTESTED: WeakKeyDictionary[Annotations, Floats] = WeakKeyDictionary()

COLUMNS = columns(
    "item n label probability state disagreement doubt difficulty p_ambiguous p_easy reason"
)


def items(tree: xr.DataTree, data: Annotations) -> Summary:
    """Tabulate the uncertainty of every item, its parts, and reasons to check items."""
    # irreducible is E[entropy of P(truth | labels, parameters)]: only further labels of the item
    # lower it
    truth = tree["truth"].to_dataset()
    table = states(tree, data)
    doubt = table["doubt"].to_numpy()
    irreducible = np.minimum(truth["conditional_entropy"].values / np.log(2), doubt)
    parts = {
        "reducible": doubt - irreducible,
        "irreducible": irreducible,
        "disagreement": disagreement(data),
    }
    table = table.assign(**parts, state=table.pop("state"), reason=table.pop("reason"))
    notes = [items_by_state(table["state"]), *told_by(tree)]
    notes += [] if "p_ambiguous" in table else _sides_note(table["p_contested"].to_numpy(), data)
    if any(each.effect for each in model_of(tree).parameters(data.n_labels)):
        notes += effect_sentences(tree, data, "item")
    if tree.attrs.get("engine") == "em":
        notes.append(say("items_em"))
    return Summary("Items", table, truth[["p_truth"]], tuple(notes), COLUMNS)


def states(tree: xr.DataTree, data: Annotations, threshold: float = SETTLED) -> pd.DataFrame:
    """Tabulate the state of every item, its uncertainty, and the reason to check it."""
    # p_contested comes from the labels alone; with two classes labels cannot tell a hard item from
    # a contested one
    p = tree["truth"].to_dataset()["p_truth"].values
    best = p.argmax(axis=1)
    own = state_columns(tree, data)
    p_contested, undecided = to_decide(data, own.get("p_ambiguous"))
    two = two_readings(tree, data)
    # no item counts as settled if known truth contradicts the probabilities
    wrong = contradicted(known_truth_finding(tree, data))
    open_items = ~settled(p, data, skills.signal(tree, data), threshold) | wrong
    rules = [(data.known >= 0) | two, undecided, open_items]
    table = pd.DataFrame(
        {
            "item": list(data.items),
            "n": np.diff(data.starts),
            "label": [data.labels[k] for k in best],
            "probability": p[np.arange(len(p)), best],
            "doubt": skills.entropy_bits(p),
            "p_contested": p_contested,
            **own,
            "state": np.select(rules, STATES[:0:-1], default=STATES[0]).astype(object),
        }
    )
    told = reasons(table, data, best, _draws(tree, data), threshold)
    table["reason"] = pd.Series(told, index=table.index, dtype=object).where(~two, TWO_READINGS)
    return table


def _draws(tree: xr.DataTree, data: Annotations) -> Draws:
    return thinned(tree, data, int(np.clip(WORK // len(data), FEWEST_DRAWS, MOST_DRAWS)))


def to_decide(data: Annotations, p_ambiguous: object = None) -> tuple[Floats, Bools]:
    """Return P(contested) of each item, and flag items for an expert to decide."""
    p = p_contested_of(data)
    if p_ambiguous is None:
        chosen, groups = _divided(p, data)
        chosen &= not groups or data.n_labels == 2
    else:
        chosen = np.asarray(p_ambiguous) > 0.5
    return p, chosen & (data.known < 0)


def p_contested_of(data: Annotations) -> Floats:
    """Return the cached P(contested) of each item."""
    # depends on the labels only, so all fits of the same data share it
    if data not in _P_CONTESTED:
        p = contested(without_copies(data))
        p.setflags(write=False)
        _P_CONTESTED[data] = p
    return _P_CONTESTED[data]


def _divided(p: Floats, data: Annotations) -> tuple[Bools, bool]:
    """Flag items that divide the coders; also return whether groups of coders side together."""
    n = data.votes.sum(axis=1)
    able = (n >= CONTESTED_LABELS) & (n - data.votes.max(axis=1) >= CONTESTED_APART)
    chosen = listed(p, able)
    return chosen, sides(without_copies(data), chosen) > CONTESTED_SIDES


def _sides_note(p: Floats, data: Annotations) -> list[str]:
    """Note that groups of coders divide items, and the consequence for contested items."""
    chosen, groups = _divided(p, data)
    if not groups:
        return []
    then = say("sides_two_labels" if data.n_labels == 2 else "sides_more_labels")
    return [say("sides", n=chosen.sum(), then=then)]


def settled(p: Floats, data: Annotations, strength: Floats, threshold: float = SETTLED) -> Bools:
    """Flag items whose label needs no more work."""
    # If the labels carry no signal, a prevalence near 1 is not evidence about an item.
    return np.asarray(
        (p.max(axis=1) >= threshold) & ((data.known >= 0) | (not skills.doubtful(strength)))
    )


def disagreement(data: Annotations) -> Floats:
    """Return the proportion of label pairs that differ, [item]; NaN with fewer than two labels."""
    n = np.diff(data.starts).astype(float)
    pairs = n * (n - 1)
    agreeing = (data.votes * (data.votes - 1)).sum(axis=1)
    share: Floats = np.divide(agreeing, pairs, out=np.full(len(n), np.nan), where=pairs > 0)
    return 1 - share


def state_columns(tree: xr.DataTree, data: Annotations) -> dict[str, Floats | list[str]]:
    """Return the item columns of models with states; empty for other models."""
    if "items" not in tree.children:
        return {}
    found = {str(name): each.values for name, each in tree["items"].to_dataset().items()}
    layout = layout_of(model_of(tree), data.n_labels)
    chances = frozenset() if layout is None else layout.yes_or_no
    columns: dict[str, Floats | list[str]] = {
        name: values
        for name, values in found.items()
        if name != "p_state" and name.removesuffix("_sd") not in chances
    }
    columns |= {f"p_{name}": found[name] for name in sorted(chances) if name in found}
    shares = readings(tree, data)
    if shares is not None:
        names = [label_text(label) for label in data.labels]
        columns["readings"] = [_in_words(row, names) for row in shares]
    return columns


def readings(tree: xr.DataTree, data: Annotations) -> Floats | None:
    """Return P(reading | several readings), [item, truth]; None without such states."""
    layout = layout_of(model_of(tree), data.n_labels)
    found = tree["items"].to_dataset()
    if layout is None or "p_state" not in found:
        return None
    several = layout.truth.max(axis=1) < 1.0
    if not several.any():
        return None
    joint = found["p_state"].values[:, several] @ layout.truth[several]
    shares: Floats = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
    return shares


def _in_words(row: Floats, names: list[str]) -> str:
    order = np.argsort(-row, kind="stable")
    return ", ".join(f"{names[k]} {percent(row[k], 0)}" for k in order if row[k] >= WORTH_NAMING)


def reasons(
    table: pd.DataFrame, data: Annotations, best: Ints, draws: Draws, threshold: float = SETTLED
) -> list[str]:
    """Write one sentence with numbers for each item that is open or divides its coders."""
    prevalence, confusion = draws.prevalence.mean(axis=0), draws.confusion.mean(axis=0)
    n, dissents = np.diff(data.starts), data.label != best[data.item]
    against = per_item(dissents.astype(float), data.starts)
    divided = (against >= DISSENT * n) & (n >= 2)
    of_coder = skills.accuracy(prevalence, confusion)[data.coder]
    right = over(per_item(of_coder, data.starts), n)
    right_against = over(per_item(of_coder * dissents, data.starts), against)
    right_for = over(per_item(of_coder * ~dissents, data.starts), n - against)
    out, rows = [], cast("Iterator[Any]", table.itertuples())
    for i, row in enumerate(rows):
        verb = "is" if against[i] == 1 else "are"
        dissent = f"{against[i]:.0f} of {n[i]} labels {verb} not {label_text(row.label)!r}"
        if row.state == "contested":
            out.append(_contested(row, f"{dissent}, {_whose(n[i], right[i])}"))
        elif row.state == "needs labels":
            what = dissent if against[i] else _agreed(row.n, row.label)
            out.append(_needs_more(row, what, _whose(n[i], right[i]), threshold))
        elif divided[i]:
            known = data.known[i] >= 0
            sure = "is known" if known else f"has probability {_chance(row.probability)}"
            why = "coder errors explain that"
            if right_for[i] - right_against[i] > CARELESS:
                shares = f"{percent(right_against[i], 0)} right against {percent(right_for[i], 0)}"
                why = f"from less reliable coders ({shares})"
            out.append(f"{dissent}, which {sure}; {why}.")
        else:
            out.append("")
    return out


def _chance(p: float) -> str:
    return ALL["probability"].written(p).text


def _whose(n: int, right: float) -> str:
    coders = "a coder who is" if n == 1 else "coders who are"
    return f"from {coders} right {percent(right, 0)} of the time"


def _contested(row: Any, what: str) -> str:
    if hasattr(row, "p_ambiguous"):
        read = f", read as {row.readings}" if hasattr(row, "readings") else ""
        return f"Ambiguous with probability {_chance(row.p_ambiguous)}{read}: {what}."
    return f"{what}; P(contested) {_chance(row.p_contested)}."


def _agreed(n: int, label: Any) -> str:
    one = "The only label is" if n == 1 else f"All {n} labels are"
    return f"{one} {label_text(label)!r}"


def _needs_more(row: Any, what: str, whose: str, threshold: float) -> str:
    if row.probability >= threshold:
        return say("contradicted")
    if row.n == 0:
        return "It has no label."
    return f"{what}, which has probability {_chance(row.probability)}; {whose}."
