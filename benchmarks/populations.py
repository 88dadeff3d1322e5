"""Populations whose agreement is known exactly, for the study of coverage."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.coefficients.distances import Distance, Nominal, OrdinalDistance
from annomodels.coefficients.implied import evaluate, pair_joint
from annomodels.coefficients.rows import ItemRows, Request
from annomodels.coefficients.tables import from_joint

NAMES = ("alpha", "k", "multi_kappa", "light_kappa")
ENOUGH_ITEMS, ENOUGH_LABELS = 50, 10


@dataclass(frozen=True)
class Cell:
    """A population and a size of the sample.

    Parameters
    ----------
    name
        What to print.
    prevalence
        Shares of the kinds of items, shape [kind].
    confusion
        Label distributions of the coders for each kind of item, shape [coder, kind, label].
    items
        Number of items.
    missing
        Probability that a label is missing.
    distance
        Distance between labels for alpha; the other coefficients take the nominal distance.
    document
        Number of items of the same kind in a document; documents are drawn where it exceeds 1.
    """

    name: str
    prevalence: np.ndarray
    confusion: np.ndarray
    items: int
    missing: float = 0.0
    distance: Distance = Nominal()  # noqa: RUF009 - immutable
    document: int = 1

    @property
    def rarest(self) -> float:
        """Expected number of pairable labels of the rarest kind."""
        n = self.confusion.shape[0]
        alone = self.missing ** (n - 1)  # no other coder labeled the item
        share = (self.prevalence @ self.confusion.mean(0)).min()
        return float(share * self.items * n * (1 - self.missing) * (1 - alone))

    @property
    def required(self) -> bool:
        """Whether the intervals must hold what they promise."""
        return self.items >= ENOUGH_ITEMS and self.rarest >= ENOUGH_LABELS

    @property
    def requests(self) -> list[Request]:
        """The coefficients of the study."""
        entries = [COEFFICIENTS[name] for name in NAMES]
        return [
            Request(e, self.distance if e.name == "alpha" else Nominal(), e.missing[0])
            for e in entries
        ]

    def truth(self) -> list[float]:
        """Give population values: pairs of coders count alike, as labels are missing at random."""
        pairs = itertools.combinations(self.confusion, 2)
        joints = [pair_joint(self.prevalence, a, b) for a, b in pairs]
        both = from_joint([*joints, *(np.swapaxes(joint, -1, -2) for joint in joints)])
        alpha = float(evaluate("alpha", both, self.distance).value)
        k, multi = (float(evaluate(name, both).value) for name in ("k", "multi_kappa"))
        light = float(np.mean([evaluate("kappa", from_joint(joint)).value for joint in joints]))
        return [alpha, k, multi, light]

    def sample(self, rng: np.random.Generator) -> ItemRows:
        """Labels of a sample of items."""
        coders, _, labels = self.confusion.shape
        groups = self.items // self.document
        kind = np.repeat(rng.choice(len(self.prevalence), groups, p=self.prevalence), self.document)
        upto = self.confusion.cumsum(-1)[np.arange(coders)[None], kind[:, None]]
        label = (rng.random((self.items, coders, 1)) > upto[..., :-1]).sum(-1)
        item, coder = np.nonzero(rng.random((self.items, coders)) >= self.missing)
        seen, code = np.unique(item, return_inverse=True)
        unit = None
        if self.document > 1:
            unit = np.unique(seen // self.document, return_inverse=True)[1]
        return ItemRows(
            code, coder, label[item, coder], len(seen), coders, labels, np.ones(len(seen)), unit
        )


def spread(labels: int, accuracy: float) -> np.ndarray:
    """Confusion matrix with the same accuracy for all labels and errors that spread evenly."""
    table = np.full((labels, labels), (1 - accuracy) / (labels - 1))
    np.fill_diagonal(table, accuracy)
    return table


def skewed(labels: int, first: float) -> np.ndarray:
    return np.r_[first, np.full(labels - 1, (1 - first) / (labels - 1))]


def dawid_skene(
    first: float, accuracy: float | Sequence[float], coders: int, items: int, missing=0.0, labels=2
) -> Cell:
    each = np.broadcast_to(accuracy, (coders,))
    table = np.stack([spread(labels, a) for a in each])
    shown = f"{each[0]:g}" if np.ptp(each) == 0 else f"{each.min():g} to {each.max():g}"
    name = f"K = {labels}, first label {first:.0%}, accuracy {shown}, {coders} coders"
    return Cell(name, skewed(labels, first), table, items, missing)


def same_margins(
    first: float, value: float, coders: int, items: int, missing=0.0, labels=2
) -> Cell:
    """Coders see the label of the item with a probability, and else say one by its frequency."""
    p, sure = skewed(labels, first), np.sqrt(value)
    table = np.stack([sure * np.eye(labels) + (1 - sure) * p] * coders)
    name = f"K = {labels}, margins {first:.0%}, coefficient {value:g}, {coders} coders"
    return Cell(name, p, table, items, missing)


def two_kinds(first: float, coders: int, items: int) -> Cell:
    """Three items in ten are hard: all coders have the accuracy .6 there, else .95."""
    p = np.outer([0.7, 0.3], skewed(2, first)).ravel()
    table = np.concatenate([spread(2, 0.95), spread(2, 0.6)])
    name = f"ambiguous items, first label {first:.0%}, {coders} coders"
    return Cell(name, p, np.stack([table] * coders), items)


def ordinal(coders: int, items: int) -> Cell:
    """Five ordered labels, errors to the neighbors."""
    table = np.exp(-2.0 * np.abs(np.subtract.outer(np.arange(5), np.arange(5))))
    table /= table.sum(1, keepdims=True)
    cell = Cell(
        f"five ordered labels (alpha ordinal), {coders} coders",
        np.array([0.35, 0.3, 0.2, 0.1, 0.05]),
        np.stack([table] * coders),
        items,
    )
    return replace(cell, distance=OrdinalDistance())


def main_cells() -> list[Cell]:
    return [
        dawid_skene(first, 0.9, coders, items, missing)
        for coders, first, missing, items in itertools.product(
            (2, 3, 8), (0.5, 0.9, 0.95), (0.0, 0.3), (20, 50, 200)
        )
    ]


def further_cells() -> list[Cell]:
    cells = [
        same_margins(first, value, coders, 50)
        for coders, first, value in itertools.product((2, 3, 8), (0.5, 0.9, 0.95), (0.4, 0.8))
    ]
    cells += [
        dawid_skene(first, a, coders, 50)
        for coders, first, a in itertools.product((2, 3, 8), (0.5, 0.9), (0.7, 0.8, 0.97))
    ]
    cells += [
        dawid_skene(first, 0.85, coders, items, missing, labels)
        for labels, first, items in ((3, 1 / 3, 50), (3, 0.8, 100), (5, 0.2, 50), (5, 0.6, 100))
        for coders, missing in ((2, 0.0), (4, 0.3))
    ]
    cells += [
        dawid_skene(first, (0.95, 0.9, 0.8, 0.65), 4, 60, missing)
        for first, missing in ((0.5, 0.0), (0.9, 0.3))
    ]
    cells += [two_kinds(first, coders, 60) for coders in (3, 8) for first in (0.5, 0.9)]
    cells += [ordinal(coders, 60) for coders in (2, 4)]
    for first in (0.5, 0.9):
        cell = dawid_skene(first, 0.85, 3, 240)
        cells.append(replace(cell, name=f"60 documents of 4 like items: {cell.name}", document=4))
    return cells


def training_cells() -> list[Cell]:
    cells = [
        dawid_skene(first, a, coders, items, missing)
        for coders, first, a in itertools.product((2, 3, 8), (0.5, 0.8, 0.95), (0.75, 0.95))
        for items, missing in ((50, 0.0), (100, 0.3))
    ]
    cells += [
        same_margins(first, value, coders, 50)
        for coders, first, value in itertools.product((3, 8), (0.7, 0.9), (0.5, 0.7))
    ]
    cells += [
        dawid_skene(first, 0.85, coders, 60, 0.0, labels)
        for labels, first in ((3, 0.6), (5, 0.2), (8, 1 / 8))
        for coders in (2, 5)
    ]
    cells += [ordinal(3, 50)]
    return [cell for cell in cells if cell.required]
