"""Agreement read as an error rate: items are easy or hard, and hard ones are guessed."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from annomodels.coefficients.intervals import interval
from annomodels.coefficients.reasons import say
from annomodels.coefficients.result import Agreement
from annomodels.coefficients.tables import over
from annomodels.data.columns import columns
from annomodels.data.summary import Summary
from annomodels.errors import NotApplicable
from annomodels.types import Floats

TITLE = "Easy and hard items"
QUANTITIES = ("hard", "guessed", "wrong")


def easy_hard(agreement: Agreement | float, expected: float | None = None) -> Summary:
    r"""Convert observed and expected agreement to a proportion of hard items and an error rate.

    With :math:`h = (1 - A_o) / (1 - A_e)`, two coders agree on a hard item with probability
    :math:`A_e`; of the items on which they agree, :math:`h A_e / A_o` were guessed; and
    :math:`h (1 - A_e)` of one coder's labels are wrong.

    Parameters
    ----------
    agreement
        A coefficient from :func:`annomodels.agreement`, or the observed agreement as a number.
        Guesses on hard items follow that coefficient's chance model: equal labels (S), or
        the label proportions (pi, K, alpha).
    expected
        The expected agreement, if `agreement` is a number.

    Returns
    -------
    A summary with a row for each `quantity`, with its `value` and the ends of its interval, `low`
    and `high`: the share of "hard" items, NaN if coders agree less than by chance; the share
    "guessed" among the items on which two coders agree; and the share "wrong" of one coder's
    labels, if a guess is right as often as two guesses agree. The note says it as text. Draws
    above 1 have less agreement than by chance.

    Raises
    ------
    NotApplicable
        If the coefficient has no expected agreement, or was computed with a distance.

    References
    ----------
    Artstein & Poesio 2008, doi:10.1162/coli.07-034-R2.

    Examples
    --------
    Observed agreement .88 on two equally frequent labels:

    >>> print(easy_hard(0.88, 0.5).notes[0])
    If coders agree on every easy item and guess on hard ones, 24 % of the items are hard; 14 % of
    the items on which two coders agree were guessed; about 12 % of one coder's labels are wrong.
    """
    import xarray as xr

    drawn = np.empty((3, 0))
    if isinstance(agreement, Agreement):
        if expected is not None:
            raise NotApplicable("expected= is for a number; a coefficient already has one.")
        if agreement.kind != "agreement" or math.isnan(agreement.expected):
            raise NotApplicable(
                f"{agreement.title} has no expected agreement of labels. "
                "Take s, pi, kappa, k, multi_kappa, alpha or ac1, without a distance."
            )
        shares = 1 - agreement.observed, 1 - agreement.expected
        if agreement.draws is not None:
            parts = agreement.parts()
            drawn = _shares(parts.observed, parts.expected)
    else:
        for name, share in (("agreement", agreement), ("expected", expected)):
            if not isinstance(share, (int, float)) or not 0 <= share <= 1:
                raise NotApplicable(f"{name}={share!r} should be a share between 0 and 1.")
        shares = 1.0 - agreement, 1.0 - (expected or 0.0)
    values = _shares(*map(np.array, shares))
    if not values[0] <= 1 + 1e-12:
        values = np.full(3, math.nan)
    low, high = interval(drawn.T, value=values)
    table = pd.DataFrame({"quantity": QUANTITIES, "value": values, "low": low, "high": high})
    draws = xr.Dataset({"share": (("draw", "quantity"), drawn.T)}, {"quantity": list(QUANTITIES)})
    code = "easy_hard" if math.isnan(low[0]) else "easy_hard_interval"
    words = {**dict(zip(QUANTITIES, values, strict=True)), "low": low[0], "high": min(high[0], 1.0)}
    note = say("no_easy_hard" if math.isnan(values[0]) else code, **words)
    shown = columns("quantity value")
    return Summary(TITLE, table, draws if drawn.size else xr.Dataset(), (note,), shown)


def _shares(d_o: Floats, d_e: Floats) -> Floats:
    """Return proportions from observed and expected disagreement, [...] -> [quantity, ...]."""
    hard = over(d_o, d_e)
    guessed = over(hard * (1 - d_e), 1 - np.asarray(d_o))
    return np.stack([hard, guessed, hard * d_e])
