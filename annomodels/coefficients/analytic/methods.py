"""Analytic standard errors and intervals, for comparison with other packages."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from annomodels.coefficients.analytic.classical import f_interval, fleiss_cohen_everitt, jackknife
from annomodels.coefficients.analytic.linearised import (
    Spread,
    fleiss_nee_landis,
    linearised,
    linearised_table,
)
from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.coefficients.entries import plain_name_of
from annomodels.coefficients.weights import Basis
from annomodels.errors import NotApplicable


@dataclass(frozen=True, repr=False)
class Analytic:
    """Analytic error and interval of a coefficient.

    Parameters
    ----------
    value
        The coefficient.
    se
        Its standard error; NaN where the method gives an interval only.
    low, high
        Interval with the probability `prob`.
    se0, z0
        Standard error if the coders agreed by chance alone, and value / se0; NaN where the method
        has none.
    p
        Two-sided p-value of the hypothesis that the coefficient is 0: from z0 where there is one,
        else from value / se; for intraclass correlations one-sided, from F.
    df
        Degrees of freedom of the t distribution; infinite for the normal.
    prob
        Probability of the interval.
    method, formula
        Name of the method, and what it does.
    citation, doi
        Where it comes from.
    """

    value: float
    se: float
    low: float
    high: float
    se0: float
    z0: float
    p: float
    df: float
    prob: float
    method: str
    formula: str
    citation: str
    doi: str

    def __repr__(self) -> str:
        span = f"{self.prob:.0%} interval [{self.low:.4f}, {self.high:.4f}]"
        parts = (
            f"{self.value:.4f}",
            "" if math.isnan(self.se) else f"se {self.se:.4f}",
            span,
            "" if math.isnan(self.z0) else f"z0 {self.z0:.3f}",
            "" if math.isnan(self.p) else f"p {self.p:.3g}",
            f"{self.formula} ({self.citation})",
        )
        return " · ".join(filter(None, parts))

    @property
    def var(self) -> float:
        """Square of the standard error."""
        return self.se**2

    @property
    def var0(self) -> float:
        """Square of the standard error under agreement by chance alone."""
        return self.se0**2


@dataclass(frozen=True)
class _Method:
    """A way to find the spread, and how it is called."""

    spread: Callable[[Basis, float, float], Spread]
    formula: str
    citation: str
    doi: str
    aliases: tuple[str, ...] = ()


METHODS: dict[str, _Method] = {
    "gwet": _Method(
        linearised, "linearised variance over items, t interval, not above 1",
        "Gwet 2014", "", ("linearised", "linearized", "irrcac"),
    ),
    "gwet_table": _Method(
        linearised_table,
        "variance of the table of two coders, divided by n instead of n - 1, t interval",
        "Gwet 2014", "", ("table", "irrcac_table"),
    ),
    "fleiss_cohen_everitt": _Method(
        fleiss_cohen_everitt, "large-sample variance of the table of label pairs, normal interval",
        "Fleiss, Cohen & Everitt 1969", "10.1037/h0028106",
        ("fce", "fleiss_cohen_everitt_1969", "statsmodels", "asymptotic"),
    ),
    "fleiss": _Method(
        fleiss_nee_landis,
        "large-sample variance if coders agree by chance alone, normal interval",
        "Fleiss, Nee & Landis 1979", "10.1037/0033-2909.86.5.974",
        ("fleiss_nee_landis", "irr", "h0"),
    ),
    "f": _Method(
        f_interval, "F distribution of the mean squares",
        "McGraw & Wong 1996", "10.1037/1082-989X.1.1.30", ("anova", "pingouin", "shrout_fleiss"),
    ),
    "jackknife": _Method(
        jackknife, "jackknife of log(MSA / MSE) over items, t interval",
        "Hughes 2022", "10.48550/arXiv.2210.13265", ("hughes",),
    ),
}  # fmt: skip
"""Methods by name; which of them a coefficient has stands in the catalogue."""


def analytic(basis: Basis, value: float, method: str | None, prob: float) -> Analytic:
    """Find the error of a coefficient by a method that it has."""
    if not 0 < prob < 1:
        raise ValueError(f"prob={prob!r} should lie between 0 and 1, for instance 0.95.")
    entry = basis.request.coefficient
    if not entry.analytic:
        have = ", ".join(name for name, other in COEFFICIENTS.items() if other.analytic)
        raise NotApplicable(
            f"{entry.title} has no analytic error. Use the draws (interval()). These have: {have}."
        )
    name = _choose(basis, method)
    chosen = METHODS[name]
    if math.isnan(value):
        found = Spread(math.nan)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = chosen.spread(basis, value, prob)
    low, high = found.limits or _limits(value, found, prob)
    return Analytic(
        value=value,
        se=found.se,
        low=low,
        high=high,
        se0=found.se0,
        z0=value / found.se0 if found.se0 > 0 else math.nan,
        p=_p_value(value, found),
        df=found.df,
        prob=prob,
        method=name,
        formula=chosen.formula,
        citation=chosen.citation,
        doi=chosen.doi,
    )


def _choose(basis: Basis, method: str | None) -> str:
    """Name of the method asked for, or of the first that the coefficient has."""
    entry = basis.request.coefficient
    if method is None:
        # With Gwet's convention the margins come from other items than the table of both coders.
        other = basis.request.convention == "gwet" and not basis.data.is_complete
        return "gwet" if other and "gwet" in entry.analytic else entry.analytic[0]
    plain = plain_name_of(method)
    for name, known in METHODS.items():
        if plain in (name, *known.aliases) and name in entry.analytic:
            return name
    raise NotApplicable(
        f"{entry.title} has no analytic error called {method!r}. "
        f"Use one of {', '.join(entry.analytic)}."
    )


def _limits(value: float, found: Spread, prob: float) -> tuple[float, float]:
    """Symmetric interval, cut where the method cuts it."""
    upper = (1 + prob) / 2
    if math.isinf(found.df):
        reach = float(special.ndtri(upper)) * found.se
    else:
        reach = float(special.stdtrit(found.df, upper)) * found.se if found.df > 0 else math.nan
    return value - reach, min(value + reach, found.ceiling) if reach == reach else math.nan


def _p_value(value: float, found: Spread) -> float:
    """Two-sided p-value, or the one that the method gives."""
    if not math.isnan(found.p):
        return found.p
    if found.se0 > 0:
        return float(2 * special.ndtr(-abs(value / found.se0)))
    if not found.se > 0 or not found.df > 0:
        return math.nan
    if math.isinf(found.df):
        return float(2 * special.ndtr(-abs(value / found.se)))
    return float(2 * special.stdtr(found.df, -abs(value / found.se)))
