"""Whom to ask for further labels, how often, and whom to train first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text, plain_names
from annomodels.errors import NotApplicable
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

WORTH = 0.5  # of the crowd's mean bits per label; who tells less is not asked


@dataclass(frozen=True, eq=False)
class Pool:
    """Coders who may be asked, those whose labels tell most first.

    Parameters
    ----------
    coders
        Their codes, shape [coder of the pool].
    limit
        Most labels of each, shape [coder of the pool].
    weight
        Share of the labels that each would give if all labels went to the best who have time,
        shape [coder of the pool].
    new
        Whether coders who have no name yet may be asked as well.
    """

    coders: Ints
    limit: Ints
    weight: Floats
    new: bool


def make_pool(
    data: Annotations,
    bits: Floats,
    budget: int,
    names: Sequence[Hashable] | None,
    per_coder: int | None,
    per_item: int,
) -> Pool:
    """Gather the coders to be asked.

    Parameters
    ----------
    data
        The labels so far.
    bits
        What one label of each coder tells on average, shape [coder].
    budget
        Number of labels to be asked for.
    names
        Coders who can be had; None for all of those known whose labels tell at least half of what
        a label of the crowd tells, and for new ones.
    per_coder
        Most labels of one coder; None for as many as the busiest has given.
    per_item
        Most labels of one item, which different coders have to give.

    Raises
    ------
    NotApplicable
        When a coder is not known, or none is named.

    Examples
    --------
    >>> from annomodels.summaries.examples import small_fit
    >>> pool = make_pool(small_fit()[1], np.array([0.5, 0.6, 0.1]), 3, None, 2, 2)
    >>> pool.coders.tolist(), pool.limit.tolist(), pool.weight.round(2).tolist(), pool.new
    ([1, 0], [2, 2], [0.67, 0.33], True)
    """
    n = np.bincount(data.coder, minlength=data.n_coders)
    if names is None:
        who = np.flatnonzero((bits >= WORTH * (bits @ n) / n.sum()) & (n > 0))
    else:
        who = _codes(data, names)
    who = who[np.argsort(-bits[who], kind="stable")]
    limit = np.full(len(who), int(n.max()) if per_coder is None else per_coder, dtype=np.int64)
    # an item needs different coders, so that no coder can give more than this
    useful = np.minimum(limit, -(-budget // min(per_item, max(len(who), 1))))
    before = np.concatenate([[0], np.cumsum(useful)[:-1]])
    given = np.clip(budget - before, 0, useful)
    return Pool(who, limit, given / max(given.sum(), 1), names is None)


def with_advice(table: pd.DataFrame, bits: Floats, asked: Ints) -> pd.DataFrame:
    """Put what to do with each coder beside what they are worth.

    Parameters
    ----------
    table
        Of :func:`annomodels.summaries.coders.coders.coders`.
    bits
        What one label of each coder tells, shape [coder].
    asked
        Labels asked of each, shape [coder].

    Returns
    -------
    DataFrame
        coder, n, bits with interval, accuracy, kind, asked and advice, those who tell most first.
        advice: "ask"; "retrain" (the labels tell something, but one label is used too often, or
        labels are swapped); "test first" (too few labels to say); "do not ask" (spammers, and
        those who tell less than half of what the crowd does).
    """
    columns = ["coder", "n", "bits", "bits_low", "bits_high", "accuracy", "kind"]
    out = table[columns].copy()
    out["asked"] = asked
    n = table["n"].to_numpy()
    mean = float(bits @ n / max(n.sum(), 1))
    rows = zip(table["kind"], table["bias"], bits.tolist(), strict=True)
    out["advice"] = [_advice(kind, bias, value, mean) for kind, bias, value in rows]
    return out.sort_values("bits", ascending=False, kind="stable", ignore_index=True)


def _advice(kind: str, bias: str, bits: float, mean: float) -> str:
    if kind == "adversary":
        return "retrain: swaps labels"
    if kind == "biased" and bits < mean:
        return f"retrain: {bias}"
    if kind == "not enough evidence":
        return "test first"
    return "do not ask" if kind == "spammer" or bits < WORTH * mean else "ask"


def _codes(data: Annotations, names: Sequence[Hashable]) -> Ints:
    known = {name: j for j, name in enumerate(data.coders)}
    names = plain_names(names, "coder")
    missing = [label_text(name) for name in names if name not in known]
    if missing or not names:
        text = ", ".join(missing[:5]) or "nobody"
        raise NotApplicable(
            f"These coders are not in the data: {text}. Name some of the {len(known)} coders, "
            "or leave coders= out for all of them and new ones."
        )
    return np.array(sorted({known[name] for name in names}), dtype=np.int64)
