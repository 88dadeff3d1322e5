"""Coders who differ from the others: kappa with and without them, and where they stand alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.coref.conditions import condition_named, labels_of
from annomodels.coref.posteriors import centred, ends
from annomodels.coref.resampling import pair_blocks
from annomodels.coref.texts import pair_agreement
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.errors import NotApplicable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["coder_table"]

Floats = NDArray[np.float64]


def coder_table(
    corpus: Corpus, chain: str = "incl-", *, draws: int = 400, seed: int = 0, prob: float = 0.9
) -> pd.DataFrame:
    """How each coder agrees with the others, and how these agree without the coder.

    Kappa on coreferent pairs, the mean over the texts of the coder and over pairs of coders; draws
    weight mentions as in :func:`pair_draws`.

    Parameters
    ----------
    corpus
        A document or several.
    chain
        The condition for `alone`, see :func:`agreement`.
    draws
        Number of draws.
    seed
        Seed of the random numbers.
    prob
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        One row for each coder, the least like the others first: number of `texts` and `mentions`;
        kappa `with_others` with its ends `low` and `high`; `others`, the kappa of the others on the
        same texts; the `difference`, its ends and `p_below`, the probability that it is negative;
        and on how many `places` with three coders or more the coder is the only one to leave what
        all others say (`alone`). NaN where there are no others.

    Raises
    ------
    NotApplicable
        When `draws` is not positive.

    Examples
    --------
    >>> from annomodels.coref import document
    >>> truth = {m: m // 3 for m in range(30)}
    >>> odd = truth | {m: 0 for m in range(0, 30, 4)}
    >>> text = document("t", {"ana": truth, "ben": truth, "cho": odd})
    >>> table = coder_table(text)
    >>> table["coder"].tolist(), bool(table["p_below"][0] > 0.95)
    (['cho', 'ana', 'ben'], True)
    """
    import pandas as pd

    if draws < 1:
        raise NotApplicable(f"draws={draws!r} should be 1 or more, for instance 400.")
    documents = documents_of(corpus)
    sums: dict[str, list[Floats]] = {}
    rests: dict[str, list[Floats]] = {}
    points = pair_agreement(documents).table
    texts: Counter[str] = Counter()
    mentions: Counter[str] = Counter()
    for n, document in enumerate(documents):
        for coder, layer in document.layers.items():
            texts[coder] += 1
            mentions[coder] += len(layer.mentions)
        values = _with_point(document, points, draws, np.random.default_rng([seed, 0, n]))
        for coder in document.coders:
            theirs = [x for pair, x in values.items() if coder in pair]
            rest = [x for pair, x in values.items() if coder not in pair]
            if theirs:
                sums.setdefault(coder, []).append(np.mean(theirs, axis=0))
            if theirs and rest:
                both = np.stack([np.mean(theirs, axis=0), np.mean(rest, axis=0)])
                rests.setdefault(coder, []).append(both)
    places, alone = _alone(documents, chain)
    rows = []
    for coder in sorted(texts):
        row: dict[str, object] = {"coder": coder, "texts": texts[coder]}
        row["mentions"] = mentions[coder]
        nothing = np.full(1 + draws, np.nan)
        own = _centred(sums.get(coder, [nothing]))
        both = np.mean(rests[coder], axis=0) if coder in rests else np.stack([nothing, nothing])
        gap = _centred([theirs - others for theirs, others in rests.get(coder, [both])])
        row["with_others"] = own[0]
        row["low"], row["high"] = ends(own[1:], prob)
        row["others"], row["difference"] = both[1][0], gap[0]
        row["difference_low"], row["difference_high"] = ends(gap[1:], prob)
        row["p_below"] = float((gap[1:] < 0).mean()) if coder in rests else np.nan
        row["alone"], row["places"] = alone[coder], places[coder]
        rows.append(row)
    table = pd.DataFrame(rows)
    order = table["difference"].fillna(table["with_others"]).sort_values(kind="stable").index
    return table.loc[order].reset_index(drop=True)


def _centred(by_text: Sequence[Floats]) -> Floats:
    """Mean over texts of points with the draws behind them; the draws move towards the point."""
    values = np.mean(by_text, axis=0)
    return np.append(values[0], centred(values[1:], float(values[0]), len(by_text)))


def _with_point(
    document: Document, points: pd.DataFrame, draws: int, rng: np.random.Generator
) -> dict[tuple[str, str], Floats]:
    """Kappa of each pair of coders, and behind it its draws, shape [1 + draw]."""
    if len(document.layers) < 2:
        return {}
    rows = points[points["document"] == document.id]
    known = dict(zip(zip(rows["first"], rows["second"], strict=True), rows["kappa"], strict=True))
    blocks = list(pair_blocks(document, draws, rng))
    return {
        pair: np.concatenate([[known[pair]], *(block[pair] for block in blocks)])
        for pair in blocks[0]
    }


def _alone(documents: Sequence[Document], chain: str) -> tuple[Counter[str], Counter[str]]:
    """Places that each coder judged with two others or more, and those left alone on one side."""
    judged: Counter[str] = Counter()
    found: Counter[str] = Counter()
    condition = condition_named(chain)
    for document in documents:
        labels = labels_of(document, condition)
        said: dict[int, Counter[tuple[int, int]]] = {}
        rows = list(zip(labels.item.tolist(), labels.coder.tolist(), strict=True))
        label = list(zip(labels.word.tolist(), labels.base.tolist(), strict=True))
        for (item, _), one in zip(rows, label, strict=True):
            said.setdefault(item, Counter())[one] += 1
        for (item, coder), one in zip(rows, label, strict=True):
            if said[item].total() > 2:
                judged[labels.coders[coder]] += 1
                found[labels.coders[coder]] += said[item][one] == 1 and len(said[item]) == 2
    return judged, found
