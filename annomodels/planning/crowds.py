"""Made-up coders: confusion matrices of honest ones, spammers and adversaries.

And who labels what: random assignment of coders to items.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from annomodels.errors import NotApplicable, Option
from annomodels.priors import Beta, Diagonal
from annomodels.types import Floats, Ints

Workload = Literal["even", "long-tailed"]
PerItem = int | tuple[int, int]


def assign(
    n_items: int, n_coders: int, per_item: PerItem, workload: Workload, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Choose coders for every item, no coder twice."""
    fewest, most = (per_item, per_item) if isinstance(per_item, int) else per_item
    if not 0 < fewest <= most <= n_coders:
        wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        raise NotApplicable(
            f"{wanted} labels per item cannot come from {n_coders} coders: give 1 to {n_coders}."
        )
    if workload not in get_args(Workload):
        raise NotApplicable(
            f"{Option('workload', workload)} is unknown. Use one of "
            f"{', '.join(get_args(Workload))}."
        )
    lengths = rng.integers(fewest, most + 1, n_items)
    item = np.repeat(np.arange(n_items), lengths)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    coder = np.empty(len(item), dtype=np.int64)
    burden = np.zeros(n_coders)
    weight = np.log(1 / (1 + rng.permutation(n_coders)))
    for i in range(n_items):
        # the smallest keys win: even work counts what coders have, a long tail what they like
        if workload == "even":
            keys = burden + 0.5 * rng.random(n_coders)
        else:
            keys = -weight - rng.gumbel(size=n_coders)
        chosen = np.argpartition(keys, lengths[i] - 1)[: lengths[i]]
        burden[chosen] += 1
        coder[starts[i] : starts[i + 1]] = np.sort(chosen)
    return item, coder


Accuracy = float | Beta | Diagonal | Sequence[float]

KINDS = ("honest", "uniform spammer", "constant spammer", "habitual spammer", "adversary")
"""Kinds of made-up coders. Spammers do not look at the item: they pick a label at random with
equal chances, always give the same one, or follow a habit of their own."""


def draw_coders(
    n_coders: int,
    n_labels: int,
    accuracy: Accuracy,
    spammers: float,
    adversaries: float,
    rng: np.random.Generator,
) -> tuple[Floats, tuple[str, ...]]:
    """Draw a crowd of coders: confusion matrices [coder, truth, label], and their kinds."""
    if min(spammers, adversaries) < 0 or spammers + adversaries > 1:
        raise NotApplicable(
            f"There cannot be a share of {spammers:g} spammers and {adversaries:g} adversaries: "
            "give shares of 0 or more that sum to 1 at most."
        )
    confusion = honest(n_coders, n_labels, accuracy, rng)
    kinds = np.full(n_coders, KINDS[0], dtype=object)
    order = rng.permutation(n_coders)
    n_spammers = round(spammers * n_coders)
    for number, j in enumerate(order[:n_spammers]):
        kind = KINDS[1 + number % 3]
        kinds[j] = kind
        confusion[j] = _habit(kind, n_labels, rng)
    last = min(n_spammers + round(adversaries * n_coders), n_coders)
    for j in order[n_spammers:last]:
        kinds[j] = KINDS[4]
        confusion[j] = np.roll(confusion[j], 1, axis=1)
    return confusion, tuple(str(kind) for kind in kinds)


def honest(n_coders: int, n_labels: int, accuracy: Accuracy, rng: np.random.Generator) -> Floats:
    """Draw confusion matrices of honest coders, [coder, truth, label]."""
    if isinstance(accuracy, Diagonal):
        if accuracy.strength == 0:
            raise NotApplicable("Coders need a Diagonal of strength above 0 to be drawn from.")
        shape = np.broadcast_to(accuracy.alpha(n_labels), (n_coders, n_labels, n_labels))
        drawn = np.maximum(rng.standard_gamma(shape), 1e-300)
        rows: Floats = drawn / drawn.sum(axis=2, keepdims=True)
        return rows
    if isinstance(accuracy, Beta):
        right = rng.beta(accuracy.a, accuracy.b, n_coders)
    else:
        right = np.array(accuracy, dtype=np.float64)
        if right.ndim and right.shape != (n_coders,):
            raise NotApplicable(
                f"There are {right.size} accuracies for {n_coders} coders: give one for each."
            )
        right = np.broadcast_to(right, (n_coders,))
    if not ((right >= 0) & (right <= 1)).all():
        raise NotApplicable(f"The accuracy is {accuracy!r}: it must be between 0 and 1.")
    wrong = (1 - right) / max(n_labels - 1, 1)
    return np.where(np.eye(n_labels, dtype=bool), right[:, None, None], wrong[:, None, None])


def spread_out(mean: float, spread: float) -> float | Beta:
    """Return coder accuracies by mean and standard deviation; 0 makes all alike."""
    if spread == 0:
        return mean
    total = mean * (1 - mean) / spread**2 - 1
    if not (0 < mean < 1 and total > 0):
        raise NotApplicable(
            f"Accuracies between 0 and 1 with mean {mean:g} cannot have a standard deviation of "
            f"{spread:g}; the largest is {np.sqrt(max(mean * (1 - mean), 0)):.3f}."
        )
    return Beta(round(mean * total, 9), round((1 - mean) * total, 9))


def _habit(kind: str, n_labels: int, rng: np.random.Generator) -> Floats:
    """Rows of a spammer, all the same."""
    if kind == KINDS[1]:
        row = np.full(n_labels, 1 / n_labels)
    elif kind == KINDS[2]:
        row = np.eye(n_labels)[rng.integers(n_labels)]
    else:
        row = rng.dirichlet(np.ones(n_labels))
    return np.broadcast_to(row, (n_labels, n_labels))
