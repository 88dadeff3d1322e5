"""Agreement read as an error rate: items are easy or hard, and hard ones are guessed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from annomodels.coefficients.intervals import interval
from annomodels.coefficients.result import Agreement
from annomodels.coefficients.tables import over
from annomodels.data.columns import percent
from annomodels.data.html import Html
from annomodels.errors import NotApplicable
from annomodels.types import Floats


@dataclass(frozen=True, repr=False)
class EasyHard(Html):
    """Share of hard items, and its consequences for the labels.

    Parameters
    ----------
    hard
        Share of the items that are hard, NaN where coders agree less than by chance.
    guessed
        Share of hard items among those on which two coders agree: what looks settled and is not.
    wrong
        Share of one coder's labels that are wrong, if a guess on a hard item is right as often as
        two guesses agree.
    draws
        Draws of the three, shape [draw] each; above 1 where a draw has less agreement than by
        chance. Empty without draws.
    """

    hard: float
    guessed: float
    wrong: float
    draws: dict[str, Floats] = field(default_factory=dict)

    def interval(self, name: str = "hard", prob: float = 0.95) -> tuple[float, float]:
        """Equal-tailed posterior interval that contains the value; (NaN, NaN) without draws.

        Parameters
        ----------
        name
            "hard", "guessed" or "wrong".
        prob
            Probability inside, between 0 and 1.
        """
        low, high = interval(self.draws.get(name, np.empty(0)), prob, getattr(self, name))
        return float(low), float(high)

    @property
    def sentence(self) -> str:
        """The reading as text."""
        if math.isnan(self.hard):
            return (
                "Easy and hard items cannot explain this: agreement is not defined, or "
                "lower than guesses would give."
            )
        low, high = self.interval()
        span = "" if math.isnan(low) else f" ({percent(low, 0)} to {percent(min(high, 1.0), 0)})"
        return (
            "If coders agree on every easy item and guess on hard ones, "
            f"{percent(self.hard, 0)}{span} of the items are hard; {percent(self.guessed, 0)} of "
            f"the items on which two coders agree were guessed; about {percent(self.wrong, 0)} of "
            "one coder's labels are wrong."
        )

    def __repr__(self) -> str:
        return self.sentence


def easy_hard(agreement: Agreement | float, expected: float | None = None) -> EasyHard:
    r"""Turn observed and expected agreement into a share of hard items and an error rate.

    With :math:`h = (1 - A_o) / (1 - A_e)`, two coders agree on a hard item with probability
    :math:`A_e`; of the items on which they agree, :math:`h A_e / A_o` were guessed; and
    :math:`h (1 - A_e)` of one coder's labels are wrong.

    Parameters
    ----------
    agreement
        A coefficient from :func:`annomodels.agreement`, or the observed agreement as a number.
        What hard items are guessed with is the chance of that coefficient: all labels alike (S), or
        the shares of the labels (pi, K, alpha).
    expected
        The expected agreement, where `agreement` is a number.

    Returns
    -------
    The point values, their draws where the coefficient has some, and a sentence.

    Raises
    ------
    NotApplicable
        When the coefficient has no expected agreement, or was computed with a distance.

    References
    ----------
    Artstein & Poesio 2008, doi:10.1162/coli.07-034-R2.

    Examples
    --------
    Observed agreement .88 on two equally frequent labels:

    >>> print(easy_hard(0.88, 0.5).sentence)
    If coders agree on every easy item and guess on hard ones, 24 % of the items are hard; 14 % of
    the items on which two coders agree were guessed; about 12 % of one coder's labels are wrong.
    """
    if isinstance(agreement, Agreement):
        if expected is not None:
            raise NotApplicable("expected= goes with a number; a coefficient has its own.")
        if agreement.kind != "agreement" or math.isnan(agreement.expected):
            raise NotApplicable(
                f"{agreement.title} has no expected agreement of labels. "
                "Take s, pi, kappa, k, multi_kappa, alpha or ac1, without a distance."
            )
        found = _shares(np.array(1 - agreement.observed), np.array(1 - agreement.expected))
        drawn: dict[str, Floats] = {}
        if agreement.draws is not None:
            parts = agreement.parts()
            drawn = _shares(parts.observed, parts.expected)
    else:
        for name, share in (("agreement", agreement), ("expected", expected)):
            if not isinstance(share, (int, float)) or not 0 <= share <= 1:
                raise NotApplicable(f"{name}={share!r} should be a share between 0 and 1.")
        found = _shares(np.array(1.0 - agreement), np.array(1.0 - (expected or 0.0)))
        drawn = {}
    point = {name: float(value) for name, value in found.items()}
    if not point["hard"] <= 1 + 1e-12:
        point = dict.fromkeys(point, math.nan)
    return EasyHard(**point, draws=drawn)


def _shares(d_o: Floats, d_e: Floats) -> dict[str, Floats]:
    """Shares from observed and expected disagreement."""
    hard = over(d_o, d_e)
    guessed = over(hard * (1 - d_e), 1 - np.asarray(d_o))
    return {"hard": hard, "guessed": guessed, "wrong": hard * d_e}
