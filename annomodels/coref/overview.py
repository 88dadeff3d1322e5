"""All agreement of a corpus in one table, each row with the condition in its name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from annomodels.coref.agreements import Which, agreement
from annomodels.coref.conditions import condition_named
from annomodels.coref.posteriors import PairPosterior, pair_posterior
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.errors import NotApplicable

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.coefficients.result import Agreement

__all__ = ["By", "agreement_table"]

By = Literal["document", "genre"]
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


def agreement_table(
    corpus: Corpus,
    chains: Sequence[str] = ("incl-",),
    distances: Sequence[str] = ("passonneau",),
    *,
    coefficient: Which = "alpha",
    by: By | None = None,
    draws: int = 1000,
    seed: int = 0,
    prob: float = 0.9,
) -> pd.DataFrame:
    """Agreement on mentions, pairs and chains, whole or by text or text type.

    Parameters
    ----------
    corpus
        A document or several.
    chains
        Conditions for alpha, see :func:`agreement`.
    distances
        Distances for alpha, see :func:`set_distance`.
    coefficient
        "alpha", or "K", which takes labels as the same or not and needs no distance.
    by
        "document" or "genre" for rows for each of them; None for all together.
    draws
        Number of draws behind the intervals.
    seed
        Seed of the random numbers.
    prob
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        The `part` of the corpus, a short name (`coefficient`) and a full one (`measure`) that
        holds condition and distance, the `value` with the ends of its interval (`low`, `high`; NaN
        where there is none, as for mentions, and for alpha with fewer than three texts),
        `observed` and `expected` (dis)agreement,
        number of `texts` and `items`, and a `note` where something is not defined.

    Raises
    ------
    NotApplicable
        When there is no such condition, distance, coefficient or part.

    Examples
    --------
    >>> from annomodels.coref import document
    >>> text = document("t", {"a": [[1, 2, 5], [3, 4]], "b": [[1, 2], [3, 4, 5]]})
    >>> table = agreement_table(text, ["none", "incl-"], ["dice"], draws=100)
    >>> table["coefficient"].tolist()[:3]
    ['mention_f1', 'pair_kappa', 'alpha_none_dice']
    """
    import pandas as pd

    if by not in (None, "document", "genre"):
        raise NotApplicable(f"by={by!r} is unknown. Use 'document', 'genre' or None.")
    documents = documents_of(corpus)
    parts: dict[str, list[Document]] = {}
    for document in documents:
        name = "all texts" if by is None else document.id
        parts.setdefault(document.genre or "(none)" if by == "genre" else name, []).append(document)
    known = _posteriors(documents, by, draws, seed)
    rows: list[dict[str, Any]] = []
    for part in sorted(parts) if by == "genre" else parts:
        own = parts[part]
        many = {"part": part, "texts": len(own)}
        rows.append(many | _mentions(own))
        if part in known:
            rows += [many | row for row in _kappas(known[part], prob, by)]
        else:
            note = "No text has two mentions that two coders share."
            rows.append(many | {"coefficient": "pair_kappa", "measure": KAPPA, "note": note})
        for chain in chains:
            for distance in ("nominal",) if coefficient == "K" else distances:
                rows.append(many | _chain(own, chain, distance, coefficient, draws, seed, prob))
    return pd.DataFrame(rows, columns=list(COLUMNS)).assign(
        note=lambda table: table["note"].fillna("")
    )


def _posteriors(
    documents: Sequence[Document], by: By | None, draws: int, seed: int
) -> dict[str, PairPosterior]:
    try:
        found = pair_posterior(documents, draws, seed)
    except NotApplicable:
        if draws < 1:
            raise
        return {}
    if by is None:
        return {"all texts": found}
    return found.by_genre() if by == "genre" else {n: found.text(n) for n in found.names}


def _mentions(documents: Sequence[Document]) -> dict[str, Any]:
    """Shared mentions of all pairs of coders against those that either of them marked."""
    shared = marked = 0
    for document in documents:
        own = {coder: set(layer.mentions.values()) for coder, layer in document.layers.items()}
        for first, second in document.coder_pairs():
            shared += len(own[first] & own[second])
            marked += len(own[first]) + len(own[second])
    items = sum(len(document.keys) for document in documents)
    name = {"coefficient": "mention_f1", "measure": "mentions, F1 over pairs of coders"}
    note = "" if marked else "There is no pair of coders, or no mention."
    value = 2 * shared / marked if marked else math.nan
    return name | {"value": value, "items": items, "note": note}


def _kappas(found: PairPosterior, prob: float, by: By | None) -> list[dict[str, Any]]:
    rows = []
    summary: list[Any] = list(found.summary(prob).itertuples())
    for row in summary:
        if not math.isfinite(row.low) or (by == "document" and row.quantity != "these_texts"):
            continue
        what = "" if len(found.names) == 1 and row.quantity == "these_texts" else f", {row.title}"
        name = {"coefficient": SHORT[row.quantity], "measure": KAPPA + what}
        rows.append(name | {"value": row.kappa, "low": row.low, "high": row.high})
    return rows


def _chain(
    documents: Sequence[Document],
    chain: str,
    distance: str,
    coefficient: Which,
    draws: int,
    seed: int,
    prob: float,
) -> dict[str, Any]:
    options: dict[str, Any] = {"coefficient": coefficient, "draws": draws, "seed": seed}
    found = cast("Agreement", agreement(documents, chain, distance, **options))
    low, high = found.interval(prob)
    name = condition_named(chain).name
    for sign, word in (("-", "-minus"), ("+", "-plus")):
        # names of gates know letters and hyphens
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
