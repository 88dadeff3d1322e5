"""Confusion models: each label is drawn from a row of its coder's confusion matrix."""

# truth[i] ~ Categorical(prevalence), label[n] ~ Categorical(confusion[coder[n], truth[item[n]]]).
# Each subclass defines the distribution of the confusion matrices.

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

import numpy as np

from annomodels.models.base import Model, State, sample_values
from annomodels.models.parameters import Parameter, Variables, reordered
from annomodels.models.states import ItemStates
from annomodels.priors.distributions import Distribution
from annomodels.types import Floats, Ints, TensorLike


class ConfusionModel(Model):
    """Base of models with a confusion matrix for each coder or for all coders."""

    # -- defined by subclasses ------------------------------------------------------------------

    def rows_prior(self, v: Variables) -> Distribution | None:
        """Return the prior of the confusion matrices; None if they are deterministic."""
        return None

    def log_rows(self, v: Variables) -> TensorLike:
        """Return the log confusion [coder, truth, label]; no coder dimension if shared."""
        return v.xp.log(v["confusion"])

    @abstractmethod
    def pymc_start(self, state: State) -> dict[str, Floats]:
        """Return the PyMC variables for a state of the starting model."""

    @property
    def starter(self) -> ConfusionModel:
        return self

    # -- common to all --------------------------------------------------------------------------

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        prevalence, plain = super().variables(n_labels)
        confusion = replace(
            plain, prior=self.rows_prior, follows=lambda v: v.xp.exp(self.log_rows(v))
        )
        return prevalence, confusion

    def item_states(self, v: Variables) -> ItemStates:
        rows = self.log_rows(v)
        share = v.xp.log(v["prevalence"])
        return ItemStates(share, np.eye(v.n_labels), rows[None] if self.shared else rows)

    def sample_parameters(self, n_rows: int, n_labels: int, rng: np.random.Generator) -> State:
        """Draw parameters from the prior, for simulations."""
        values = sample_values(self, n_rows, n_labels, rng)
        rows = values.pop("confusion")
        rows = rows.reshape(-1, *rows.shape[-2:]).transpose(0, 2, 1)
        rows = np.log(np.maximum(rows, np.finfo(float).tiny))
        return State(np.log(values.pop("prevalence")), np.ascontiguousarray(rows), values)

    def ordered(self, state: State, order: Ints) -> State:
        """Return a copy of a state in which class k is moved to ``order[k]``."""
        back = np.argsort(order)
        return State(
            state.log_prevalence[back],
            np.ascontiguousarray(state.log_confusion[:, :, back]),
            reordered(self.variables(len(back)), state.population, back),
        )
