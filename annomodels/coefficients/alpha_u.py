"""The verb: agreement on units of a continuum, with a posterior over texts."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.entries import UNITIZING
from annomodels.coefficients.result import Agreement
from annomodels.coefficients.unitizing import Layer, layer
from annomodels.coefficients.units import Units
from annomodels.errors import NotApplicable

__all__ = ["alpha_u"]

Floats = NDArray[np.float64]

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
    >>> found = am.alpha_u(am.Units.from_records(rows, lengths=300, begins=150))
    >>> round(found.observed, 4), round(found.expected, 4), round(found.value, 4)
    (0.0144, 0.0532, 0.7286)
    """
    if not isinstance(units, Units):
        raise NotApplicable(
            "alpha_u takes units of a continuum: annomodels.Units.from_records(...). "
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
    """Why there is no value, as a code and a sentence."""
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
    none = np.full_like(observed, np.nan)
    return 1 - np.divide(observed, expected, out=none, where=expected > 0)
