"""Kinds of coders: rules that turn posterior draws into one word and one direction of bias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.summaries.skills import entropy_bits

if TYPE_CHECKING:
    from annomodels.summaries.worth import CoderDraws

__all__ = ["KINDS", "Portrait", "kinds", "over_use", "spammers"]

Floats = NDArray[np.float64]

KINDS = ("good", "biased", "spammer", "adversary", "not enough evidence")
USELESS = 0.2  # skill below which labels hardly depend on the truth
USEFUL = 0.5  # skill from which a coder is fine
FEWEST = 5  # labels below which nothing is said
OVER_USE = 0.05  # share of labels, or as much again as the prevalence
SURE = 0.95
TELLS = 0.12  # share of the entropy of the truth from which labels tell something


@dataclass(frozen=True, eq=False)
class Portrait:
    """What the word for a coder is chosen from, each of shape [coder]."""

    n: NDArray[np.int64]
    skill_low: Floats
    skill_high: Floats
    p_spammer: Floats
    p_adversary: Floats
    bias: list[str]


def spammers(draws: CoderDraws) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell whether a coder is a spammer, or an adversary, on each draw, shapes [sample, coder].

    Examples
    --------
    >>> from annomodels.summaries.examples import small_fit
    >>> from annomodels.summaries.worth import coder_draws
    >>> spammer, adversary = spammers(coder_draws(*small_fit()))
    >>> int(spammer.sum()), int(adversary.sum())
    (0, 0)
    """
    entropy = entropy_bits(draws.prevalence)[:, None]
    # a coder who is wrong more often than chance and still tells something has labels swapped
    swaps = (draws.skill < 0) & (draws.bits >= TELLS * entropy)
    spammer = (np.abs(draws.skill) < USELESS) & (draws.bits < entropy / 2) & ~swaps
    return spammer, (draws.skill < 0) & ~spammer


def over_use(excess: Floats, prevalence: Floats, labels: list[str]) -> list[str]:
    """Name the label that each coder says too often; empty when none is sure.

    Parameters
    ----------
    excess
        How often the coder says a label, less its prevalence, shape [sample, coder, label].
    prevalence
        Shape [sample, label].
    labels
        Names.

    Examples
    --------
    >>> over_use(np.array([[[-0.2, 0.2], [0.01, -0.01]]]), np.array([[0.5, 0.5]]), ["no", "yes"])
    ['says yes too often', '']
    """
    limit = np.minimum(OVER_USE, prevalence)[:, None]
    sure = (excess > limit).mean(axis=0) > SURE
    size = np.where(sure, excess.mean(axis=0), -np.inf)
    most = size.argmax(axis=1)
    found = sure.any(axis=1).tolist()
    return [f"says {labels[k]} too often" if f else "" for k, f in zip(most, found, strict=True)]


def kinds(portrait: Portrait) -> list[str]:
    """Choose one word for each coder, by the first rule that holds.

    Examples
    --------
    >>> low, high = np.array([-0.1, 0.1, 0.7]), np.array([0.1, 0.8, 0.9])
    >>> n, spammer, adversary = np.array([99, 6, 99]), np.array([0.97, 0.2, 0]), np.zeros(3)
    >>> kinds(Portrait(n, low, high, spammer, adversary, ["", "", "says a too often"]))
    ['spammer', 'not enough evidence', 'biased']
    """
    wide = (portrait.skill_low < USELESS) & (portrait.skill_high > USEFUL)
    rules = [
        (portrait.p_adversary > 0.5) & (portrait.n >= FEWEST),
        wide | (portrait.n < FEWEST),
        portrait.p_spammer > 0.5,
        np.array([text != "" for text in portrait.bias], dtype=bool),
    ]
    words = ["adversary", "not enough evidence", "spammer", "biased"]
    return [str(word) for word in np.select(rules, words, default="good")]
