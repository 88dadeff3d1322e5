"""Item guess level: all coders guess more often on some items than on others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from annomodels.models.mixtures.layout import ExtraRow, Factor, Layout
from annomodels.models.mixtures.state_model import StateModel
from annomodels.priors import Dirichlet, Proper


@dataclass(frozen=True)
class GuessLevel(StateModel):
    r"""Each item has a proportion of guessed labels.

    .. math::

        c_i \sim Cat(\pi), \quad g_i \sim Cat(w), \quad
        y_n \sim (1 - \lambda_{g_i}) Cat(\theta_{j_n, c_i}) + \lambda_{g_i} Cat(\gamma)

    Labels of one item are dependent through its guess level, so ten labels of a hard item are not
    ten independent pieces of evidence. The lowest level is above zero, so no label is certain
    evidence.

    Parameters
    ----------
    coders
        Model of the labels that are not guesses.
    levels
        Possible proportions of guessed labels.
    weights
        Prior of the proportion of items with each level.
    guess
        Prior of the distribution of guesses, the same for all coders.

    Examples
    --------
    >>> GuessLevel().layout(2).mix.shape
    (10, 3)
    """

    name: ClassVar[str] = "guess-level"
    title: ClassVar[str] = "item guess level"
    citation: ClassVar[str] = "this package"
    family: ClassVar[str] = "hardness"

    levels: tuple[float, ...] = (0.3, 0.6, 0.8, 0.9, 0.95)
    weights: Proper = field(default_factory=lambda: Dirichlet(1.0))
    guess: Proper = field(default_factory=lambda: Dirichlet(1.0))

    def layout(self, n_labels: int) -> Layout:
        n = len(self.levels)
        base = np.repeat(np.arange(n_labels), n)
        choice = np.tile(np.arange(n), n_labels)
        level = np.array(self.levels)[choice]
        eye = np.eye(n_labels)[base]
        names = tuple(f"{share:g}" for share in self.levels)
        about = f"Items by level: {self.weights.in_words.removesuffix(' per class')} each."
        guesses = f"Guesses: {self.guess.in_words}."
        guess = ExtraRow("common_guess", self.guess.alpha(n_labels), by_coder=False, about=guesses)
        return Layout(
            names=tuple(f"{k}/{names[c]}" for k, c in zip(base, choice, strict=True)),
            mix=np.column_stack([(1.0 - level)[:, None] * eye, level]),
            base=base,
            truth=eye,
            factors=(Factor("level_share", self.weights.alpha(n), choice, names, about=about),),
            rows=(guess,),
            values={"guess_level": level},
        )

    def story(self) -> list[str]:
        levels = ", ".join(f"{share:g}" for share in self.levels)
        return [
            f"Every item has a share of labels that are guesses ({levels}); guesses follow one "
            "distribution for all coders.",
        ]
