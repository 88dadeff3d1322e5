"""MACE: a coder knows the truth or guesses from a fixed distribution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel, log_shares
from annomodels.models.parameters import Parameter, Variables
from annomodels.priors import Beta, Dirichlet, Proper
from annomodels.priors.distributions import DirichletRows
from annomodels.types import AnyArray, Floats, Places, TensorLike

if TYPE_CHECKING:
    from annomodels.kernels.rows import Guessing

UNIFORM = 1e6


def guessing_rows(competence: Floats, guess: Floats) -> Floats:
    """Return the log confusion [row, label, truth] for competence [row], guesses [row, label]."""
    n_labels = guess.shape[1]
    known = competence[:, None, None] * np.eye(n_labels)[None]
    with np.errstate(divide="ignore"):
        return np.log(known + ((1.0 - competence)[:, None] * guess)[:, :, None])


@dataclass(frozen=True)
class Mace(ConjugateModel):
    r"""Multi-annotator competence estimation (MACE): coders know the truth or guess.

    .. math::

        \pi \sim Dir(a), \quad \theta_j \sim Beta(\alpha, \beta), \quad
        \xi_j \sim Dir(\gamma), \quad c_i \sim Cat(\pi), \quad
        P(y_n = l \mid c_{i_n} = k) = \theta_{j_n} [l = k] + (1 - \theta_{j_n}) \xi_{j_n,l}

    The model is designed for spammers: guesses do not depend on the truth. It cannot represent a
    coder who confuses one class with another.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes; uniform in :meth:`hovy`, as in the paper.
    competence
        Prior of the probability that a coder knows the truth.
    guess
        Prior of the coders' guesses.

    References
    ----------
    D. Hovy, T. Berg-Kirkpatrick, A. Vaswani and E. Hovy (2013). Learning whom to trust with MACE.
    NAACL-HLT, 1120-1130. https://aclanthology.org/N13-1132

    Examples
    --------
    >>> Mace().guess
    Dirichlet(concentration=10.0)
    """

    name: ClassVar[str] = "mace"
    title: ClassVar[str] = "MACE"
    citation: ClassVar[str] = "Hovy et al. (2013)"
    family: ClassVar[str] = "narrow"
    swappable: ClassVar[bool] = False

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    competence: Beta = field(default_factory=lambda: Beta(0.5, 0.5))
    guess: Proper = field(default_factory=lambda: Dirichlet(10.0))

    @classmethod
    def hovy(cls) -> Mace:
        """Return the model of the paper, with equally frequent classes.

        The prior of the prevalence is strong enough to keep it uniform to three digits.

        Examples
        --------
        >>> Mace.hovy().prevalence.concentration
        1000000.0
        """
        return cls(prevalence=Dirichlet(UNIFORM))

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        return (
            *super().variables(n_labels),
            Parameter(
                "competence", ("coder",), "unit", watched="", prior=self.competence,
                about=f"Competences: {self.competence.in_words}.",
            ),
            Parameter(
                "guess", ("coder", "label"), "simplex", watched="",
                prior=lambda _: DirichletRows(self.guess.alpha(n_labels)[None]),
                about=f"Guesses: {self.guess.in_words}.",
            ),
        )  # fmt: skip

    def log_rows(self, v: Variables) -> TensorLike:
        theta = v["competence"][:, None, None]
        return v.xp.log(theta * np.eye(v.n_labels) + (1.0 - theta) * v["guess"][:, None, :])

    def draw_places(self, held: dict[str, AnyArray], spare: AnyArray) -> Places:
        return (held["competence"], held["guess"])

    def source(self, state: State) -> Guessing:
        from annomodels.kernels.rows import Guessing

        held = state.population
        alpha = self.guess.alpha(len(state.log_prevalence))
        return Guessing(held["competence"], held["guess"], self.competence.counts, alpha)

    def start(self, counts: Floats, sizes: Floats) -> State:
        k = len(sizes)
        given = counts.sum(axis=(1, 2))
        right = np.einsum("jkk->j", counts)
        # accuracy beyond chance estimates competence; wrong labels estimate guesses
        known = np.clip((right + 0.5) / (given + 1.0), 1.5 / k, 1.0)
        competence = np.clip((k * known - 1.0) / (k - 1.0), 0.05, 0.95)
        wrong = counts.sum(axis=2) - np.einsum("jkk->jk", counts) + self.guess.alpha(k)
        guess = wrong / wrong.sum(axis=1, keepdims=True)
        return self._state(self.log_prevalence(sizes), competence, guess)

    def maximise(self, counts: Floats, sizes: Floats, state: State) -> State:
        """Run an EM step in which guessing is also missing data."""
        theta, xi = state.population["competence"], state.population["guess"]
        right = np.einsum("jkk->jk", counts)
        known = right * theta[:, None] / (theta[:, None] + (1.0 - theta)[:, None] * xi)
        guessed = counts.sum(axis=2) - known
        a, b = self.competence.counts
        competence = (known.sum(axis=1) + a) / (counts.sum(axis=(1, 2)) + a + b)
        share = guessed + self.guess.alpha(len(sizes))
        guess = share / share.sum(axis=1, keepdims=True)
        return self._state(self.log_prevalence(sizes), competence, guess)

    def _state(self, log_prevalence: Floats, competence: Floats, guess: Floats) -> State:
        rows = guessing_rows(competence, guess)
        return State(log_prevalence, rows, {"competence": competence, "guess": guess})

    def free(self, state: State) -> Floats:
        theta, xi = state.population["competence"], state.population["guess"]
        with np.errstate(divide="ignore"):
            odds = np.log(theta) - np.log1p(-theta)
            return np.concatenate([state.log_prevalence, odds, np.log(xi).ravel()])

    def from_free(self, vector: Floats, like: State) -> State:
        k, n = len(like.log_prevalence), len(like.log_confusion)
        with np.errstate(over="ignore"):
            competence = 1.0 / (1.0 + np.exp(-vector[k : k + n]))
        guess = np.exp(log_shares(vector[k + n :].reshape(n, k), 1))
        return self._state(log_shares(vector[:k], 0), competence, guess)

    def log_penalty(self, state: State) -> float:
        theta, xi = state.population["competence"], state.population["guess"]
        a, b = self.competence.counts
        value = a * np.log(theta).sum() + b * np.log1p(-theta).sum()
        value += (self.guess.alpha(xi.shape[1]) * np.log(xi)).sum()
        return self.prevalence_penalty(state) + float(value)

    def story(self) -> list[str]:
        return [
            "Every item has one true class; each coder recognizes it with some probability, and "
            "otherwise guesses from a distribution that does not depend on the item."
        ]
