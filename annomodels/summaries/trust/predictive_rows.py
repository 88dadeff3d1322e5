"""Rows of the table of posterior predictive checks, and what they say together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from annomodels.types import Floats

if TYPE_CHECKING:
    import pandas as pd

REJECTED = 0.01
WORST = 3  # coders and pairs that get a row of their own
SMALLEST_SD = 0.01
MATTERS = 1.05


@dataclass(frozen=True)
class Aspect:
    """One side of the data that the model should reproduce.

    Parameters
    ----------
    name
        What it is.
    p_value
        Posterior predictive p-value.
    fits
        Whether the model reproduces it.
    which
        Coders or pairs that stand out, in words.
    sentence
        What it means that the model does not.
    """

    name: str
    p_value: float
    fits: bool
    which: str = ""
    sentence: str = ""

    def saying(self, sentence: str) -> Aspect:
        """Copy with a sentence; what stands out is put behind it."""
        if self.which:
            sentence = f"{sentence}: {self.which}"
        return replace(self, sentence=sentence if sentence.endswith(".") else f"{sentence}.")


class Rows:
    """Rows of the table while it is filled, with their replicated values.

    Examples
    --------
    >>> rows = Rows()
    >>> aspect = rows.two_sided("agreement", 0.9, np.linspace(0.5, 0.8, 200))
    >>> aspect.fits, rows.table()[["statistic", "p_value", "verdict"]]
    (False,    statistic  p_value                      verdict
    0  agreement      0.0  more than the model expects)
    """

    def __init__(self) -> None:
        self.rows: list[tuple[str, float, float, float, float, float, str]] = []
        self.draws: list[Floats] = []

    def table(self) -> pd.DataFrame:
        """Give the rows as a table."""
        import pandas as pd

        columns = ["statistic", "observed", "expected", "low", "high", "p_value", "verdict"]
        return pd.DataFrame(self.rows, columns=columns)

    def two_sided(self, name: str, observed: float, seen: Floats) -> Aspect:
        """Add a number that should be neither large nor small; ties count half."""
        p = float((seen > observed).mean() + (seen == observed).mean() / 2)
        fits = REJECTED <= p <= 1 - REJECTED
        self._add(name, observed, seen, p, _verdict(fits, p < 0.5))
        return Aspect(name, p, fits)

    def one_sided(self, name: str, observed: float, seen: Floats, verdict: str) -> Aspect:
        """Add a distance, of which only large values speak against the model."""
        p = _p_at_least(observed, seen)
        fits = p >= REJECTED
        self._add(name, observed, seen, p, "fits" if fits else verdict)
        return Aspect(name, p, fits)

    def realised(self, name: str, observed: Floats, seen: Floats) -> Aspect:
        """Add a distance that depends on the parameters, computed for both on every draw."""
        p = float((1 + (seen >= observed).sum()) / (1 + len(seen)))
        # with very many labels everything is significant: it must also matter
        fits = bool(p >= REJECTED or observed.mean() < MATTERS * seen.mean())
        self._add(name, float(observed.mean()), seen, p, _verdict(fits, more=True))
        return Aspect(name, p, fits)

    def worst(self, name: str, names: list[str], observed: Floats, seen: Floats) -> Aspect:
        """Add rows for the entries farthest from what is expected.

        p compares the standardised distance of each with the largest of all entries in every
        replicate, so that many coders do not raise false alarms.
        """
        mean = seen.mean(axis=0)
        sd = np.maximum(seen.std(axis=0), SMALLEST_SD)
        far = np.abs(observed - mean) / sd
        farthest = (np.abs(seen - mean) / sd).max(axis=1)
        out = []
        ps = []
        for at in np.argsort(-far, kind="stable")[:WORST]:
            p = _p_at_least(far[at], farthest)
            more = bool(observed[at] > mean[at])
            self._add(names[at], observed[at], seen[:, at], p, _verdict(p >= REJECTED, more))
            ps.append(p)
            if p < REJECTED:
                out.append(f"{names[at]} {'more' if more else 'less'} often")
        return Aspect(name, min(ps), not out, ", ".join(out))

    def _add(self, name: str, observed: float, seen: Floats, p: float, verdict: str) -> None:
        low, high = np.quantile(seen, [0.025, 0.975])
        row = (name, float(observed), float(seen.mean()), float(low), float(high), p, verdict)
        self.rows.append(row)
        self.draws.append(seen)


def _p_at_least(observed: float, seen: Floats) -> float:
    return float((1 + (seen >= observed).sum()) / (1 + len(seen)))


def _verdict(fits: bool, more: bool) -> str:
    return "fits" if fits else f"{'more' if more else 'less'} than the model expects"
