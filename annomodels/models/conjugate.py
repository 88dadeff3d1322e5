"""Confusion models whose parameters are conjugate given the truth."""

# Counts determine the parameters: a draw for Gibbs, the mode for EM.

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from annomodels.models.base import State, log_priors
from annomodels.models.confusion import ConfusionModel
from annomodels.models.parameters import Parameter
from annomodels.types import AnyArray, Floats, Places

if TYPE_CHECKING:
    from annomodels.kernels.answering import AnsweringSource
    from annomodels.kernels.rows import Source

# rates of "don't know" in any model, see models/answering.py
NO_ANSWER_RATE = Parameter(
    "no_answer", ("coder", "truth", "dont_know"), "unit", watched="rate", optional=True
)
NO_ANSWER_MEAN = Parameter("no_answer_mean", ("truth", "dont_know"), "unit", optional=True)
NO_ANSWER = (
    NO_ANSWER_RATE,
    NO_ANSWER_MEAN,
    Parameter("no_answer_concentration", ("truth", "dont_know"), "positive", optional=True),
)


class ConjugateModel(ConfusionModel):
    """Base of models for the engines Gibbs, NUTS and EM."""

    engines: ClassVar[tuple[str, ...]] = ("gibbs", "nuts", "em")

    def parameters(self, n_labels: int = 2) -> tuple[Parameter, ...]:
        return (*super().parameters(n_labels), *NO_ANSWER)

    @abstractmethod
    def start(self, counts: Floats, sizes: Floats) -> State:
        """Return parameters from soft counts [row, label, truth] and class sizes [truth]."""

    @abstractmethod
    def maximise(self, counts: Floats, sizes: Floats, state: State) -> State:
        """Return the mode given expected counts, on the log-ratio scale (M-step)."""

    def row_prior(self, state: State) -> Floats:
        """Return Dirichlet pseudo-counts of a confusion matrix [truth, label]; empty if none."""
        return np.empty((0, 0))

    def collapsed(self, state: State) -> Floats | None:
        """Return the pseudo-counts of Dirichlet rows; None for other rows."""
        return None

    def source(self, state: State) -> Source | AnsweringSource:
        """Return the source of the rows in the format of ``kernels.rows``."""
        # arrays of the state are views, so that a Gibbs step changes the state
        return None

    def draw_places(self, held: dict[str, AnyArray], spare: AnyArray) -> Places:
        """Return the output arrays for draws of the source; `spare` is an unused array."""
        return (spare,)

    def priors(self, state: State) -> tuple[Floats, Floats, Source | AnsweringSource]:
        """Return pseudo-counts of the classes and of a matrix, and the source of the rows."""
        alpha = self.prevalence.alpha(len(state.log_prevalence))
        return alpha, self.row_prior(state), self.source(state)

    def draw(self, counts: Floats, sizes: Floats, state: State, key: int, iteration: int) -> None:
        """Draw the parameters given counts, in place (Gibbs step)."""
        from annomodels.kernels.rows import draw_parameters

        draw_parameters(
            counts, sizes, *self.priors(state), key, iteration,
            state.log_prevalence, state.log_confusion,
        )  # fmt: skip

    def log_prior(self, values: dict[str, Floats]) -> Floats:
        """Return the log prior density [draw] of prevalence, confusion and population."""
        return added(log_priors(self, values))

    def log_penalty(self, state: State) -> float:
        """Return the EM penalty: the log prior on the log-ratio scale."""
        # the Jacobian changes the exponents from alpha - 1 to alpha, so the mode exists for every
        # alpha > 0, and alpha = 0 is maximum likelihood
        return self.prevalence_penalty(state) + self.rows_penalty(state, self.row_prior(state))

    def log_evidence(
        self, counts: Floats, sizes: Floats, log_likelihood: float, state: State
    ) -> float:
        """Estimate the log mass of a mode, in nats, for the comparison of modes."""
        # For Dirichlet rows, this is the Cheeseman-Stutz approximation (1996): the marginal
        # likelihood of the labels completed with expected truths, corrected for the completion.
        # Otherwise, it is the height of the mode on the log-ratio scale.
        shapes = self.collapsed(state)
        if shapes is None:
            return log_likelihood + self.log_penalty(state)
        used, filled = counts > 0, sizes > 0
        plain = (counts[used] * state.log_confusion[used]).sum()
        plain += (sizes[filled] * state.log_prevalence[filled]).sum()
        rows = log_multinomial(counts, np.swapaxes(shapes, -1, -2), axis=1)
        shares = log_multinomial(sizes, self.prevalence.alpha(len(sizes)), axis=0)
        return float(log_likelihood - plain + rows.sum() + shares)

    def rows_penalty(self, state: State, prior: Floats) -> float:
        """Return the EM penalty of the rows, given their pseudo-counts."""
        rows = np.transpose(state.log_confusion, (0, 2, 1))
        return _weighted(np.broadcast_to(prior, rows.shape), rows)

    def prevalence_penalty(self, state: State) -> float:
        """Return the EM penalty of the prevalence."""
        return _weighted(self.prevalence.alpha(len(state.log_prevalence)), state.log_prevalence)

    def with_mode(
        self, counts: Floats, sizes: Floats, alpha: Floats, population: dict[str, Floats]
    ) -> State:
        """Return the mode of prevalence and rows; alpha [truth, label] or [row, truth, label]."""
        k = len(sizes)
        total = counts + np.swapaxes(alpha, -1, -2)
        weight = total.sum(axis=1, keepdims=True)
        rows = np.divide(total, weight, out=np.full_like(total, 1.0 / k), where=weight > 0)
        with np.errstate(divide="ignore"):
            return State(self.log_prevalence(sizes), np.log(rows), population)

    def log_prevalence(self, sizes: Floats) -> Floats:
        """Return the log prevalence at its mode, given class sizes."""
        share = sizes + self.prevalence.alpha(len(sizes))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(share / share.sum()))

    def free(self, state: State) -> Floats:
        """Return the EM parameters as one vector of log-ratios, for the acceleration of EM."""
        return np.concatenate([state.log_prevalence, state.log_confusion.ravel()])

    def from_free(self, vector: Floats, like: State) -> State:
        """Return the state of a free vector; `like` has the shapes and the fixed population."""
        k = len(like.log_prevalence)
        rows = vector[k:].reshape(like.log_confusion.shape)
        return State(log_shares(vector[:k], 0), log_shares(rows, 1), like.population)

    def pymc_start(self, state: State) -> dict[str, Floats]:
        return self.kept_values(state)

    def kept_values(self, state: State) -> dict[str, Floats]:
        """Return the values of a state that engines keep."""
        confusion = np.exp(np.transpose(state.log_confusion, (0, 2, 1)))
        return {
            "prevalence": np.exp(state.log_prevalence),
            "confusion": confusion[0] if self.shared else confusion,
            **state.population,
        }


def added(priors: dict[str, Floats]) -> Floats:
    """Return the sum of log prior densities [draw] over variables."""
    others = {name: values for name, values in priors.items() if name != "prevalence"}
    rows = others.pop("confusion", 0.0)
    return np.asarray(priors["prevalence"] + (rows + sum(others.values())))


def log_shares(x: Floats, axis: int) -> Floats:
    """Return the log probabilities along an axis from log-ratios."""
    x = x - x.max(axis=axis, keepdims=True)
    return np.asarray(x - np.log(np.exp(x).sum(axis=axis, keepdims=True)))


def log_multinomial(counts: Floats, shapes: Floats, axis: int) -> Floats:
    """Return the Dirichlet-multinomial log density of (soft) sequences, of each vector."""
    from scipy.special import gammaln

    shapes = np.broadcast_to(np.where(shapes > 0, shapes, 1.0), counts.shape)
    total = shapes.sum(axis=axis)
    each = (gammaln(shapes + counts) - gammaln(shapes)).sum(axis=axis)
    return np.asarray(each - (gammaln(total + counts.sum(axis=axis)) - gammaln(total)))


def _weighted(alpha: Floats, log_x: Floats) -> float:
    used = alpha > 0
    return float((alpha[used] * log_x[used]).sum())
