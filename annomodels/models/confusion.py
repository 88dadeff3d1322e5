"""The confusion family: every label is drawn from a row of its coder's confusion matrix."""

# truth[i] ~ Categorical(prevalence), label[n] ~ Categorical(confusion[coder[n], truth[item[n]]]).
# The likelihood, with the truth summed out, is written here once; a member of the family says where
# the confusion matrices come from.

from __future__ import annotations

from abc import abstractmethod
from types import ModuleType

import numpy as np

from annomodels.models.base import Model, State
from annomodels.models.encoded import Encoded
from annomodels.models.observed import by_item, names_items, observed, observed_sparse
from annomodels.models.states import SMALLEST, add_states
from annomodels.types import Floats, Ints, PyMCModel, Tensor, TensorLike


def emission_logp(log_confusion: TensorLike, codes: Encoded, xp: ModuleType) -> TensorLike:
    """Log P(labels of a pattern | truth), [pattern, truth]; confusion [row, truth, label]."""
    flat = xp.reshape(
        xp.transpose(log_confusion, (0, 2, 1)), (codes.n_rows * codes.n_labels, codes.n_labels)
    )
    if xp is np:
        return codes.counts @ flat
    from pytensor import sparse

    return sparse.structured_dot(observed_sparse("counts", codes.counts), flat)


class ConfusionModel(Model):
    """Base of the models whose coders each have (or share) a confusion matrix."""

    # -- what a member says ---------------------------------------------------------------------

    def sample_parameters(self, n_rows: int, n_labels: int, rng: np.random.Generator) -> State:
        """Draw parameters from the prior, for simulations."""
        raise NotImplementedError(self.name)

    @abstractmethod
    def pymc_log_confusion(self, n_labels: int) -> Tensor:
        """Log confusion [row, truth, label] as a tensor, with its priors; in a model context."""

    @abstractmethod
    def pymc_start(self, state: State) -> dict[str, Floats]:
        """Values of the PyMC variables that correspond to a state of the starting model."""

    @property
    def starter(self) -> ConfusionModel:
        """The conjugate model whose mode is the starting point."""
        return self

    # -- shared by all --------------------------------------------------------------------------

    def ordered(self, state: State, order: Ints) -> State:
        """Copy of a state in which class k has become class ``order[k]``."""
        back = np.argsort(order)
        return State(
            state.log_prevalence[back],
            np.ascontiguousarray(state.log_confusion[:, :, back]),
            self.taken(state.population, back),
        )

    def taken(self, values: dict[str, Floats], back: Ints) -> dict[str, Floats]:
        """Variables of one draw with their classes in another order; the others as they are."""
        dims = {each.name: each.dims for each in self.drawn_parameters(len(back))}
        out = dict(values)
        for name, array in values.items():
            along = dims.get(name, ())
            if "truth" in along:
                out[name] = np.asarray(np.take(array, back, axis=along.index("truth")))
        return out

    def log_prior(self, state: State) -> float | None:
        """Log prior density of all parameters, or None where only the sampler knows it."""
        return None

    def build(self, codes: Encoded, coords: dict[str, list[str]]) -> PyMCModel:
        """Build the PyMC model with the truth summed out, known gold clamped."""
        import pymc as pm
        import pytensor.tensor as pt

        with pm.Model(coords=coords) as model:
            prevalence = pm.Dirichlet(
                "prevalence", a=self.prevalence.alpha(codes.n_labels), dims="truth"
            )
            log_confusion = self.pymc_log_confusion(codes.n_labels)
            if names_items():
                sure = np.log(np.maximum(np.eye(codes.n_labels), SMALLEST))
                add_states(codes, pt.log(prevalence), log_confusion, sure)
                return model
            joint = pt.log(prevalence)[None, :] + emission_logp(log_confusion, codes, pt)
            pm.Potential("labels", clamped_logp(joint, codes))
        return model


def clamped_logp(joint: Tensor, codes: Encoded) -> Tensor:
    """Log likelihood from `joint` [pattern, truth], known gold clamped; in a model context."""
    import pytensor.tensor as pt

    weight = observed("weight", codes.weight)
    known = np.flatnonzero(codes.gold >= 0)
    if names_items():
        of_items = pt.logsumexp(joint, axis=1)
        if len(known):
            at, gold = observed("known", known), observed("gold", codes.gold[known])
            of_items = pt.set_subtensor(of_items[at], joint[at, gold])
        return pt.sum(weight * by_item(of_items))
    if not len(known):
        return pt.sum(weight * pt.logsumexp(joint, axis=1))
    open_ = observed("open", np.flatnonzero(codes.gold < 0))
    total = pt.sum(weight[open_] * pt.logsumexp(joint[open_], axis=1))
    gold = observed("gold", codes.gold[known])
    at = observed("known", known)
    return total + pt.sum(weight[at] * joint[at, gold])
