"""Readings: readers of an item disagree, and its truth is one of the readings."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.mixtures.layout import ExtraRow, Judgement, Layout
from annomodels.models.mixtures.state_model import StateModel
from annomodels.priors import Dirichlet, Proper
from annomodels.types import Floats

# boundaries between cells, as proportions of the first reading
EDGES = (0.55, 0.7, 0.85, 0.95, 0.99)
# proportion of the second reading in the remainder from which it is treated as the only other one
SINGLE = 0.65
# maximum number of classes with a separate state for each second reading
MOST_PAIRED = 12
DRAWS = 100_000
# labels per item from which the concentrations are not reduced
FULL = 10


@dataclass(frozen=True)
class Readings(StateModel):
    r"""Each item has a distribution of readings, and its truth is one of the readings.

    .. math::

        \phi_i \sim \tfrac{1}{2} Dir(a_1 / K) + \tfrac{1}{2} Dir(a_2 / K) \text{ on a grid},
        \quad z_n \sim Cat(\phi_{i_n}), \\
        y_n \sim (1 - g) Cat(\theta_{j_n, z_n}) + g \, Cat(\gamma), \quad
        P(truth_i = k) = \sum_b w_b \phi_{ik}^b \Big/ \sum_m \phi_{im}^b

    A hundred labels of one crowd show the crowd's readings of an item, not its truth. In this
    model, the truth follows the distribution of readings, with more confidence (:math:`b > 1`) or
    less. So P(truth) is close to 1 only if nearly all readers agree, and labels of one item are not
    independent evidence. A minimum proportion of guesses prevents a single label from determining
    the class of an item. Items with known truth update the weights w.

    The grid has six cells for the proportion of the first reading, and the other readings are one
    class or several; each cell is represented by its mean under the Dirichlet distributions.

    Parameters
    ----------
    coders
        Model of the labels given the perceived reading. By default, the prior keeps the prevalence
        of first readings uniform unless there are thousands of items: with few labels per item, a
        free prevalence drifts together with the coders' rows.
    concentrations
        The totals :math:`a` of the Dirichlet distributions; small totals mean that readers agree.
        Fixed, as labels have little information about them, which coder errors reduce further.
    labels_per_item
        Median number of labels per item; below ten, the concentrations are reduced in proportion.
        None computes it from the data.
    floor
        Proportion of guessed labels on every item.
    guess
        Prior of the distribution of guesses, the same for all coders.
    sharpness
        Possible powers :math:`b` of the readings in the distribution of the truth; 0 is uniform.
    pseudo_items
        Prior of the weights w, in pseudo-items with known truth.

    Examples
    --------
    >>> Readings().layout(2).truth[-2:].round(2)
    array([[0.99, 0.01],
           [0.01, 0.99]])
    """

    name: ClassVar[str] = "readings"
    title: ClassVar[str] = "readings"
    citation: ClassVar[str] = "this package"

    coders: ConjugateModel = field(
        default_factory=lambda: HierarchicalDawidSkene(prevalence=Dirichlet(1000.0))
    )
    concentrations: tuple[float, ...] = (0.3, 2.0)
    labels_per_item: float | None = None
    floor: float = 0.2
    guess: Proper = field(default_factory=lambda: Dirichlet(1.0))
    sharpness: tuple[float, ...] = (0.0, 0.3, 1.0, 3.0)
    pseudo_items: tuple[float, ...] = (0.02, 0.1, 2.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.concentrations or min(self.concentrations) <= 0:
            raise ValueError("Readings needs one or more concentrations above 0.")
        if not 0 <= self.floor < 1:
            raise ValueError("Readings needs a floor in [0, 1).")
        same = len(self.sharpness) == len(self.pseudo_items) > 0
        if not (same and min(self.sharpness) >= 0 and min(self.pseudo_items) > 0):
            raise ValueError(
                "Readings needs a number of pseudo-items above 0 for each sharpness, none of which "
                "is below 0."
            )

    def with_data(self, data: Annotations) -> Self:
        known = super().with_data(data)
        if known.labels_per_item is not None:
            return known
        return replace(known, labels_per_item=float(np.median(np.diff(data.starts))))

    def layout(self, n_labels: int) -> Layout:
        few = min(1.0, (FULL if self.labels_per_item is None else self.labels_per_item) / FULL)
        totals = tuple(total * few for total in self.concentrations)
        names, readings, first, weight = [], [], [], []
        for cell in _cells(n_labels, totals):
            for k in range(n_labels):
                others = [m for m in range(n_labels) if m != k]
                for m in others if cell.second else [-1]:
                    names.append(f"{k} at {cell.first:.2f}" + (f", {m}" if m >= 0 else ""))
                    readings.append(cell.readings(n_labels, k, m))
                    first.append(k)
                    weight.append(cell.weight / (len(others) if m >= 0 else 1))
        shares = np.array(readings)
        raised = np.stack([shares**power for power in self.sharpness])
        tables = raised / raised.sum(axis=2, keepdims=True)
        alpha = np.array(self.pseudo_items)
        floor = np.full(len(shares), self.floor)
        prior = zip(self.pseudo_items, self.sharpness, strict=True)
        powers = ", ".join(f"{power:g} ({count:g})" for count, power in prior)
        about = (
            f"The truth follows the readings to the power of {powers}; in brackets the prior's "
            "pseudo-items. Only known labels can update it."
        )
        guesses = f"Guesses: {self.guess.in_words}."
        guess = ExtraRow("common_guess", self.guess.alpha(n_labels), by_coder=False, about=guesses)
        return Layout(
            names=tuple(names),
            mix=np.column_stack([(1.0 - self.floor) * shares, floor]),
            base=np.array(first),
            truth=np.tensordot(alpha / alpha.sum(), tables, axes=1),
            rows=(guess,),
            judgement=Judgement(
                "sharpness",
                alpha,
                tables,
                tuple(f"{power:g}" for power in self.sharpness),
                about=about,
            ),
            values={"second_reading": 1.0 - shares.max(axis=1)},
            weight=np.array(weight),
        )

    def story(self) -> list[str]:
        totals = " or ".join(f"{total:g}" for total in self.concentrations)
        return [
            "Shares of readers per class of an item follow a Dirichlet with a fixed total of "
            f"{totals} (less if items have fewer than {FULL} labels); the truth is one of their "
            "readings.",
            f"{100 * self.floor:.0f} % of all labels are guesses, from one distribution for all "
            "coders.",
        ]


@dataclass(frozen=True)
class _Cell:
    """Cell of the grid: its probability, and mean proportions of first and second reading."""

    weight: float
    first: float
    second: float = 0.0

    def readings(self, n_labels: int, k: int, m: int) -> Floats:
        """Return the proportions of the classes, with k first and m second (-1 for none)."""
        others = n_labels - (1 if m < 0 else 2)
        out = np.full(n_labels, (1.0 - self.first - self.second) / max(1, others))
        out[k] = self.first
        if m >= 0:
            out[m] = self.second
        return np.asarray(out / out.sum())


@lru_cache(maxsize=32)
def _cells(n_labels: int, totals: tuple[float, ...]) -> tuple[_Cell, ...]:
    """Return the cells of the grid, from reproducible draws of the Dirichlet distributions."""
    rng = np.random.default_rng(n_labels)
    each = DRAWS // len(totals)
    drawn = [rng.dirichlet(np.full(n_labels, max(a / n_labels, 1e-3)), each) for a in totals]
    ordered = np.sort(np.concatenate(drawn), axis=1)[:, ::-1]
    top, second = ordered[:, 0], ordered[:, 1]
    place = np.digitize(top, EDGES)
    single = second >= SINGLE * (1.0 - top)
    out: list[_Cell] = []
    for c in range(len(EDGES) + 1):
        kinds = [place == c]
        if 2 < n_labels <= MOST_PAIRED and c < len(EDGES):
            kinds = [kinds[0] & ~single, kinds[0] & single]
        for paired, chosen in enumerate(kinds):
            if chosen.any():
                mean = float(second[chosen].mean()) if paired else 0.0
                out.append(_Cell(float(chosen.mean()), float(top[chosen].mean()), mean))
    return tuple(out)
