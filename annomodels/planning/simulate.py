"""Simulated data with known truth, for planning and model tests."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.html import Html
from annomodels.data.names import label_text
from annomodels.errors import NotApplicable, Option, valid_seed
from annomodels.priors import Beta, Diagonal, Dirichlet
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
        # the smallest keys win: current load for even work, coder weights for a long tail
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
"""Kinds of simulated coders. Spammers ignore the item: they pick a label at random with equal
chances, always give the same one, or follow a habit."""


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
            f"Shares of {spammers:g} spammers and {adversaries:g} adversaries are impossible: give "
            "shares of 0 or more that sum to at most 1."
        )
    confusion = honest(n_coders, n_labels, accuracy, rng)
    kinds = np.full(n_coders, KINDS[0], dtype=object)
    order = rng.permutation(n_coders)
    n_spammers = round(spammers * n_coders)
    for number, j in enumerate(order[:n_spammers]):
        kind = KINDS[1 + number % 3]
        kinds[j] = kind
        if kind == KINDS[1]:
            row = np.full(n_labels, 1 / n_labels)
        elif kind == KINDS[2]:
            row = np.eye(n_labels)[rng.integers(n_labels)]
        else:
            row = rng.dirichlet(np.ones(n_labels))
        confusion[j] = row  # the same whatever the truth is
    last = min(n_spammers + round(adversaries * n_coders), n_coders)
    for j in order[n_spammers:last]:
        kinds[j] = KINDS[4]
        confusion[j] = np.roll(confusion[j], 1, axis=1)
    return confusion, tuple(str(kind) for kind in kinds)


def honest(n_coders: int, n_labels: int, accuracy: Accuracy, rng: np.random.Generator) -> Floats:
    """Draw confusion matrices of honest coders, [coder, truth, label]."""
    if isinstance(accuracy, Diagonal):
        if accuracy.strength == 0:
            raise NotApplicable("Drawing coders needs a Diagonal with a strength above 0.")
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
                f"{right.size} accuracies are given for {n_coders} coders: give one for each."
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


TYPICAL = Beta(8, 2)  # accuracies of .8 +- .12


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Html):
    """Simulated annotations with their truth and settings.

    Parameters
    ----------
    annotations
        The labels, with known gold if requested.
    truth
        Code of the true label of each item, shape [item]; for an ambiguous item, of the reading
        that more coders see.
    second
        Code of the other reading of ambiguous items, -1 for other items, shape [item].
    share
        Share of coders who see the first reading, 1 for items with one reading, shape [item].
    difficulty
        Reduction of the log-odds of the right label, shape [item].
    prevalence
        Shape [truth].
    confusion
        Confusion on items of difficulty 0, shape [coder, truth, label].
    kinds
        Kind of each coder, see :data:`annomodels.planning.simulate.KINDS`.
    """

    annotations: Annotations
    truth: Ints
    second: Ints
    share: Floats
    difficulty: Floats
    prevalence: Floats
    confusion: Floats
    kinds: tuple[str, ...]

    @property
    def ambiguous(self) -> NDArray[np.bool_]:
        """True for items with two readings, shape [item]."""
        return self.second >= 0

    @property
    def answers(self) -> dict[Hashable, Hashable]:
        """True label of each item, by names."""
        data = self.annotations
        return {
            name: data.labels[k] for name, k in zip(data.items, self.truth.tolist(), strict=True)
        }

    def accuracy(self, labels: Sequence[Hashable]) -> float:
        """Share of items with the right label.

        Parameters
        ----------
        labels
            One label for each item of ``annotations.items``, such as ``fit.gold().table["label"]``.

        Raises
        ------
        NotApplicable
            If the number of labels is not the number of items.
        """
        right = list(self.answers.values())
        if len(labels) != len(right):
            raise NotApplicable(f"{len(labels)} labels are given for {len(right)} items.")
        return float(np.mean([a == b for a, b in zip(labels, right, strict=True)]))

    def to_frame(self) -> pd.DataFrame:
        """Return the labels as a long table, with a column for known gold where there is some."""
        data = self.annotations
        frame = data.to_frame()
        if data.gold is not None:
            gold = [data.labels[k] if k >= 0 else "" for k in data.gold.tolist()]
            frame["gold"] = [gold[i] for i in data.item]
        return frame

    def truth_frame(self) -> pd.DataFrame:
        """Return the truth of the items: item, truth, second reading, share and difficulty."""
        labels = self.annotations.labels
        return pd.DataFrame(
            {
                "item": list(self.annotations.items),
                "truth": [labels[k] for k in self.truth.tolist()],
                "second": [labels[k] if k >= 0 else "" for k in self.second.tolist()],
                "share": self.share,
                "difficulty": self.difficulty,
            }
        )

    def __repr__(self) -> str:
        parts = [repr(self.annotations)]
        parts += [f"{self.kinds.count(kind)} {kind}" for kind in KINDS if kind in self.kinds]
        if self.ambiguous.any():
            parts.append(f"{int(self.ambiguous.sum())} ambiguous items")
        return " · ".join(parts)


def simulate(
    items: int = 200,
    coders: int = 20,
    labels: int | Sequence[Hashable] = 2,
    labels_per_item: PerItem = 5,
    *,
    prevalence: Sequence[float] | Dirichlet | None = None,
    accuracy: Accuracy = TYPICAL,
    spammers: float = 0.0,
    adversaries: float = 0.0,
    ambiguous: float = 0.0,
    difficulty: float = 0.0,
    workload: Workload = "even",
    gold: int = 0,
    seed: int = 0,
) -> Simulation:
    r"""Simulate annotations from assumptions about items and coders.

    truth[i] ~ prevalence; coder j sees reading r of item i (the truth, or for an ambiguous item
    one of its two readings, the first with probability share[i]); the label l has probability
    proportional to :math:`confusion_{jrl} \exp(-difficulty_i [l = r])`.

    Parameters
    ----------
    items, coders
        Numbers of items and coders.
    labels
        Number of labels, or their names in order.
    labels_per_item
        Number of labels per item, or its minimum and maximum.
    prevalence
        Probability of each truth, or a Dirichlet distribution to draw it from [default: equal].
    accuracy
        Accuracy of honest coders: one number, a `Beta` of the accuracies [default: mean .8], one
        number for each coder, or a `Diagonal` for coders with biases.
    spammers, adversaries
        Share of coders whose labels do not depend on the item, and share of coders who swap labels.
    ambiguous
        Share of items with two readings; coders see the first with a probability of 0.5 to 0.8.
    difficulty
        Standard deviation of the items' difficulty, on the scale of log-odds.
    workload
        "even", or "long-tailed": few coders do most of the work.
    gold
        Number of items whose truth is included in the annotations as known gold.
    seed
        The same seed gives the same data.

    Returns
    -------
    Simulation

    Raises
    ------
    NotApplicable
        If a size or share is impossible.

    Examples
    --------
    >>> made = simulate(items=100, coders=10, labels=["no", "yes"], spammers=0.2, seed=1)
    >>> made
    100 items × 10 coders × 2 labels · 500 annotations · 5 labels per item · 8 honest ·
    1 uniform spammer · 1 constant spammer
    >>> made.answers["i001"], float(made.truth.mean())
    ('yes', 0.51)
    """
    rng = np.random.default_rng(valid_seed(seed))
    if isinstance(labels, int):
        letters = tuple("abcdefghijklmnopqrstuvwxyz"[:labels])
        names: tuple[Hashable, ...] = letters if labels <= 26 else _numbered("l", labels)
    else:
        names = tuple(labels)
        if len(set(names)) < len(names):
            raise NotApplicable(f"A label is named twice: {', '.join(map(label_text, names))}.")
    n_labels = len(names)
    _check(items, coders, n_labels, ambiguous, difficulty, gold)
    pi = _prevalence(prevalence, n_labels, rng)
    confusion, kinds = draw_coders(coders, n_labels, accuracy, spammers, adversaries, rng)
    truth = rng.choice(n_labels, size=items, p=pi)
    second = np.full(items, -1)
    share = np.ones(items)
    two = rng.permutation(items)[: round(ambiguous * items)]
    second[two] = (truth[two] + rng.integers(1, n_labels, len(two))) % n_labels
    share[two] = rng.uniform(0.5, 0.8, len(two))
    delta = rng.normal(0.0, difficulty, items)
    item, coder = assign(items, coders, labels_per_item, workload, rng)
    reading = np.where(rng.random(len(item)) < share[item], truth[item], second[item])
    rows = confusion[coder, reading]  # of confusion matrices, made harder [annotation, label]
    rows[np.arange(len(rows)), reading] *= np.exp(-delta[item])
    rows /= rows.sum(axis=1, keepdims=True)
    label = (rng.random(len(item))[:, None] > rows.cumsum(axis=1)[:, :-1]).sum(axis=1)
    known = None
    if gold:
        known = np.full(items, -1)
        chosen = rng.permutation(items)[:gold]
        known[chosen] = truth[chosen]
    data = Annotations(
        item=item.astype(np.int32),
        coder=coder.astype(np.int32),
        label=label.astype(np.int32),
        items=_numbered("i", items),
        coders=_numbered("c", coders),
        labels=names,
        declared=True,
        gold=None if known is None else known.astype(np.int32),
        source="simulation",
    )
    return Simulation(data, truth, second, share, delta, pi, confusion, kinds)


def _prevalence(
    given: Sequence[float] | Dirichlet | None, n_labels: int, rng: np.random.Generator
) -> Floats:
    if given is None:
        return np.full(n_labels, 1 / n_labels)
    if isinstance(given, Dirichlet):
        return rng.dirichlet(np.maximum(given.alpha(n_labels), 1e-6))
    pi = np.array(given, dtype=np.float64)
    if pi.shape != (n_labels,) or (pi < 0).any() or abs(pi.sum() - 1) > 1e-6:
        raise NotApplicable(
            f"The prevalence is {list(given)}: give {n_labels} probabilities that sum to 1."
        )
    return pi / pi.sum()


def _check(
    items: int, coders: int, n_labels: int, ambiguous: float, difficulty: float, gold: int
) -> None:
    if items < 1 or coders < 1 or n_labels < 2:
        raise NotApplicable(
            f"A simulation needs at least 1 item, 1 coder and 2 labels, not {items}, {coders} and "
            f"{n_labels}."
        )
    if not 0 <= ambiguous <= 1:
        raise NotApplicable(f"ambiguous={ambiguous:g}: give a share between 0 and 1.")
    if not 0 <= difficulty < np.inf:
        raise NotApplicable(f"difficulty={difficulty:g}: give a standard deviation of 0 or more.")
    if not 0 <= gold <= items:
        raise NotApplicable(f"{Option('gold', gold)}: give a number of items, 0 to {items}.")


def _numbered(letter: str, n: int) -> tuple[str, ...]:
    """Return names whose sort order is their number."""
    width = len(str(n))
    return tuple(f"{letter}{number:0{width}d}" for number in range(1, n + 1))
