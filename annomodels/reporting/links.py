"""Facts about texts with coreference chains, each computed once on first use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from annomodels.coref.agreements import By, Which
from annomodels.coref.conditions import CONDITIONS, condition_named
from annomodels.coref.overview import agreement_table, coder_table
from annomodels.coref.posteriors import PairPosterior, pair_posterior
from annomodels.coref.readings import ambiguous_places, reading_table
from annomodels.data.document import Document
from annomodels.errors import NotApplicable

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.data.summary import Summary
    from annomodels.fitting.fit import Fit

MOST_PLACES = 500
CODER_DRAWS = 400


@dataclass(eq=False)
class LinkFacts:
    documents: Sequence[Document]
    chains: Sequence[str] = ("incl-",)
    distances: Sequence[str] = ("passonneau",)
    coefficient: Which = "alpha"
    fit: Fit | None = None
    at_least: float = 0.5
    draws: int = 1000
    seed: int = 0
    prob: float = 0.95

    truth, estimate = "link", None

    def unsupported(self, verb: str) -> str:
        """Return why a table is unavailable; empty if it is available."""
        if verb == "texts":
            return "" if self.documents else "a fit does not contain the texts: give texts="
        return "no model was fitted" if self.fit is None else self.fit.unsupported(verb)

    @property
    def chain(self) -> str:
        """Name of the condition used for the places."""
        return condition_named(self.chains[0] if self.chains else "incl-").name

    @property
    def condition(self) -> str:
        """Title of the condition used for the places."""
        return CONDITIONS[self.chain].title

    @cached_property
    def agreement(self) -> Summary:
        return self.agreement_by(None)

    @cached_property
    def by_kappa(self) -> pd.DataFrame:
        """Pair kappa of each text, the lowest first."""
        assert self.posterior is not None
        return self.posterior.table.sort_values("kappa", kind="stable")

    def agreement_by(self, by: By | None) -> Summary:
        """Return the table of :func:`annomodels.coref.agreement_table`."""
        return agreement_table(
            self.documents, self.chains, self.distances,
            coefficient=self.coefficient, by=by, draws=self.draws, seed=self.seed, prob=self.prob,
        )  # fmt: skip

    @cached_property
    def posterior(self) -> PairPosterior | None:
        """Draws of pair kappa; None if no two coders share mentions."""
        try:
            return pair_posterior(self.documents, self.draws, self.seed, self.prob)
        except NotApplicable:
            return None

    @cached_property
    def places(self) -> pd.DataFrame:
        """Every expression with its kind, from :func:`annomodels.coref.ambiguous_places`."""
        return ambiguous_places(self.documents, self.chain).table

    @cached_property
    def readings(self) -> pd.DataFrame:
        """The most contested places in context, from :func:`annomodels.coref.reading_table`."""
        return reading_table(self.documents, self.chain, most=MOST_PLACES).table

    @cached_property
    def coders(self) -> Summary:
        return coder_table(
            self.documents, self.chain, draws=CODER_DRAWS, seed=self.seed, prob=self.prob
        )

    @property
    def n_coders(self) -> int:
        return len({coder for document in self.documents for coder in document.layers})

    def kinds(self) -> dict[str, int]:
        if not len(self.places):
            return {}
        return {str(kind): int(n) for kind, n in self.places["kind"].value_counts().items()}
