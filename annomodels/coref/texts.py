"""Agreement text by text, for every pair of coders, and what that gives over texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import cached_property

import pandas as pd

from annomodels.coref.clusterings import Missing, overlap
from annomodels.coref.tables import LinkTable, TwoByTwo, links_of, pairs_of, sets_of
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.data.summary import Summary
from annomodels.data.validation import counted

RULES = {
    "": "kappa as it is",
    "both none": "both coders marked none, so kappa is taken as 1",
    "one none": "one coder marked none, so kappa is 0",
    "both all": "both coders marked all, so kappa is taken as 1",
    "too few": "fewer than two shared mentions, so the text is left out",
    "negative": "the table has a negative cell, so kappa is not defined and the text is left out",
}


def text_kappa(cells: TwoByTwo) -> tuple[float, str]:
    """Kappa of one text by the conventions of Kopeć and Ogrodniczuk (2014, section 5).

    Both coders marked none: 1. One marked none: 0, which the formula gives too. They do not say
    what follows where both marked all (1, by symmetry) and where there is nothing to compare (NaN).

    Returns
    -------
    tuple
        Kappa, and the rule that gave it: "", "both none", "one none", "both all", "too few" or
        "negative".

    Examples
    --------
    >>> text_kappa(TwoByTwo(0, 0, 0, 100)), text_kappa(TwoByTwo(0, 0, 7, 93))
    ((1.0, 'both none'), (0.0, 'one none'))
    """
    a, b, c, d = cells
    if min(cells) < 0:
        return math.nan, "negative"
    if not cells.n:
        return math.nan, "too few"
    if not a + b + c:
        return 1.0, "both none"
    if not b + c + d:
        return 1.0, "both all"
    if not (a + b and a + c):
        return 0.0, "one none"
    return cells.kappa, ""


class TextAgreement(Summary):
    """Tables of two by two of texts and pairs of coders, and kappa over them.

    Parameters
    ----------
    title, table, draws, notes, columns
        As of every summary, without draws. The table has one row for each text and pair of coders:
        `document`, `genre`, `first` and `second` coder, the cells `a` to `d`, `kappa` and the
        `rule` that gave it. A link table has `recall` and `precision` too, with the first coder as
        the target.
    """

    @cached_property
    def by_document(self) -> pd.Series:
        """Kappa of each text, the mean over its pairs of coders; NaN where none is defined."""
        return self.table.groupby("document", sort=False)["kappa"].mean()

    @property
    def mean(self) -> float:
        """Mean of kappa over texts."""
        return float(self.by_document.mean())

    @property
    def sigma(self) -> float:
        """Standard deviation of kappa over texts, divided by their number as in the papers."""
        return float(self.by_document.std(ddof=0))

    @cached_property
    def by_genre(self) -> pd.DataFrame:
        """Number of `texts`, mean and `sigma` of kappa over them, for each text type."""
        genres = self.table.drop_duplicates("document").set_index("document")["genre"]
        kappa = self.by_document.dropna()
        groups = kappa.groupby(genres.reindex(kappa.index).fillna("(none)"))
        out = groups.agg(texts="size", mean="mean").assign(sigma=groups.std(ddof=0))
        return pd.DataFrame(out.rename_axis("genre"))

    @property
    def pooled(self) -> TwoByTwo:
        """Cells added up over texts and pairs of coders.

        Coders cannot link mentions of two texts, so chance is not the same as within a text.
        """
        kind = LinkTable if "recall" in self.table else TwoByTwo
        return kind(*self.table[list("abcd")].sum().astype(int).tolist())

    @property
    def alpha(self) -> float:
        """Alpha over all decisions pooled, chance from both coders' margins together."""
        return self.pooled.alpha

    @property
    def rules(self) -> dict[str, int]:
        """Number of texts and pairs of coders whose kappa is by each rule."""
        counts = Counter(self.table["rule"])
        return {rule: counts[rule] for rule in RULES}

    def __repr__(self) -> str:
        texts = counted(int(self.by_document.notna().sum()), "text")
        lines = [f"{self.title}: mean kappa {self.mean:.4f} over {texts}, σ {self.sigma:.4f}"]
        for rule, times in self.rules.items():
            if rule and times:
                lines.append(f"{times:,} × {RULES[rule]}")
        return "\n".join(lines)


