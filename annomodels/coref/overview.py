"""All agreement coefficients of a corpus in one table, with the conditions in the row names.

Also finds coders who differ from the others: kappa with and without them, and lone judgments.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from annomodels.coefficients.intervals import interval
from annomodels.coref.agreements import By, Which, agreement, parts_of
from annomodels.coref.conditions import condition_named, labels_of
from annomodels.coref.posteriors import (
    PairPosterior,
    centred,
    draws_of,
    pair_posterior,
    valid_draws,
)
from annomodels.coref.readings import votes_of
from annomodels.coref.tables import pair_agreement
from annomodels.data.columns import COLUMNS as DECLARED
from annomodels.data.columns import columns as columns_of
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.data.summary import Summary
from annomodels.errors import NotApplicable, valid_seed
from annomodels.types import Floats

if TYPE_CHECKING:
    from annomodels.coefficients.result import Agreement

KAPPA = "kappa on coreferent pairs"
SHORT = {
    "these_texts": "pair_kappa",
    "mean_over_texts": "pair_kappa_mean",
    "new_text": "pair_kappa_new",
}
COLUMNS = (
    "part", "coefficient", "measure", "value", "low", "high", "observed", "expected", "texts",
    "items", "note",
)  # fmt: skip
SHOWN = columns_of("part measure", DECLARED["value"].called(digits=3), "observed expected items")
OF_CODERS = (
    "coder", "texts", "mentions", "with_others", "low", "high", "others", "difference",
    "difference_low", "difference_high", "p_below", "alone", "places",
)  # fmt: skip
CODERS = columns_of("coder texts mentions with_others others difference p_below alone places")


def agreement_table(
    corpus: Corpus,
    chains: Sequence[str] = ("incl-",),
    distances: Sequence[str] = ("passonneau",),
    *,
    coefficient: Which = "alpha",
    by: By | None = None,
    draws: int = 1000,
    seed: int = 0,
    prob: float = 0.95,
) -> Summary:
    """Measure agreement on mentions, pairs and chains, in total or by text or text type.

    Parameters
    ----------
    chains, distances, coefficient, by
        Conditions and distances of alpha; the others are as in :func:`agreement`. "K" needs no
        distance.

    Returns
    -------
    Summary
        The `part` of the corpus, a short name (`coefficient`) and a full one (`measure`), the
        `value` with the ends of its interval (`low`, `high`; NaN for mentions, and for alpha with
        fewer than three texts), `observed` and `expected` (dis)agreement, number of `texts` and
        `items`, and a `note` if something is not defined.

    Examples
    --------
    >>> from annomodels.coref import document
    >>> text = document("t", {"a": [[1, 2, 5], [3, 4]], "b": [[1, 2], [3, 4, 5]]})
    >>> table = agreement_table(text, ["none", "incl-"], ["dice"], draws=100).table
    >>> table["coefficient"].tolist()[:3]
    ['mention_f1', 'pair_kappa', 'alpha_none_dice']
    """
    documents = documents_of(corpus)
    parts = parts_of(documents, by)
    known: dict[str, PairPosterior] = {}
    try:
        found = pair_posterior(documents, draws, seed, prob)
    except NotApplicable:
        if draws < 1:
            raise
    else:
        known = {"all texts": found} if by is None else found.by_genre() if by == "genre" else {}
        if by == "document":
            known = {name: found.text(name) for name in found.table["document"]}
    rows: list[dict[str, object]] = []
    for part in sorted(parts) if by == "genre" else parts:
        own = parts[part]
        many = {"part": part, "texts": len(own)}
        rows.append(many | _mentions(own))
        if part in known:
            overall: list[Any] = list(known[part].overall.itertuples())
            rows += [
                many
                | {"coefficient": SHORT[row.quantity], "value": row.kappa}
                | {"low": row.low, "high": row.high, "measure": f"{KAPPA}, {row.title}"}
                | ({"measure": KAPPA} if row.texts == 1 and row.quantity == "these_texts" else {})
                for row in overall
                if math.isfinite(row.low) and (by != "document" or row.quantity == "these_texts")
            ]
        else:
            note = "No text has two mentions that two coders share."
            rows.append(many | {"coefficient": "pair_kappa", "measure": KAPPA, "note": note})
        for chain in chains:
            for distance in ("nominal",) if coefficient == "K" else distances:
                rows.append(many | _chain(own, chain, distance, coefficient, draws, seed, prob))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    table["note"] = table["note"].fillna("")
    notes = tuple(dict.fromkeys(filter(None, table["note"])))
    columns = SHOWN if by else SHOWN[1:]  # else every row is of the same part
    return Summary("Agreement on coreference", table, notes=notes, columns=columns)


def _mentions(documents: Sequence[Document]) -> dict[str, object]:
    """Compare the shared mentions of all coder pairs with those that either coder marked."""
    shared = marked = 0
    for document in documents:
        own = {coder: set(layer.mentions.values()) for coder, layer in document.layers.items()}
        for first, second in document.coder_pairs():
            shared += len(own[first] & own[second])
            marked += len(own[first]) + len(own[second])
    items = sum(len(document.keys) for document in documents)
    name = {"coefficient": "mention_f1", "measure": "mentions, F1 over pairs of coders"}
    note = "" if marked else "No pair of coders, or no mention."
    value = 2 * shared / marked if marked else math.nan
    return name | {"value": value, "items": items, "note": note}


def _chain(
    documents: Sequence[Document],
    chain: str,
    distance: str,
    coefficient: Which,
    draws: int,
    seed: int,
    prob: float,
) -> dict[str, object]:
    options: dict[str, Any] = {"coefficient": coefficient, "draws": draws, "seed": seed}
    found = cast("Agreement", agreement(documents, chain, distance, **options))
    low, high = found.interval(prob)
    name = condition_named(chain).name
    for sign, word in (("-", "-minus"), ("+", "-plus")):
        # gate names contain only letters and hyphens
        name = name.removesuffix(sign) + word if name.endswith(sign) else name
    short = f"{coefficient}_{name}" + ("" if coefficient == "K" else f"_{distance}")
    return {
        "coefficient": short,
        "measure": found.title,
        "value": found.value,
        "low": low,
        "high": high,
        "observed": found.observed,
        "expected": found.expected,
        "items": found.n_items,
        "note": " ".join(filter(None, (found.note, *found.notes))),
    }


def coder_table(
    corpus: Corpus, chain: str = "incl-", *, draws: int = 400, seed: int = 0, prob: float = 0.95
) -> Summary:
    """Compare each coder with the others, and the others without the coder.

    Kappa on coreferent pairs is averaged over the texts of the coder and over pairs of coders;
    draws weight mentions as in :func:`pair_draws`.

    Parameters
    ----------
    chain
        The condition for `alone`, see :func:`agreement`.

    Returns
    -------
    Summary
        One row for each coder, least similar to the others first: `texts`, `mentions`; kappa
        `with_others` with its ends `low` and `high`; `others`, their kappa on the same texts; the
        `difference`, its ends and `p_below`, the probability that it is negative; and the number of
        `places` with three or more coders, and how often the coder is `alone` there, against all
        others.

    Examples
    --------
    >>> from annomodels.coref import document
    >>> truth = {m: m // 3 for m in range(30)}
    >>> odd = truth | {m: 0 for m in range(0, 30, 4)}
    >>> text = document("t", {"ana": truth, "ben": truth, "cho": odd})
    >>> table = coder_table(text).table
    >>> table["coder"].tolist(), bool(table["p_below"][0] > 0.95)
    (['cho', 'ana', 'ben'], True)
    """
    valid_draws(draws)
    valid_seed(seed)
    documents = documents_of(corpus)
    by_coder: dict[str, list[Floats]] = {}
    points = pair_agreement(documents).table
    mentions: Counter[str] = Counter()
    for n, document in enumerate(documents):
        values = _with_point(document, points, draws, [seed, 0, n])
        for coder, layer in document.layers.items():
            mentions[coder] += len(layer.mentions)
            sides = [[x for pair, x in values.items() if (coder in pair) == own] for own in (1, 0)]
            means = [np.mean(side or np.full((1, 1 + draws), np.nan), axis=0) for side in sides]
            by_coder.setdefault(coder, []).append(np.stack(means))
    places, alone = _alone(documents, chain)
    rows = []
    for coder, texts in sorted(by_coder.items()):
        theirs, others = np.stack(texts, axis=1)
        both = ~np.isnan((theirs - others)[:, 0])
        own, gap = _centred(theirs), _centred(theirs - others)
        p_below = float((gap[1:] < 0).mean()) if both.any() else np.nan
        rest = float(np.mean(others[both], axis=0)[0]) if both.any() else np.nan
        ends = [map(float, interval(x[1:], prob, x[0])) for x in (own, gap)]
        counts, left = (len(texts), mentions[coder]), (alone[coder], places[coder])
        rows.append((coder, *counts, own[0], *ends[0], rest, gap[0], *ends[1], p_below, *left))
    table = pd.DataFrame(rows, columns=list(OF_CODERS))
    order = table["difference"].fillna(table["with_others"]).sort_values(kind="stable").index
    title = "Coders, least like the others first"
    return Summary(title, table.loc[order].reset_index(drop=True), columns=CODERS)


def _centred(by_text: Floats) -> Floats:
    """Average points and the draws after them over texts; the draws move towards the point."""
    known = by_text[~np.isnan(by_text[:, 0])]
    values = np.mean(known if len(known) else by_text, axis=0)
    return np.append(values[0], centred(values[1:], float(values[0]), len(known) or 1))


def _with_point(
    document: Document, points: pd.DataFrame, draws: int, seed: list[int]
) -> dict[tuple[str, str], Floats]:
    """Return kappa of each coder pair, followed by its draws, shape [1 + draw]."""
    if len(document.layers) < 2:
        return {}
    rows = points[points["document"] == document.id]
    known = dict(zip(zip(rows["first"], rows["second"], strict=True), rows["kappa"], strict=True))
    drawn = draws_of(document, draws, seed)
    return {pair: np.append(known[pair], values) for pair, values in drawn.items()}


def _alone(documents: Sequence[Document], chain: str) -> tuple[Counter[str], Counter[str]]:
    """Count each coder's places with two or more others, and the coder's lone judgments."""
    judged: Counter[str] = Counter()
    found: Counter[str] = Counter()
    condition = condition_named(chain)
    for document in documents:
        for given in votes_of(labels_of(document, condition)).values():
            times = Counter(label for _, label in given)
            for coder, label in given if len(given) > 2 else ():
                judged[coder] += 1
                found[coder] += times[label] == 1 and len(times) == 2
    return judged, found
