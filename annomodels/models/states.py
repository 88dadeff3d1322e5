"""States of items, for models in which labels depend on more than the class of an item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from annomodels.data.validation import counted
from annomodels.errors import NotApplicable
from annomodels.models.encoded import Encoded
from annomodels.models.observed import (
    items_of,
    names_items,
    observed,
    observed_labels,
    observed_sparse,
)
from annomodels.types import Floats, Ints, Tensor, TensorLike

SMALLEST = 1e-30  # replaces zero probabilities in logarithms


@dataclass(frozen=True, eq=False)
class Kinds:
    """Kinds of items, each with separate state probabilities."""

    names: tuple[str, ...]  # names of the items, as strings
    of_item: Ints  # kind of each item, shape [item]
    # values of the item covariate terms for each kind, shape [kind, term]
    design: Floats
    # returns the prior log P(state) [kind, state] for a draw and an array of kinds
    log_share: Callable[[int, Ints], Floats]

    def of_items(self, names: Sequence[str]) -> Ints:
        """Return the kind of each named item."""
        if tuple(names) == self.names:
            return self.of_item
        place = dict(zip(self.names, self.of_item.tolist(), strict=True))
        if lacking := [name for name in names if name not in place]:
            raise NotApplicable(
                "Items that are not in the fit have no known covariates: "
                f"{counted(len(lacking), 'item')}, {', '.join(lacking[:5])}. Fit the model to all "
                "items."
            )
        return np.array([place[name] for name in names], dtype=np.int64)

    def of(self, draw: int, kind: Ints) -> Floats:
        """Return log P(state) [item, state] for one draw and the kinds of items."""
        some, back = np.unique(kind, return_inverse=True)
        return self.log_share(draw, some)[back]


@dataclass(frozen=True, eq=False)
class States:
    """States of the items in each draw; labels are independent given the state."""

    share: Floats  # probability of each state [draw, state]; mean over items if kinds differ
    emission: Floats  # P(label | state) of each coder, shape [draw, coder, state, label]
    truth: Floats  # P(truth | state), shape [draw, state, truth]
    # values of the states, such as a difficulty, or 1 for an ambiguous item; each [draw, state]
    values: dict[str, Floats] = field(default_factory=dict)
    kinds: Kinds | None = None  # kinds of items, if their state probabilities differ


def marginals(share: Floats, emission: Floats, truth: Floats) -> tuple[Floats, Floats]:
    """Return prevalence and confusion matrices, with the states summed out."""
    # P(l | k, j) = sum_s rho_s T_sk E_jsl / sum_s rho_s T_sk; share [state], emission [coder,
    # state, label], truth [state, truth]
    joint = share[:, None] * truth
    prevalence = joint.sum(axis=0)
    given = joint / np.maximum(prevalence, SMALLEST)
    return prevalence, np.matmul(given.T, emission)


class ItemStates(NamedTuple):
    """States of an item given the parameters, as NumPy arrays or PyTensor variables."""

    log_share: TensorLike  # log probability of each state [state]; [kind, state] if items differ
    truth: TensorLike  # P(truth | state), shape [state, truth]
    # log P(label | state) [row, state, label], or P(label | state)
    log_emission: TensorLike | None = None
    emission: TensorLike | None = None
    values: Mapping[str, Floats] = {}  # values of the states by name, each [state]


def together(found: Iterable[ItemStates]) -> States:
    """Stack the item states of several draws."""
    parts: list[Any] = list(found)
    emission = (np.exp(p.log_emission) if p.emission is None else p.emission for p in parts)
    values = {name: np.stack([part.values[name] for part in parts]) for name in parts[0].values}
    return States(
        np.stack([np.exp(part.log_share) for part in parts]),
        np.stack(list(emission)),
        np.stack([part.truth for part in parts]),
        values,
    )


def add_states(codes: Encoded, found: ItemStates) -> None:
    """Add the log likelihood of the labels to a PyMC model, with the states summed out."""
    # A known truth weights each state by P(truth | state). If the model does not name its items,
    # equal items are merged, and labels are not an observed variable. Otherwise, all labels are one
    # observed variable, each drawn given the state of its item.
    import pymc as pm
    import pytensor.tensor as pt
    from pytensor import sparse

    first = codes.row.astype(np.int64) * codes.n_codes  # first cell of the row
    known = np.flatnonzero(codes.gold >= 0)
    gold = codes.gold[known].astype(np.int64)
    log_emission = found.log_emission
    if log_emission is None:
        log_emission = pt.log(pt.maximum(found.emission, SMALLEST))
    if isinstance(found.truth, np.ndarray):
        with np.errstate(divide="ignore"):  # a known truth excludes states of other classes
            log_truth = np.log(found.truth)
    else:
        log_truth = pt.log(pt.maximum(found.truth, SMALLEST))
    parameters = tuple(map(pt.as_tensor_variable, (found.log_share, log_emission, log_truth)))

    def cells(emission: Tensor) -> Tensor:
        shape = codes.n_rows * codes.n_codes, emission.shape[1]
        return pt.reshape(pt.transpose(emission, (0, 2, 1)), shape)

    def joint(said: Tensor, share: Tensor, truth: Tensor, data: Callable[..., Tensor]) -> Tensor:
        """Return the joint log probability of states and labels, shape [pattern, state]."""
        same = codes.kind is None
        total = (share[None, :] if same else share[data("kind", codes.kind)]) + said
        if not len(known):
            return total
        of_gold = pt.transpose(truth)[data("gold", gold)]
        return pt.inc_subtensor(total[data("known", known)], of_gold)

    if not names_items():
        share, emission, truth = parameters
        said = sparse.structured_dot(observed_sparse("counts", codes.counts), cells(emission))
        each = pt.logsumexp(joint(said, share, truth, observed), axis=1)
        pm.Potential("labels", pt.sum(observed("weight", codes.weight) * each))
        return
    item, summed = items_of(codes)

    def of_items(label: Tensor, share: Tensor, emission: Tensor, truth: Tensor) -> Tensor:
        said = sparse.structured_dot(summed, cells(emission)[first + label])
        return pt.logsumexp(joint(said, share, truth, as_it_is), axis=1)

    def drawn(share: Tensor, emission: Tensor, truth: Tensor, size: object) -> Tensor:
        unseen = joint(pt.zeros((codes.n_patterns, 1)), share, truth, as_it_is)
        state = pm.Categorical.dist(logit_p=unseen)
        return pm.Categorical.dist(p=pt.exp(emission[codes.row, state[item]]))

    signature = f"{'(s)' if codes.kind is None else '(g,s)'},(r,s,l),(s,t)"
    observed_labels(codes, of_items, drawn, *parameters, signature=signature)


def as_it_is(name: str, values: Ints) -> Ints:
    """Return an array of data unchanged, as a constant of the graph."""
    return values
