"""Ambiguous items: an item may have two correct readings, of which each coder perceives one."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar

import numpy as np

from annomodels.models.conjugate import ConjugateModel
from annomodels.models.mixtures.kinds import HonestAndSpammers
from annomodels.models.mixtures.layout import Factor, Layout
from annomodels.models.mixtures.state_model import StateModel
from annomodels.priors import Beta, Dirichlet, Proper

PLAIN, AMBIGUOUS = 0, 1


@dataclass(frozen=True)
class Ambiguous(StateModel):
    r"""Items have one class, or are ambiguous between two classes; coders perceive one of them.

    .. math::

        a_i \sim Bernoulli(\alpha), \quad
        c_i \sim Cat(\pi) \text{ if } a_i = 0, \text{ else } \{k, k'\} \sim Cat(w), \;
        u_i \sim Unif(U), \quad
        y_n \sim u_i Cat(\theta_{j_n, k}) + (1 - u_i) Cat(\theta_{j_n, k'})

    Careless coders disagree with the others on all items; on ambiguous items, good coders disagree
    too. The model includes both effects, so it separates ambiguity from carelessness.

    Parameters
    ----------
    coders
        Model of the labels given the perceived class; some coders may be spammers.
    ambiguous
        Prior of the proportion of ambiguous items.
    shares
        Possible proportions of coders who perceive the first reading.
    pairs
        Prior of the two classes of an ambiguous item.

    References
    ----------
    M. Poesio and R. Artstein (2005). The reliability of anaphoric annotation, reconsidered: taking
    ambiguity into account. Frontiers in Corpus Annotations II, 76-83.

    Examples
    --------
    >>> Ambiguous().layout(3).names[:5]
    ('0', '1', '2', '0|1 at 0.35', '0|1 at 0.5')
    """

    name: ClassVar[str] = "ambiguous"
    title: ClassVar[str] = "ambiguous items"
    citation: ClassVar[str] = "this package, after Poesio and Artstein (2005)"
    family: ClassVar[str] = "readings"

    coders: ConjugateModel = field(default_factory=HonestAndSpammers)
    ambiguous: Beta = field(default_factory=lambda: Beta(1.0, 9.0))
    shares: tuple[float, ...] = (0.35, 0.5, 0.65)
    pairs: Proper = field(default_factory=lambda: Dirichlet(1.0))

    def layout(self, n_labels: int) -> Layout:
        eye = np.eye(n_labels)
        pairs = list(combinations(range(n_labels), 2))
        n_shares, n_pairs = len(self.shares), len(pairs)
        mixed = np.array(
            [u * eye[k] + (1.0 - u) * eye[other] for k, other in pairs for u in self.shares]
        )
        mix = np.vstack([eye, mixed])
        kind = np.repeat([PLAIN, AMBIGUOUS], [n_labels, n_pairs * n_shares])
        which = np.repeat(np.arange(n_pairs), n_shares)
        none = np.full(n_labels, -1)
        names = [f"{k}|{other}" for k, other in pairs]
        plain_or_not = self.ambiguous.counts[::-1]
        pairs_prior = self.pairs.in_words.removesuffix(" per class")
        return Layout(
            names=(
                *(str(k) for k in range(n_labels)),
                *(f"{name} at {u:g}" for name in names for u in self.shares),
            ),
            mix=mix,
            base=np.concatenate([np.arange(n_labels), np.full(len(mixed), -1)]),
            truth=mix,
            factors=(
                Factor(
                    "ambiguous_share", plain_or_not, kind, ("plain", "ambiguous"),
                    about=f"Share of ambiguous items: {self.ambiguous.in_words}.",
                ),
                Factor(
                    "pair_share", self.pairs.alpha(n_pairs), np.concatenate([none, which]),
                    tuple(names), about=f"Pairs of classes: {pairs_prior} each.",
                ),
            ),
            values={"ambiguous": (kind == AMBIGUOUS).astype(float)},
            weight=np.where(kind == AMBIGUOUS, 1.0 / n_shares, 1.0),
        )  # fmt: skip

    def story(self) -> list[str]:
        shares = ", ".join(f"{u:g}" for u in self.shares)
        return [
            "An item may be ambiguous between two classes, and each coder perceives one of them; "
            f"share of the coders that perceive the first reading: {shares}, equally likely.",
        ]
