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
unitizing continuous data, doi:10.2307/271061. The draws
are a Bayesian bootstrap over texts.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.continuum.units import Units
from annomodels.coefficients.entries import UNITIZING
from annomodels.coefficients.result import Agreement
from annomodels.coefficients.tables import over
from annomodels.errors import NotApplicable
from annomodels.types import Floats, Ints

BLOCK = 4_000_000


@dataclass(frozen=True, eq=False)
class Layer:
    """One label in all texts that two coders or more worked on."""

    apart: Floats  # disagreement of each text, mean over its ordered pairs of coders [text]
    unit_length: Floats  # length and text of each unit [unit]
    unit_text: Ints
    gap_length: Floats  # length and text of each gap, the longest first [gap]
    gap_text: Ints
    length: Floats  # length of each text, 0 where fewer than two coders worked on it [text]
    coded: Floats  # length of each text times its coders [text]

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


FEW_TEXTS = 10


def alpha_u(
    units: Units, label: Hashable | None = None, *, draws: int = 2000, seed: int = 0
) -> Agreement:
    r"""Krippendorff's alpha for unitizing: how far coders mark the same stretches of a continuum.

    :math:`\alpha_U = 1 - D_o / D_e`; over several labels, observed and expected disagreement are
    summed before they are compared. Beginnings and ends that are a little apart cost little,
    units that the other coder did not mark at all cost their squared length.

    Parameters
    ----------
    units
        Who marked which stretch of which text.
    label
        A label; without it all labels.
    draws
        Number of draws of the sampling posterior (Bayesian bootstrap over texts), 0 for none.
    seed
        Seed of the draws; equal seeds give equal draws, whatever the label.

    Returns
    -------
    Agreement
        `n_items` is the number of texts that two coders worked on, `n_labels` that of units in
        them. A single text gives a value without an interval.

    Raises
    ------
    NotApplicable
        When nobody used the label.

    References
    ----------
    Krippendorff 1995, doi:10.2307/271061; 2004, Content Analysis, 2nd edition, section 11.6.

    Examples
    --------
    Two coders of a tape (Krippendorff 2004, page 254):

    >>> import annomodels as am
    >>> rows = [("tape", "a", 225, 295, "c"), ("tape", "a", 370, 400, "c"),
    ...         ("tape", "b", 220, 300, "c"), ("tape", "b", 355, 375, "c"),
    ...         ("tape", "b", 400, 420, "c")]
    >>> units = am.coefficients.Units.from_records(rows, lengths=300, begins=150)
    >>> found = am.coefficients.alpha_u(units)
    >>> round(found.observed, 4), round(found.expected, 4), round(found.value, 4)
    (0.0144, 0.0532, 0.7286)
    """
    if not isinstance(units, Units):
        raise NotApplicable(
            "alpha_u takes units of a continuum: annomodels.coefficients.Units.from_records(...). "
            "For labels of items use annomodels.agreement."
        )
    if label is not None and label not in units.labels:
        known = ", ".join(map(repr, units.labels)) or "no label at all"
        raise NotApplicable(f"Nobody used the label {label!r}. There is {known}.")
    codes = range(len(units.labels)) if label is None else [units.labels.index(label)]
    layers = [layer(units, code) for code in codes]
    used = units.active.sum(1) >= 2
    n_texts = int(used.sum())
    reason, note = _reason(units, layers, n_texts)
    value = d_o = d_e = math.nan
    if not reason:
        d_o, d_e = (float(x) for x in _sums(layers, np.ones(units.n_texts)))
        if d_e > 0:
            value = 1 - d_o / d_e
        else:
            reason, note = "zero_expected_disagreement", "Chance alone would not disagree: 0/0."
    notes, drawn = [], None
    if not reason and n_texts < 2:
        reason, note = "too_few_items", "One text says nothing about others: no interval."
    elif not reason and draws:
        drawn = _draw(layers, used, draws, seed)
        few = " With so few the interval is rough." if n_texts < FEW_TEXTS else ""
        notes.append(f"Interval: Bayesian bootstrap over {n_texts:,} texts.{few}")
    if any((x != np.round(x)).any() for x in (units.start, units.end)):
        notes.append(
            "Positions are not whole numbers. Alpha for units counts steps of 1: "
            "multiply the positions so that a step is the smallest difference that matters."
        )
    return Agreement(
        name=UNITIZING.name,
        title=UNITIZING.title if label is None else f"{UNITIZING.title}, {label}",
        value=value,
        observed=d_o,
        expected=d_e,
        kind="disagreement",
        n_items=n_texts,
        n_coders=units.n_coders,
        n_labels=sum(len(one.unit_length) for one in layers),
        convention="complete" if units.active.all() else "texts that two coders worked on",
        note=note,
        reason=reason,
        distance="unitizing",
        draws=drawn,
        notes=tuple(notes),
        words=("text", "unit"),
    )


def _reason(units: Units, layers: list[Layer], n_texts: int) -> tuple[str, str]:
    """Return the reason for a missing value, as a code and a sentence."""
    if units.n_coders < 2:
        few = "only one coder" if units.n_coders else "no coder"
        return "one_coder", f"There is {few}. Name all of them with coders=."
    if not n_texts:
        return "no_overlap", "No text was worked on by two coders."
    if not any(len(one.unit_length) for one in layers):
        return "no_variation", "Nobody marked a unit in a text that two coders worked on."
    return "", ""


def _sums(layers: list[Layer], weights: Floats) -> tuple[Floats, Floats]:
    """Observed and expected disagreement, mean over the labels."""
    found = [one.disagreement(weights) for one in layers]
    observed, expected = (np.asarray(sum(column)) for column in zip(*found, strict=True))
    return observed / len(layers), expected / len(layers)


def _draw(layers: list[Layer], used: NDArray[np.bool_], draws: int, seed: int) -> Floats:
    """Draws of alpha under random weights of the texts (Rubin 1981)."""
    weights = np.random.default_rng(seed).standard_exponential((draws, len(used))) * used
    weights *= used.sum() / weights.sum(-1, keepdims=True)
    observed, expected = _sums(layers, weights)
    return 1 - over(observed, expected)
