"""States of items: what a model knows an item by when its class alone does not say all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

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


def add_states(
    codes: Encoded, log_share: Tensor, log_emission: Tensor, log_truth: TensorLike
) -> None:
    """Add the log likelihood of the labels to a PyMC model, the states summed out."""
    # known gold weights each state by the probability of that truth; log_emission [row, state,
    # label], log_truth [state, truth]
    import pymc as pm
    import pytensor.tensor as pt
    from pytensor import sparse

    if names_items():
        _observe_states(codes, log_share, log_emission, pt.as_tensor_variable(log_truth))
        return
    counts = observed_sparse("counts", codes.counts)
    cells = pt.reshape(
        pt.transpose(log_emission, (0, 2, 1)), (codes.n_rows * codes.n_labels, log_share.shape[-1])
    )
    of_item = log_share[None, :] if codes.kind is None else log_share[observed("kind", codes.kind)]
    joint = of_item + sparse.structured_dot(counts, cells)
    known = np.flatnonzero(codes.gold >= 0)
    if len(known):
        gold = observed("gold", codes.gold[known])
        of_gold = pt.transpose(pt.as_tensor_variable(log_truth))[gold]
        joint = pt.inc_subtensor(joint[observed("known", known)], of_gold)
    weight = observed("weight", codes.weight)
    pm.Potential("labels", pt.sum(weight * pt.logsumexp(joint, axis=1)))


def _observe_states(
    codes: Encoded, log_share: Tensor, log_emission: Tensor, log_truth: Tensor
) -> None:
    """Observe the labels, each drawn given the state of its item; called in a model context."""
    import pymc as pm
    import pytensor.tensor as pt
    from pytensor import sparse

    item, summed = items_of(codes)
    row, k = codes.row.astype(np.int64), codes.n_labels
    known = np.flatnonzero(codes.gold >= 0)
    gold = codes.gold[known].astype(np.int64)

    def before(share: Tensor, truth: Tensor) -> Tensor:
        """Log probability of each state of each item whose labels nobody has seen."""
        same = codes.kind is None
        wide = pt.tile(share[None, :], (codes.n_patterns, 1)) if same else share[codes.kind]
        return pt.inc_subtensor(wide[known], truth.T[gold]) if len(known) else wide

    def of_items(label: Tensor, share: Tensor, emission: Tensor, truth: Tensor) -> Tensor:
        cells = pt.reshape(pt.transpose(emission, (0, 2, 1)), (codes.n_rows * k, share.shape[-1]))
        said = sparse.structured_dot(summed, cells[row * k + label])
        return pt.logsumexp(before(share, truth) + said, axis=1)

    def drawn(share: Tensor, emission: Tensor, truth: Tensor, size: object) -> Tensor:
        state = pm.Categorical.dist(logit_p=before(share, truth))
        return pm.Categorical.dist(p=pt.exp(emission[row, state[item]]))

    parameters = log_share, log_emission, log_truth
    signature = f"{'(s)' if codes.kind is None else '(g,s)'},(r,s,l),(s,t)"
    observed_labels(codes, of_items, drawn, *parameters, signature=signature)
