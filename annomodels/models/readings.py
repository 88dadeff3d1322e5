"""Readings: an item holds a first and a second reading, and its truth is one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations
from typing import ClassVar

import numpy as np

from annomodels.models.conjugate import ConjugateModel
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.layout import ExtraRow, Layout
from annomodels.models.mixture import StateModel
from annomodels.priors import Dirichlet

__all__ = ["Readings"]


@dataclass(frozen=True)
class Readings(StateModel):
    r"""Every item divides those who read it, more or less, and its truth is one of the readings.

    .. math::

        k_i \sim Cat(\pi), \quad k'_i \ne k_i \text{ uniform}, \quad u_i \sim w \text{ on } U, \quad
        truth_i \sim u_i [k_i] + (1 - u_i) [k'_i], \\
        y_n \sim (1 - g) \big( u_i Cat(\theta_{j_n, k_i}) + (1 - u_i) Cat(\theta_{j_n, k'_i}) \big)
        + g \, Cat(\gamma)

    A hundred labels of one crowd tell how that crowd reads the item, not what is true of it. Here
    the truth is what one more reader, free of slips, would say; so P(truth) comes near 1 only
    where nearly everyone reads alike, and labels of one item stop being independent evidence. A
    floor of guesses keeps any single label from settling an item.

    Parameters
    ----------
    coders
        How coders label the reading they perceive.
    shares
        Shares of the first reading; 1 stands for an item that all read alike.
    weights
        How often items have each share. Fixed: labels tell little of it, and what they tell is
        blurred by coders' errors.
    floor
        Share of the labels that are guesses, on every item.
    guess
        Prior of the distribution of guesses, the same for all coders.

    Examples
    --------
    >>> Readings().layout(2).truth[:3]
    array([[1.  , 0.  ],
           [0.  , 1.  ],
           [0.95, 0.05]])
    """

    name: ClassVar[str] = "readings"
    title: ClassVar[str] = "readings"
    citation: ClassVar[str] = "this package"

    coders: ConjugateModel = field(default_factory=HierarchicalDawidSkene)
    shares: tuple[float, ...] = (1.0, 0.95, 0.85, 0.7, 0.55)
    weights: tuple[float, ...] = (0.35, 0.2, 0.17, 0.17, 0.11)
    floor: float = 0.2
    guess: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))

    def __post_init__(self) -> None:
        fine = len(self.shares) == len(self.weights) and min(self.weights) > 0
        if not (fine and self.shares[0] == 1.0 and all(0.5 <= u < 1 for u in self.shares[1:])):
            raise ValueError(
                "Readings needs a weight above 0 for each share, and shares that begin with 1 and "
                "go on between .5 and 1."
            )
        if not 0 <= self.floor < 1:
            raise ValueError(f"The floor is {self.floor}; it needs to be in [0, 1).")

    def layout(self, n_labels: int) -> Layout:
        """Give the states of the items: the classes, then two readings by share of the first."""
        eye = np.eye(n_labels)
        weights = np.array(self.weights) / sum(self.weights)
        pairs = list(permutations(range(n_labels), 2))
        names = [str(k) for k in range(n_labels)]
        base = list(range(n_labels))
        readings = [eye[k] for k in base]
        share = [weights[0]] * n_labels
        for u, weight in zip(self.shares[1:], weights[1:], strict=True):
            for k, other in pairs:
                names.append(f"{k} at {u:g}, {other}")
                base.append(k)
                readings.append(u * eye[k] + (1.0 - u) * eye[other])
                share.append(weight / (n_labels - 1))
        mix = np.array(readings)
        floor = np.full(len(mix), self.floor)
        return Layout(
            names=tuple(names),
            mix=np.column_stack([(1.0 - self.floor) * mix, floor]),
            base=np.array(base),
            truth=mix,
            rows=(ExtraRow("common_guess", self.guess.alpha(n_labels), by_coder=False),),
            values={"second_reading": 1.0 - mix.max(axis=1)},
            weight=np.array(share),
        )

    def describe(self) -> list[str]:
        """Story and priors in sentences."""
        shares = ", ".join(
            f"{u:g} ({w:.0%})"
            for u, w in zip(self.shares, np.array(self.weights) / sum(self.weights), strict=True)
        )
        return [
            *self.coders.describe(),
            "An item has a first reading and, for some of those who read it, a second one; the "
            "truth is one of them, with the shares of the readings. Shares of the first reading: "
            f"{shares}, fixed.",
            f"{self.floor:.0%} of all labels are guesses, from one distribution for all coders.",
        ]
