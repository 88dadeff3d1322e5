r"""Krippendorff's alpha for units on a continuum: how far coders mark the same stretches.

For a label, m coders and texts of the length L in all, an overlapping pair of units g, h of two
coders adds the squared distances of their beginnings and of their ends, and a unit that lies in a
gap of the other coder adds its squared length:

.. math:: D_o = \frac{1}{m (m - 1) L^2} \sum_{a \ne b} \sum_{g \in a} \sum_{h \in b} \delta^2_{gh}

The expected disagreement is that of N units of the lengths l thrown anywhere on the continuum,
against each other and against the gaps of the lengths :math:`l_h`:

.. math::

    D_e = \frac{\frac 2 L \sum_g \Big[\frac{N - 1}{3} (2 l_g^3 - 3 l_g^2 + l_g)
          + l_g^2 \sum_{h: l_h \ge l_g} (l_h - l_g + 1)\Big]}{m L (m L - 1) - \sum_g l_g (l_g - 1)}

Both are sums over texts, so texts can be weighted. Source: Krippendorff 1995, On the reliability of
unitizing continuous data, doi:10.2307/271061.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.units import Units

__all__ = ["Layer", "layer"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK = 4_000_000


@dataclass(frozen=True, eq=False)
class Layer:
    """One label in all texts that two coders or more worked on.

    Parameters
    ----------
    apart
        Disagreement of each text, mean over its ordered pairs of coders, shape [text].
    unit_length, unit_text
        Length and text of each unit, shape [unit].
    gap_length, gap_text
        Length and text of each gap, the longest first, shape [gap].
    length
        Length of each text, 0 where fewer than two coders worked on it, shape [text].
    coded
        Length of each text times its coders, shape [text].
    """

    apart: Floats
    unit_length: Floats
    unit_text: Ints
    gap_length: Floats
    gap_text: Ints
    length: Floats
    coded: Floats

    def disagreement(self, weights: Floats) -> tuple[Floats, Floats]:
        """Observed and expected disagreement under weights of the texts, [text] or [draw, text]."""
        batch = np.atleast_2d(weights)
        whole = batch @ self.length
        d_o = (batch @ self.apart) / whole**2
        size = max(1, BLOCK // (len(self.unit_length) + len(self.gap_length) + 1))
        starts = range(0, len(batch), size)
        d_e = np.concatenate([self._expected(batch[start : start + size]) for start in starts])
        return d_o.reshape(weights.shape[:-1]), d_e.reshape(weights.shape[:-1])

    def _expected(self, weights: Floats) -> Floats:
        """Compute the expected disagreement, shape [draw]."""
        length, w = self.unit_length, weights[:, self.unit_text]
        n = w.sum(-1)
        among = (n - 1) / 3 * (w @ (2 * length**3 - 3 * length**2 + length))
        # Gaps stand with the longest first, so those that hold a unit come first.
        holds = np.searchsorted(-self.gap_length, -length, side="right")
        gaps = weights[:, self.gap_text]
        zero = np.zeros((len(weights), 1))
        number = np.concatenate([zero, np.cumsum(gaps, axis=-1)], axis=-1)[:, holds]
        places = np.cumsum(gaps * (self.gap_length + 1), axis=-1)
        places = np.concatenate([zero, places], axis=-1)[:, holds]
        against = (w * length**2 * (places - number * length)).sum(-1)
        coded = weights @ self.coded
        pairs = coded * (coded - 1) - w @ (length * (length - 1))
        return np.asarray(2 / (weights @ self.length) * (among + against) / pairs)


def layer(units: Units, label: int) -> Layer:
    """Collect what a label's disagreement is made of."""
    mine = units.label == label
    active = units.active.sum(1)
    used = active >= 2
    apart = np.zeros(units.n_texts)
    gap_length, gap_text = [], []
    for text in np.flatnonzero(used):
        here = mine & (units.text == text)
        spans = {
            coder: (units.start[here & by], units.end[here & by])
            for coder in np.flatnonzero(units.active[text])
            for by in [units.coder == coder]
        }
        pairs = combinations(spans.values(), 2)
        total = sum(_apart(one, other) for one, other in pairs)
        apart[text] = 2 * total / (active[text] * (active[text] - 1))
        first, last = units.begin[text], units.begin[text] + units.length[text]
        for start, end in spans.values():
            gaps = np.append(start, last) - np.insert(end, 0, first)
            gaps = gaps[gaps > 0]
            gap_length.append(gaps)
            gap_text.append(np.full(len(gaps), text))
    lengths = np.concatenate(gap_length) if gap_length else np.empty(0)
    texts = np.concatenate(gap_text) if gap_text else np.empty(0, dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")
    mine &= used[units.text]
    return Layer(
        apart=apart,
        unit_length=(units.end - units.start)[mine],
        unit_text=units.text[mine],
        gap_length=lengths[order],
        gap_text=texts[order],
        length=np.where(used, units.length, 0.0),
        coded=np.where(used, units.length * active, 0.0),
    )


def _apart(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> float:
    """Disagreement of the units of two coders; both are sorted and do not overlap themselves."""
    (start, end), (other_start, other_end) = one, other
    low = np.searchsorted(other_end, start, side="right")
    high = np.searchsorted(other_start, end, side="left")
    n = np.maximum(high - low, 0)
    g = np.repeat(np.arange(len(start)), n)
    h = np.arange(len(g)) - np.repeat(np.cumsum(n) - n, n) + np.repeat(low, n)
    both = ((start[g] - other_start[h]) ** 2 + (end[g] - other_end[h]) ** 2).sum()
    alone = n == 0
    other_alone = np.ones(len(other_start), dtype=bool)
    other_alone[h] = False
    lonely = ((end - start)[alone] ** 2).sum()
    return float(both + lonely + ((other_end - other_start)[other_alone] ** 2).sum())
