"""What a fit of mention-pair models says: interpretations, chains, coders, ambiguity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.coref.mentionpairs import chains, checks, readers, silver, tables
from annomodels.coref.mentionpairs.engines import Draws
from annomodels.data.candidates import Candidates
from annomodels.data.document import Corpus, Document
from annomodels.data.expressions import Span
from annomodels.models.pairs import PairModel
from annomodels.types import Floats

if TYPE_CHECKING:
    from annomodels.summaries.summary import Summary


@dataclass(frozen=True, eq=False, repr=False)
class PairFit:
    """Posterior of a mention-pair or single-truth model; :func:`fit_pairs` makes it.

    Parameters
    ----------
    model
        The model.
    codes
        Mentions, candidates and decisions.
    drawn
        What the engine gave.
    engine
        Its name.
    seconds
        Time it took.

    Examples
    --------
    >>> import pandas as pd, annomodels as am
    >>> rows = [("t#1", c, "DN()") for c in "abc"] + [("t#2", c, "DO(1)") for c in "abc"]
    >>> table = pd.DataFrame(rows, columns=["item", "coder", "label"])
    >>> fit = am.coref.fit_pairs(table, draws=200)
    >>> fit.links().table[["item", "antecedent"]].values.tolist()
    [['t#2', 't#1']]
    """

    model: PairModel
    codes: Candidates
    drawn: Draws
    engine: str
    seconds: float

    def __repr__(self) -> str:
        codes = self.codes
        return (
            f"PairFit of the {self.model.title} model by {self.engine}: {len(codes.items)} "
            f"mentions, {len(codes.labels)} candidates, {len(codes.coders)} coders, "
            f"{len(codes.coder)} decisions"
        )

    @cached_property
    def p_true(self) -> Floats:
        """P(true) of each candidate, shape [candidate]."""
        return np.asarray(self.drawn.p_batches.mean(axis=(0, 1)))

    @cached_property
    def p_next(self) -> Floats:
        """P(one more reader says it) of each candidate, shape [candidate].

        Coders count as readers of equal standing here, so that this does not depend on the model.
        """
        return readers.next_label(self.codes, readers.read_shares(self.codes))

    @cached_property
    def mixing(self) -> tuple[float, float]:
        """Largest R-hat and smallest effective sample size of all but the rates of coders."""
        return checks.mixing(self.model, self.drawn)

    @property
    def mixed(self) -> bool:
        """Whether the chains agree; taken for granted of a single chain."""
        r, _ = self.mixing
        return not r > checks.GOOD_RHAT

    def interpretations(self) -> Summary:
        """All candidates with P(true), its Monte Carlo error, and the votes.

        Returns
        -------
        Summary
            One row per candidate: item, label, class, votes, coders, p_true, mc_error, p_next,
            silver. `p_next` is the probability that one more reader would say it, which is the
            better guess at what somebody else's gold has; what the candidates of a mention leave
            of 1 goes to readings that nobody gave.
        """
        return tables.interpretations(self.model, self.codes, self.drawn, self.p_next)

    def mentions(self) -> Summary:
        """Mentions with their most probable label and P(none, one, several readings are true).

        Returns
        -------
        Summary
            One row per mention: item, silver, p_silver, p_next, p_none, p_one, p_several,
            readings; `p_next` is the probability that one more reader gives the silver label, and
            the last is what is most probable: none, one or several.
        """
        return tables.mentions(self.codes, self.drawn, self.p_next)

    def ambiguous(self, threshold: float = 0.5) -> Summary:
        """Mentions that likely have no true reading among the candidates, or several.

        With :class:`SingleTruth`, those whose most probable reading is not probable.

        Parameters
        ----------
        threshold
            Smallest probability of that.

        Returns
        -------
        Summary
            The rows of :meth:`mentions`, the most ambiguous first.
        """
        return tables.ambiguous(self.model, self.mentions(), threshold)

    def coders(self, prob: float = 0.9) -> Summary:
        """Sensitivity and specificity (or accuracy) of each coder for each class.

        Parameters
        ----------
        prob
            Probability of the intervals.

        Returns
        -------
        Summary
            One row per coder, class and quantity: mean, low, high; `judgments` is how many
            mentions the coder judged.
        """
        return tables.coders(self.model, self.codes, self.drawn, prob)

    def links(self, at_least: float = 0.0) -> Summary:
        """Each mention with its most probable antecedent, and the probability of the link.

        Mentions whose most probable label has no antecedent, or several parts, give no row.

        Parameters
        ----------
        at_least
            Smallest probability of a link. Where several readings may be true, or none, the most
            probable may be improbable.

        Returns
        -------
        Summary
            Columns item, antecedent, p_link, and p_next: the probability that one more reader links
            the mention to it, which is the honest one.
        """
        return chains.links(self.codes, self.p_true, at_least, self.p_next)

    def chains(self, at_least: float = 0.0) -> Summary:
        """Silver chains: mentions joined by the links of :meth:`links`.

        Parameters
        ----------
        at_least
            Smallest probability of a link.

        Returns
        -------
        Summary
            One row per mention of a chain: chain, item, p_link (NaN for a first mention) and
            p_weakest, the smallest probability of a link of the chain.
        """
        return chains.chains(self.codes, self.p_true, at_least)

    def silver(self, corpus: Corpus, at_least: float = 0.5) -> list[Document]:
        """Silver chains as documents with one layer, "silver"; :func:`write` puts them in a file.

        Parameters
        ----------
        corpus
            The documents that were fitted.
        at_least
            Smallest probability of a link.

        Raises
        ------
        AnnotationError
            When these are not the documents of the fit.
        """
        return silver.silver_documents(corpus, self._links(at_least), frozenset(self.codes.items))

    def link_probabilities(self, corpus: Corpus) -> dict[tuple[str, Span], float]:
        """Probability of the link of each mention that has one, by document and span.

        Parameters
        ----------
        corpus
            The documents that were fitted.
        """
        return silver.link_probabilities(corpus, self._links(0.0))

    def _links(self, at_least: float) -> dict[str, tuple[str, float]]:
        table = self.links(at_least).table
        pairs = zip(table["antecedent"], table["p_link"], strict=True)
        return dict(zip(table["item"], pairs, strict=True))

    def check(self) -> tuple[str, ...]:
        """Say in sentences whether the result can be trusted."""
        return checks.check(self.model, self.codes, self.drawn)

    def describe(self) -> list[str]:
        """Story and priors of the model in sentences."""
        return self.model.describe()

    @cached_property
    def draws(self) -> Any:
        """Draws as an xarray Dataset: prevalence, mean, concentration, rate, log_likelihood."""
        return tables.dataset(self.model, self.codes, self.drawn)
