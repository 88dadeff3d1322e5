"""Members of the confusion family whose parameters are conjugate given the truth."""

# Counts go in, parameters come out: as a draw for Gibbs, as a mode for EM.

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from annomodels.models.base import State
from annomodels.models.confusion import ConfusionModel
from annomodels.models.parameters import Parameter
from annomodels.types import AnyArray, Floats, Ints, Places

if TYPE_CHECKING:
    from annomodels.kernels.answering import Answering
    from annomodels.kernels.rows import Source

# where coders may say "don't know", whatever the model, see models/answering.py
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
    """Base of the models that Gibbs and EM serve beside NUTS."""

    engines: ClassVar[tuple[str, ...]] = ("gibbs", "nuts", "em")

    def parameters(self, n_labels: int = 2) -> tuple[Parameter, ...]:
        return (*super().parameters(n_labels), *NO_ANSWER)

    @abstractmethod
    def start(self, counts: Floats, sizes: Floats) -> State:
        """Parameters from soft counts [row, label, truth] and class sizes [truth]."""

    @abstractmethod
    def maximise(self, counts: Floats, sizes: Floats, state: State) -> State:
        """M-step: the mode given expected counts, on the scale of log-ratios."""

    def row_prior(self, state: State) -> Floats:
        """Dirichlet pseudo-counts of a confusion matrix, shape [truth, label]; empty without."""
        return np.empty((0, 0))

    def collapsed(self, state: State) -> Floats | None:
        """Pseudo-counts of rows that are Dirichlet given counts of labels; None if not."""
        return None

    def source(self, state: State) -> Source | Answering:
        """Return the source of the rows as the kernels take it, see ``kernels.rows``."""
        # arrays that belong to the state are views of it, so that a Gibbs step changes the state
        return None

    def draw_places(self, held: dict[str, AnyArray], spare: AnyArray) -> Places:
        """Return where kernels write draws of the source; `spare` has an unused number per draw."""
        return (spare,)

    def rows_of(self, coders: Ints, n_rows: int) -> Ints:
        """Rows of a state that belong to some of the coders."""
        return coders

    def priors(self, state: State) -> tuple[Floats, Floats, Source | Answering]:
        """Pseudo-counts of the classes and of a matrix, and what the rows come from."""
        alpha = self.prevalence.alpha(len(state.log_prevalence))
        return alpha, self.row_prior(state), self.source(state)

    def draw(self, counts: Floats, sizes: Floats, state: State, key: int, iteration: int) -> None:
        """Gibbs step: parameters given counts, in place."""
        from annomodels.kernels.rows import draw_parameters

        draw_parameters(
            counts, sizes, *self.priors(state), key, iteration,
            state.log_prevalence, state.log_confusion,
        )  # fmt: skip

    def log_prior(self, values: dict[str, Floats]) -> Floats:
        """Log prior density [draw] of draws of prevalence, confusion and population."""
        return added(self.log_priors(values))

    def log_penalty(self, state: State) -> float:
        """Return the penalty of EM: the log prior on the scale of log-ratios."""
        # there the Jacobian turns the exponents alpha - 1 into alpha, so that the mode exists for
        # every alpha > 0 and alpha = 0 is maximum likelihood
        return self.prevalence_penalty(state) + self.rows_penalty(state, self.row_prior(state))

    def log_evidence(
        self, counts: Floats, sizes: Floats, log_likelihood: float, state: State
    ) -> float:
        """Estimate the logarithm of the mass of a mode, in nats, for comparing modes."""
        # If rows are Dirichlet, prevalence and rows are integrated out of the labels completed by
        # their expected truths, and the effect of completing them is subtracted (Cheeseman and
        # Stutz 1996); else this is the height of the mode on the scale of log-ratios.
        shapes = self.collapsed(state)
        if shapes is None:
            return log_likelihood + self.log_penalty(state)
        used, filled = counts > 0, sizes > 0
        plain = (counts[used] * state.log_confusion[used]).sum()
        plain += (sizes[filled] * state.log_prevalence[filled]).sum()
        total = log_multinomial(counts, np.swapaxes(shapes, -1, -2), axis=1)
        total += log_multinomial(sizes, self.prevalence.alpha(len(sizes)), axis=0)
        return float(log_likelihood - plain + total)

    def rows_penalty(self, state: State, prior: Floats) -> float:
        """Return the part of the penalty that concerns rows with these pseudo-counts."""
        rows = np.transpose(state.log_confusion, (0, 2, 1))
        return _weighted(np.broadcast_to(prior, rows.shape), rows)

    def prevalence_penalty(self, state: State) -> float:
        """Return the part of the penalty that concerns the prevalence."""
        return _weighted(self.prevalence.alpha(len(state.log_prevalence)), state.log_prevalence)

    def with_mode(
        self, counts: Floats, sizes: Floats, alpha: Floats, population: dict[str, Floats]
    ) -> State:
        """Prevalence and rows at their mode given counts, alpha [truth, label] or by row."""
        k = len(sizes)
        total = counts + np.swapaxes(alpha, -1, -2)
        weight = total.sum(axis=1, keepdims=True)
        rows = np.divide(total, weight, out=np.full_like(total, 1.0 / k), where=weight > 0)
        share = sizes + self.prevalence.alpha(k)
        with np.errstate(divide="ignore"):
            return State(np.log(share / share.sum()), np.log(rows), population)

    def free(self, state: State) -> Floats:
        """Parameters that EM estimates as one vector of log-ratios, for leaps between its steps."""
        return np.concatenate([state.log_prevalence, state.log_confusion.ravel()])

    def from_free(self, vector: Floats, like: State) -> State:
        """State of such a vector; `like` gives the shapes, and what EM holds."""
        k = len(like.log_prevalence)
        rows = vector[k:].reshape(like.log_confusion.shape)
        return State(log_shares(vector[:k], 0), log_shares(rows, 1), like.population)

    def pymc_start(self, state: State) -> dict[str, Floats]:
        return self.kept_values(state)

    def kept_values(self, state: State) -> dict[str, Floats]:
        """Return what engines keep of a state: variables of a result, or what gives these."""
        confusion = np.exp(np.transpose(state.log_confusion, (0, 2, 1)))
        return {
            "prevalence": np.exp(state.log_prevalence),
            "confusion": confusion[0] if self.shared else confusion,
            **state.population,
        }


def added(priors: dict[str, Floats]) -> Floats:
    """Add up log prior densities [draw]: prevalence, rows, and what these come from."""
    others = {name: values for name, values in priors.items() if name != "prevalence"}
    rows = others.pop("confusion", 0.0)
    return np.asarray(priors["prevalence"] + (rows + sum(others.values())))


def log_shares(x: Floats, axis: int) -> Floats:
    """Log shares that add up to one along an axis, from their log-ratios."""
    x = x - x.max(axis=axis, keepdims=True)
    return np.asarray(x - np.log(np.exp(x).sum(axis=axis, keepdims=True)))


def log_multinomial(counts: Floats, shapes: Floats, axis: int) -> float:
    """Log Dirichlet-multinomial density of (soft) counts in order, summed over all vectors."""
    from scipy.special import gammaln

    shapes = np.broadcast_to(np.where(shapes > 0, shapes, 1.0), counts.shape)
    total = shapes.sum(axis=axis)
    each = (gammaln(shapes + counts) - gammaln(shapes)).sum()
    return float(each - (gammaln(total + counts.sum(axis=axis)) - gammaln(total)).sum())


def _weighted(alpha: Floats, log_x: Floats) -> float:
    used = alpha > 0
    return float((alpha[used] * log_x[used]).sum())
