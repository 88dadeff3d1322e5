"""States of items: what a model knows an item by when its class alone does not say all."""

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

SMALLEST = 1e-30  # a probability that is zero by definition counts as this in logarithms


@dataclass(frozen=True, eq=False)
class Kinds:
    """Kinds of items, each with its own shares of the states."""

    names: tuple[str, ...]  # names of the items, as text
    of_item: Ints  # kind of each item, shape [item]
    # what the terms of the columns about items are for each kind, shape [kind, term]
    design: Floats
    # gives log P(state) of an item of some kinds on a draw, before it is labeled, [kind, state]
    log_share: Callable[[int, Ints], Floats]

    def of_items(self, names: Sequence[str]) -> Ints:
        """Kind of each of some items."""
        if tuple(names) == self.names:
            return self.of_item
        place = dict(zip(self.names, self.of_item.tolist(), strict=True))
        if lacking := [name for name in names if name not in place]:
            raise NotApplicable(
                f"Not in the fit, so without known covariates: {counted(len(lacking), 'item')}, "
                f"{', '.join(lacking[:5])}. Fit the model to all items."
            )
        return np.array([place[name] for name in names], dtype=np.int64)

    def of(self, draw: int, kind: Ints) -> Floats:
        """Log P(state) on a draw of items of these kinds, shape [item, state]."""
        some, back = np.unique(kind, return_inverse=True)
        return self.log_share(draw, some)[back]


@dataclass(frozen=True, eq=False)
class States:
    """States of the items on each draw; labels are independent given the state."""

    share: Floats  # probability of each state [draw, state]; the mean over items of several kinds
    emission: Floats  # P(label | state) of each coder, shape [draw, coder, state, label]
    truth: Floats  # P(truth | state), shape [draw, state, truth]
    # numbers of the states, such as a difficulty, or 1 if an item is ambiguous; each [draw, state]
    values: dict[str, Floats] = field(default_factory=dict)
    kinds: Kinds | None = None  # kinds of items, if their shares differ


def marginals(share: Floats, emission: Floats, truth: Floats) -> tuple[Floats, Floats]:
    """Prevalence of the classes and confusion matrices, the states summed out."""
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
    # P(label | state) of each row [row, state, label]: its logarithm, or itself
    log_emission: TensorLike | None = None
    emission: TensorLike | None = None
    values: Mapping[str, Floats] = {}  # numbers that the states stand for, each [state]


def together(found: Iterable[ItemStates]) -> States:
    """Return the states under several draws."""
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
    """Add the log likelihood of the labels to a PyMC model, the states summed out."""
    # Known gold weights each state by the probability of that truth. Labels are data that are not
    # seen by PyMC, equal items collapsed; if the model names its items, they are one observed
    # variable, each drawn given the state of its item.
    import pymc as pm
    import pytensor.tensor as pt
    from pytensor import sparse

    k, row = codes.n_labels, codes.row.astype(np.int64)
    known = np.flatnonzero(codes.gold >= 0)
    gold = codes.gold[known].astype(np.int64)
    log_emission = found.log_emission
    if log_emission is None:
        log_emission = pt.log(pt.maximum(found.emission, SMALLEST))
    if isinstance(found.truth, np.ndarray):
        with np.errstate(divide="ignore"):  # known gold then excludes states of other truths
            log_truth = np.log(found.truth)
    else:
        log_truth = pt.log(pt.maximum(found.truth, SMALLEST))
    parameters = tuple(map(pt.as_tensor_variable, (found.log_share, log_emission, log_truth)))

    def cells(emission: Tensor) -> Tensor:
        shape = codes.n_rows * k, emission.shape[1]
        return pt.reshape(pt.transpose(emission, (0, 2, 1)), shape)

    def joint(said: Tensor, share: Tensor, truth: Tensor, data: Callable[..., Tensor]) -> Tensor:
        """Log probability of each state and the labels, shape [pattern, state]."""
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
        said = sparse.structured_dot(summed, cells(emission)[row * k + label])
        return pt.logsumexp(joint(said, share, truth, as_it_is), axis=1)

    def drawn(share: Tensor, emission: Tensor, truth: Tensor, size: object) -> Tensor:
        unseen = joint(pt.zeros((codes.n_patterns, 1)), share, truth, as_it_is)
        state = pm.Categorical.dist(logit_p=unseen)
        return pm.Categorical.dist(p=pt.exp(emission[row, state[item]]))

    signature = f"{'(s)' if codes.kind is None else '(g,s)'},(r,s,l),(s,t)"
    observed_labels(codes, of_items, drawn, *parameters, signature=signature)


def as_it_is(name: str, values: Ints) -> Ints:
    """Return numbers of the data that are part of a graph."""
    return values
