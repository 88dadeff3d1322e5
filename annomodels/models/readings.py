"""Readings: an item holds a first and a second reading, and its truth is one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from annomodels.models.conjugate import ConjugateModel
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.layout import ExtraRow, Layout, Truths
from annomodels.models.mixture import StateModel
from annomodels.priors import Diagonal, Dirichlet

__all__ = ["Readings"]


@dataclass(frozen=True)
class Readings(StateModel):
    r"""Every item divides those who read it, more or less, and its truth is one of the readings.

    .. math::

        k_i \sim Cat(\pi), \quad u_i \sim w \text{ on } U, \quad
        \phi_i = u_i [k_i] + (1 - u_i) \psi_i, \quad truth_i \sim Cat(B^T \phi_i), \\
        z_n \sim Cat(\phi_{i_n}), \quad
        y_n \sim (1 - g) Cat(\theta_{j_n, z_n}) + g \, Cat(\gamma)

    The rest :math:`\psi_i` of the readings is a single other class, or, with probability
    `spread`, all other classes evenly.

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
    spread
        Share of the items (of more than two classes) whose other readings are all other classes
        evenly, rather than one of them.
    floor
        Share of the labels that are guesses, on every item.
    guess
        Prior of the distribution of guesses, the same for all coders.
    error
        Prior of the truth given the reading it is drawn as: a whole crowd may misread a class.
        Only items of known truth can teach it.

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
    spread: float = 0.5
    floor: float = 0.2
    guess: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    error: Diagonal = field(default_factory=lambda: Diagonal(5.0, 0.97))

    def __post_init__(self) -> None:
        fine = len(self.shares) == len(self.weights) and min(self.weights) > 0
        if not (fine and self.shares[0] == 1.0 and all(0.5 <= u < 1 for u in self.shares[1:])):
            raise ValueError(
                "Readings needs a weight above 0 for each share, and shares that begin with 1 and "
                "go on between .5 and 1."
            )
        if not (0 <= self.floor < 1 and 0 <= self.spread <= 1):
            raise ValueError("Readings needs a floor in [0, 1) and a spread in [0, 1].")

    def layout(self, n_labels: int) -> Layout:
        """Give the states of the items: the classes, then two readings by share of the first."""
        eye = np.eye(n_labels)
        weights = np.array(self.weights) / sum(self.weights)
        spread = self.spread if n_labels > 2 else 0.0
        names = [str(k) for k in range(n_labels)]
        base = list(range(n_labels))
        readings = list(eye)
        share = [weights[0]] * n_labels
        for u, weight in zip(self.shares[1:], weights[1:], strict=True):
            for k in range(n_labels):
                rests = [(str(m), eye[m], (1.0 - spread) / (n_labels - 1)) for m in base if m != k]
                if spread:
                    rests.append(("any", (1.0 - eye[k]) / (n_labels - 1), spread))
                for name, rest, part in rests:
                    if part > 0:
                        names.append(f"{k} at {u:g}, {name}")
                        readings.append(u * eye[k] + (1.0 - u) * rest)
                        share.append(weight * part)
        first = np.array([int(name.split(" ")[0]) for name in names])
        mix = np.array(readings)
        floor = np.full(len(mix), self.floor)
        return Layout(
            names=tuple(names),
            mix=np.column_stack([(1.0 - self.floor) * mix, floor]),
            base=first,
            truth=mix,
            rows=(ExtraRow("common_guess", self.guess.alpha(n_labels), by_coder=False),),
            truths=Truths("consensus", self.error.alpha(n_labels)),
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
            f"All readers alike misread {1 - self.error.accuracy:.0%} of the items of a class (a "
            f"prior worth {self.error.strength:g} items, which only known gold can teach better).",
        ]
