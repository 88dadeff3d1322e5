"""Whether labels depend on any truth at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.summaries.skills import skill

if TYPE_CHECKING:
    from annomodels.summaries.draws import Draws

__all__ = ["NO_SIGNAL", "doubtful", "mean_skill", "no_signal"]

Floats = NDArray[np.float64]

NO_SIGNAL = 0.1  # mean skill below which nothing should be believed of the truth
DOUBT = 0.05  # probability of such a skill that is still put up with


def mean_skill(draws: Draws, data: Annotations) -> Floats:
    r"""Mean skill of the coders, each weighed by their labels, on every draw; shape [draw].

    .. math:: \sum_j w_j \kappa_j, \quad w_j = N_j / N

    The skill :math:`\kappa_j` of a coder is their accuracy against the truth beyond chance: 0 is
    chance, 1 perfect.

    Parameters
    ----------
    draws
        Prevalence and confusion matrices.
    data
        What was fitted.

    Examples
    --------
    >>> from annomodels.summaries.draws import thinned
    >>> from annomodels.summaries.examples import small_fit
    >>> tree, data = small_fit()
    >>> bool(np.median(mean_skill(thinned(tree, data), data)) > 0.3)
    True
    """
    weight = data.per_coder / data.per_coder.sum()
    return np.asarray(skill(draws.prevalence, draws.confusion) @ weight)


def doubtful(values: Floats) -> bool:
    """Whether the mean skill may well be too small for any label to be believed.

    Where nearly all labels are one label, a model explains them by a prevalence near 1 and is sure
    of every item; that the coders may know nothing shows in the spread of their skill.

    Examples
    --------
    >>> doubtful(np.linspace(0.05, 0.95, 100)), doubtful(np.linspace(0.09, 0.95, 100))
    (True, False)
    """
    return bool((values < NO_SIGNAL).mean() > DOUBT)


def no_signal(values: Floats) -> str:
    """Say that labels with such a mean skill tell nothing, or may tell nothing.

    Examples
    --------
    >>> no_signal(np.full(9, 0.04))[:45]
    'The labels hardly depend on any truth: the me'
    >>> no_signal(np.linspace(0.0, 1.0, 9))[:42]
    'The labels may hardly depend on any truth:'
    """
    value = float(np.median(values))
    scale = "where 0 is chance and 1 perfect"
    if value < NO_SIGNAL:
        return (
            f"The labels hardly depend on any truth: the mean skill of the coders is {value:.2f}, "
            f"{scale}. Do not take these labels for gold."
        )
    return (
        f"The labels may hardly depend on any truth: the mean skill of the coders is {value:.2f}, "
        f"{scale}, and below {NO_SIGNAL:g} with probability {(values < NO_SIGNAL).mean():.2f}. "
        "More labels per item, or other coders, would tell."
    )
