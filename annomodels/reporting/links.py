"""What is known of texts with coreference chains, computed once for a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annomodels.coref.agreements import Which
from annomodels.coref.ambiguity import ambiguous_places
from annomodels.coref.conditions import CONDITIONS, condition_named
from annomodels.coref.overview import agreement_table, coder_table
from annomodels.coref.posteriors import PairPosterior, pair_posterior
from annomodels.coref.readings import reading_table
from annomodels.data.document import Corpus, Document, documents_of
from annomodels.errors import NotApplicable

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.coref.mentionpairs.result import PairFit

MOST_PLACES = 60
CODER_DRAWS = 400


@dataclass(frozen=True, eq=False)
class LinkFacts:
    """What the page is made of.

    Parameters
    ----------
    documents
        The texts.
    condition
        Title of the condition that the places are judged by.
    agreement
        From :func:`annomodels.coref.agreement_table`.
    posterior
        Draws of pair kappa; None where no two coders share mentions.
    places
        Every expression with its kind, from :func:`annomodels.coref.ambiguous_places`.
    readings
        The most contested places in context, from :func:`annomodels.coref.reading_table`.
    coders
        From :func:`annomodels.coref.coder_table`.
    fit
        The fitted model, or None.
    at_least
        Smallest probability of a silver link.
    prob
        Probability of the intervals.
    """

    documents: tuple[Document, ...]
    condition: str
    agreement: pd.DataFrame
    posterior: PairPosterior | None
    places: pd.DataFrame
    readings: pd.DataFrame
    coders: pd.DataFrame
    fit: PairFit | None
    at_least: float
    prob: float

    truth = "link"

    def lacks(self, verb: str) -> str:
        """Say why there is no such table; empty where there is one."""
        if verb == "silver" and self.fit is None:
            return "no model was fitted"
        return ""

    @property
    def n_coders(self) -> int:
        """Number of coders over all texts."""
        return len({coder for document in self.documents for coder in document.layers})

    def kinds(self) -> dict[str, int]:
        """How many expressions are of each kind."""
        if not len(self.places):
            return {}
        return {str(kind): int(n) for kind, n in self.places["kind"].value_counts().items()}


def collect(
    corpus: Corpus,
    chains: Sequence[str] = ("incl-",),
    distances: Sequence[str] = ("passonneau",),
    *,
    coefficient: Which = "alpha",
    fit: PairFit | None = None,
    at_least: float = 0.5,
    draws: int = 1000,
    seed: int = 0,
    prob: float = 0.9,
) -> LinkFacts:
    """Compute what the page shows.

    Parameters
    ----------
    corpus
        A document or several.
    chains, distances, coefficient, draws, seed, prob
        As for :func:`annomodels.coref.agreement_table`; the first condition is that of the places.
    fit
        From :func:`annomodels.coref.fit_pairs`, for silver chains.
    at_least
        Smallest probability of a silver link.

    Raises
    ------
    NotApplicable
        When there is no such condition, distance or coefficient.
    """
    documents = tuple(documents_of(corpus))
    chain = condition_named(chains[0] if chains else "incl-").name
    try:
        posterior = pair_posterior(documents, draws, seed)
    except NotApplicable:
        posterior = None
    return LinkFacts(
        documents=documents,
        condition=CONDITIONS[chain].title,
        agreement=agreement_table(
            documents, chains, distances,
            coefficient=coefficient, draws=draws, seed=seed, prob=prob,
        ),
        posterior=posterior,
        places=ambiguous_places(documents, chain),
        readings=reading_table(documents, chain, most=MOST_PLACES),
        coders=coder_table(documents, chain, draws=CODER_DRAWS, seed=seed, prob=prob),
        fit=fit,
        at_least=at_least,
        prob=prob,
    )  # fmt: skip
