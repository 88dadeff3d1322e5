"""Easy and hard items: all coders label easy items correctly, hard items as in Dawid-Skene."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from annomodels.models.mixtures.layout import Factor, Layout
from annomodels.models.mixtures.state_model import StateModel
from annomodels.priors import Beta


@dataclass(frozen=True)
class EasyHardItems(StateModel):
    r"""Some items are easy: all coders label them correctly.

    .. math::

        c_i \sim Cat(\pi), \quad e_i \sim Bernoulli(\epsilon), \quad
        y_n = c_{i_n} \text{ if } e_{i_n} = 1, \text{ else } y_n \sim Cat(\theta_{j_n, c_{i_n}})

    Coder accuracies refer to hard items, so they are lower than in Dawid-Skene, and easy items do
    not contribute to the agreement that they explain.

    Parameters
    ----------
    coders
        Model of the labels of hard items.
    easy
        Prior of the proportion of easy items.

    References
    ----------
    R. Artstein and M. Poesio (2008), section 4.1, doi:10.1162/coli.07-034-R2; B. Carpenter (2008).
    Multilevel Bayesian models of categorical data annotation. Technical report, Alias-i.

    Examples
    --------
    >>> EasyHardItems().layout(2).names
    ('0, easy', '1, easy', '0, hard', '1, hard')
    """

    name: ClassVar[str] = "easy-hard"
    title: ClassVar[str] = "easy and hard items"
    citation: ClassVar[str] = "Carpenter (2008)"
    family: ClassVar[str] = "hardness"

    easy: Beta = field(default_factory=lambda: Beta(1.0, 1.0))

    def layout(self, n_labels: int) -> Layout:
        eye, none = np.eye(n_labels), np.zeros((n_labels, n_labels))
        classes = range(n_labels)
        choice = np.repeat([0, 1], n_labels)
        names, about = ("easy", "hard"), f"Share of easy items: {self.easy.in_words}."
        return Layout(
            names=tuple(f"{k}, {name}" for name in names for k in classes),
            mix=np.block([[none, eye], [eye, none]]),
            base=np.tile(classes, 2),
            truth=np.vstack([eye, eye]),
            factors=(Factor("easy_share", self.easy.counts, choice, names, about=about),),
            values={"easy": 1.0 - choice},
        )

    def story(self) -> list[str]:
        return [
            "Some items are easy: all coders label them correctly. The confusion matrices apply to "
            "the other items.",
        ]