def _of_pairs(
    title: str,
    corpus: Corpus,
    cells: Callable[[Document, str, str], TwoByTwo],
    more: tuple[str, ...] = (),
) -> TextAgreement:
    """Tables of every text and pair of coders, with further ratios of each."""
    records = []
    for document in documents_of(corpus):
        for pair in document.coder_pairs():
            found = cells(document, *pair)
            ratios = [getattr(found, name) for name in more]
            place = document.id, document.genre, *pair
            records.append((*place, *found, *ratios, *text_kappa(found)))
    names = ("document", "genre", "first", "second", *"abcd", *more, "kappa", "rule")
    return TextAgreement(title, pd.DataFrame(records, columns=list(names)))


def link_agreement(corpus: Corpus, *, missing: Missing = "singleton") -> TextAgreement:
    """Kappa on links, text by text, after Passonneau (1997); see :func:`link_table` for its limits.

    Parameters
    ----------
    missing
        "singleton" where a mention of one coder corefers with nothing for the other, as in the
        paper, "drop" to leave it out, or "error".

    Examples
    --------
    >>> from annomodels.coref import document
    >>> text = document("t", {"CA1": ["ABDGI", "CEF", "HJ"], "CA3": ["ABGI", "CEF", "Dd", "HJ"]},
    ...     letters=True)
    >>> link_agreement(text)
    links: mean kappa 0.5238 over 1 text, σ 0.0000
    """

    def cells(document: Document, first: str, second: str) -> TwoByTwo:
        x, y = (document.layers[c].groups for c in (first, second))
        return links_of(overlap([list(g) for g in x], [list(g) for g in y], missing))

    return _of_pairs("links", corpus, cells, ("recall", "precision"))


def pair_agreement(corpus: Corpus) -> TextAgreement:
    """Kappa on coreferent pairs, text by text (the BLANC-type kappa, or adjusted Rand index).

    Kopeć and Ogrodniczuk (2014, section 7.5). Pairs of mentions that both coders marked.

    Examples
    --------
    >>> from annomodels.coref import document
    >>> text = document("t", {"a": [[1, 3], [2, 4, 5]], "b": [[1], [2, 4], [3, 5]]})
    >>> pair_agreement(text).table[["a", "b", "c", "d"]].values.tolist()
    [[1, 3, 1, 5]]
    """

    def cells(document: Document, first: str, second: str) -> TwoByTwo:
        x, y = (document.codes[document.coders.index(coder)] for coder in (first, second))
        both = (x >= 0) & (y >= 0)
        return pairs_of(x[both], y[both])

    return _of_pairs("coreferent pairs", corpus, cells)


def near_identity_agreement(corpus: Corpus) -> TextAgreement:
    """Kappa on near-identity links between shared mentions, text by text.

    Kopeć and Ogrodniczuk (2014, section 5), with their conventions for texts without links; how
    often these were used is in ``rules`` and belongs into a report.
    """

    def cells(document: Document, first: str, second: str) -> TwoByTwo:
        shared = frozenset(document.shared(first, second))
        x, y = (
            {
                pair
                for pair in (
                    frozenset(layer.markables[m].key for m in one) for one in layer.near_identity
                )
                if pair <= shared
            }
            for layer in (document.layers[first], document.layers[second])
        )
        every = len(shared) * (len(shared) - 1) // 2
        return sets_of(x, y, every)

    return _of_pairs("near-identity links", corpus, cells)


def clustered_agreement(corpus: Corpus, *, restrict_first: bool = False) -> TextAgreement:
    """Kappa on whether a mention is in a cluster of two or more; ``pooled.kappa`` is the paper's.

    Kopeć and Ogrodniczuk (2014, section 7.4), over mentions that both coders marked.

    Parameters
    ----------
    restrict_first
        Whether a cluster counts only its shared mentions. By default the whole cluster of each
        coder counts; the paper does not say.

    Examples
    --------
    >>> from annomodels.coref import document
    >>> text = document("t", {"a": [[1, 2], [3], [4]], "b": [[1, 2, 3], [4]]})
    >>> tuple(clustered_agreement(text).pooled)
    (2, 0, 1, 1)
    """

    def cells(document: Document, first: str, second: str) -> TwoByTwo:
        shared = frozenset(document.shared(first, second))
        x, y = (
            {
                key
                for group in document.layers[c].groups
                if len(group & shared if restrict_first else group) > 1
                for key in group & shared
            }
            for c in (first, second)
        )
        return sets_of(x, y, len(shared))

    return _of_pairs("clustered mentions", corpus, cells)
