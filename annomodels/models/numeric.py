"""Data and draws of the interval model: labels in standard units, draws by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.errors import AnnotationError, NotApplicable, Option, Problem
from annomodels.types import ByName, Floats

# population parameters, in the order of the sampler
POPULATION = (
    "truth_mean", "truth_spread", "bias_spread", "scale_spread", "noise", "coder_shape",
    "item_shape",
)  # fmt: skip
# parameters in label units
IN_UNITS = ("truth_spread", "bias_spread", "noise", "bias", "noise_sd")
# variables of the PyMC model; "truth" only if it is not summed out
SAMPLED = (*POPULATION, "bias", "scale", "precision", "ease", "truth")
# minimum share of the labels at an extreme that is an end of the scale
PILE = 0.02


@dataclass(frozen=True, eq=False)
class NumericLabels:
    """Labels in standard units: (value - `centre`) / `unit`."""

    item: NDArray[Any]  # codes, shape [annotation]
    coder: NDArray[Any]
    y: Floats  # labels in standard units, shape [annotation]
    low: Floats
    high: Floats
    known: Floats  # known truths in standard units, NaN where unknown, shape [item]
    n_coders: int  # number of coders
    centre: float  # zero point of the standard units, on the scale of the labels
    unit: float
    # ends of the scale in label units, infinite without an end
    ends: tuple[float, float] = (-np.inf, np.inf)

    @property
    def exact(self) -> bool:
        """Return True if labels are exact, without rounding and censoring."""
        return bool((self.low == self.high).all())

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.known)


@dataclass(frozen=True, eq=False)
class NumberValues:
    """Posterior of a fit, in label units."""

    truth_mean: Floats
    truth_spread: Floats
    bias_spread: Floats
    scale_spread: Floats
    noise: Floats
    bias: Floats  # [coder]
    scale: Floats  # [coder]
    noise_sd: Floats  # [coder]

    @classmethod
    def of(cls, posterior: ByName, *, mean: bool = False) -> Self:
        """Concatenate the chains of draws [chain, draw, ...], or return posterior means."""
        drawn = (np.asarray(posterior[each.name], dtype=float) for each in fields(cls))
        flat = (values.reshape(-1, *values.shape[2:]) for values in drawn)
        return cls(*(values.mean(axis=0) if mean else values for values in flat))


@dataclass(frozen=True, eq=False)
class NumberDraws:
    """Draws of a sampler in standard units, all with the same leading dimensions."""

    # population parameters in the order of ``POPULATION``, shape [..., parameter]
    population: Floats
    bias: Floats  # shape [..., coder]
    scale: Floats
    precision: Floats
    ease: Floats | None = None  # shape [..., item], if drawn
    truth: Floats | None = None

    @classmethod
    def of(cls, drawn: Mapping[str, Floats]) -> Self:
        """Collect draws from variables of the PyMC model."""
        population = np.stack([drawn[name] for name in POPULATION], axis=-1)
        return cls(population, *(drawn.get(each.name) for each in fields(cls)[1:]))  # type: ignore[arg-type]

    def pymc_start(self, labels: NumericLabels, deviation: Floats) -> dict[str, Floats]:
        """Return the PyMC variables for one draw and deviations [item] of the truths."""
        out: dict[str, Any] = dict(zip(POPULATION, self.population, strict=True))
        out["bias_raw"] = self.bias / out["bias_spread"]
        out["scale_raw"] = (self.scale - 1.0) / out["scale_spread"]
        out |= {"precision": self.precision, "ease": self.ease}
        if not labels.exact:
            out["truth_raw"] = deviation[np.isnan(labels.known)] / out["truth_spread"]
        return {name: np.asarray(value, dtype=float) for name, value in out.items()}

    def in_units(self, labels: NumericLabels) -> dict[str, Floats]:
        """Return the posterior by name, in label units."""
        drawn = {name: self.population[..., place] for place, name in enumerate(POPULATION)}
        drawn |= {"bias": self.bias, "scale": self.scale, "noise_sd": self.precision**-0.5}
        out = {name: v * labels.unit if name in IN_UNITS else v for name, v in drawn.items()}
        out["truth_mean"] = labels.centre + labels.unit * out["truth_mean"]
        return out

    def truth_given(self, labels: NumericLabels) -> tuple[Floats, Floats]:
        """Return mean and sd of the truths, conditional on draws [chain, draw, ...]."""
        assert self.ease is not None
        mu, spread = self.population[..., 0], self.population[..., 1]
        mean, sd = np.empty((2, *mu.shape, labels.n_items))
        item, coder, n = labels.item, labels.coder, labels.n_items
        known = np.isfinite(labels.known)
        for at in np.ndindex(mu.shape):
            weight = self.ease[at][item] * self.precision[at][coder]
            s = self.scale[at][coder]
            rest = labels.y - mu[at] - self.bias[at][coder]
            a = np.bincount(item, weight * s * s, minlength=n)
            b = np.bincount(item, weight * s * rest, minlength=n)
            variance = 1.0 / (a + spread[at] ** -2.0)
            mean[at] = np.where(known, labels.known, mu[at] + variance * b)
            sd[at] = np.where(known, 0.0, np.sqrt(variance))
        return mean, sd


def numeric_labels(
    data: Annotations,
    centre: float | None = None,
    unit: float | None = None,
    step: float | None = None,
    ends: tuple[float, float] | None = None,
) -> NumericLabels:
    """Encode annotations with numeric labels in standard units."""
    values = data.values
    used = np.unique(data.label)
    if not np.isfinite(values[used]).all():
        odd = next(data.labels[k] for k in used if not np.isfinite(values[k]))
        raise NotApplicable(
            f"The interval model needs labels that are numbers, but {odd!r} is not a number. Name "
            f"cells that mean no label with {Option('missing')}, or use a model of classes."
        )
    y = values[data.label]
    problems = []
    if np.ptp(y) == 0:
        what = f"Every label is {y[0]:g}, so there is nothing to learn."
        problems.append(Problem(what, data.source, "Add items with other labels."))
    if data.n_coders < 2:
        what = "Only one coder: bias and noise cannot be separated from the truth."
        problems.append(Problem(what, data.source, "Add a second coder."))
    elif not data.is_shared:
        what = "No item was labeled by two coders, so noise cannot be separated from the truth."
        problems.append(Problem(what, data.source, "Let coders share items."))
    if problems:
        raise AnnotationError(problems)
    step = float(np.diff(np.unique(y)).min()) if step is None else step
    lowest, highest = _ends(y) if ends is None else ends
    low, high = y - step / 2, y + step / 2
    if step > 0:
        low[y <= lowest], high[y >= highest] = -np.inf, np.inf
    centre = float(y.mean()) if centre is None else centre
    unit = float(y.std()) if unit is None else unit
    known = np.full(data.n_items, np.nan)
    if data.gold is not None:
        given = data.gold >= 0
        known[given] = values[data.gold[given]]
        if np.isnan(known[given]).any():
            raise NotApplicable("A known truth is not a number; the interval model needs numbers.")
    return NumericLabels(
        data.item,
        data.coder,
        (y - centre) / unit,
        (low - centre) / unit,
        (high - centre) / unit,
        (known - centre) / unit,
        data.n_coders,
        centre,
        unit,
        (float(lowest), float(highest)) if step > 0 else (-np.inf, np.inf),
    )


def _ends(y: Floats) -> tuple[float, float]:
    """Return the extremes with many labels; infinite for other extremes."""
    low, high = float(y.min()), float(y.max())
    return (
        low if (y == low).mean() >= PILE else -np.inf,
        high if (y == high).mean() >= PILE else np.inf,
    )
