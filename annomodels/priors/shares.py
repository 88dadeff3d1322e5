"""Priors of probabilities and of rows of confusion matrices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from annomodels.data.html import Html
from annomodels.priors.columns import Covariates
from annomodels.priors.distributions import Betas
from annomodels.priors.scales import HalfNormal, LogNormal, Pareto
from annomodels.types import Floats

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


LEAST = 0.02  # minimum pseudo-counts, for labels that an earlier fit never saw


@dataclass(frozen=True)
class Dirichlet(Html):
    """Dirichlet prior with ``concentration`` pseudo-counts per class, on average.

    Parameters
    ----------
    concentration
        Pseudo-counts per class; 1 is uniform on the simplex, 0 means no prior (maximum likelihood,
        which only the ``em`` engine accepts).
    shares
        Proportion of the pseudo-counts in each class; if empty, equal for any number of classes.

    Examples
    --------
    >>> Dirichlet(1.0).alpha(3)
    array([1., 1., 1.])
    >>> Dirichlet(5.0, (0.2, 0.8)).alpha(2)
    array([2., 8.])
    """

    concentration: float = 1.0
    shares: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not (math.isfinite(self.concentration) and self.concentration >= 0):
            raise ValueError(f"Dirichlet needs a concentration >= 0, not {self.concentration!r}.")
        if self.shares and not (min(self.shares) > 0 and abs(sum(self.shares) - 1) < 1e-6):
            raise ValueError(f"Dirichlet needs shares above 0 that add up to 1: {self.shares!r}.")

    def alpha(self, n_classes: int) -> Floats:
        """Return the pseudo-counts, shape [class]."""
        if not self.shares:
            return np.full(n_classes, float(self.concentration))
        if len(self.shares) != n_classes:
            raise ValueError(
                f"The prior was made for {len(self.shares)} labels, and there are {n_classes}."
            )
        return self.concentration * n_classes * np.array(self.shares)

    @property
    def proper(self) -> bool:
        """Return True if the prior is a distribution, which sampling requires."""
        return self.concentration > 0

    @property
    def in_words(self) -> str:
        """Description of the prior for reports."""
        counts = "pseudo-count" if self.concentration == 1 else "pseudo-counts"
        return f"Dirichlet with {self.concentration:g} {counts} per class"

    def __repr__(self) -> str:
        more = f", shares={self.shares!r}" if self.shares else ""
        return f"Dirichlet(concentration={self.concentration!r}{more})"


@dataclass(frozen=True)
class Beta(Betas, Html):
    """Beta prior of a probability.

    Parameters
    ----------
    a, b
        Pseudo-counts for and against.

    Examples
    --------
    >>> Beta(7, 3).mean
    0.7
    """

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        if not (0 < self.a < math.inf and 0 < self.b < math.inf):
            raise ValueError(f"Beta needs a > 0 and b > 0, not {self.a!r} and {self.b!r}.")

    @property
    def in_words(self) -> str:
        """Description of the prior for reports."""
        return f"Beta({self.a:g}, {self.b:g})"

    @property
    def mean(self) -> float:
        """Prior mean."""
        return self.a / (self.a + self.b)

    @property
    def counts(self) -> Floats:
        """Pseudo-counts for and against, shape [2]."""
        return np.array([self.a, self.b], dtype=float)


@dataclass(frozen=True)
class Diagonal(Html):
    r"""Dirichlet rows with more weight on the diagonal: coders are better than chance.

    Row k of a confusion matrix is Dirichlet with ``strength * accuracy`` pseudo-counts on label k
    and :math:`strength (1 - accuracy) / (K - 1)` on each other label.

    Parameters
    ----------
    strength
        Total pseudo-counts of a row; 0 means no prior (``em`` only).
    accuracy
        Proportion of the pseudo-counts on the diagonal.
    certainty
        Pseudo-labels behind the accuracy. Infinite (the default): the accuracy is fixed. Finite:
        the model estimates one accuracy a for all rows, with a ~ Beta(certainty * accuracy,
        certainty * (1 - accuracy)); only for the population of a hierarchical model.
    spread
        Standard deviation of the logarithm of the strength. 0 (the default): the strength is
        fixed. Above 0: the model estimates a strength for each row, log-normal with median
        ``strength``; only for the population of a hierarchical model.

    Examples
    --------
    >>> Diagonal(strength=8, accuracy=0.6).alpha(3)
    array([[4.8, 1.6, 1.6],
           [1.6, 4.8, 1.6],
           [1.6, 1.6, 4.8]])
    """

    strength: float = 4.0
    accuracy: float = 0.7
    certainty: float = math.inf
    spread: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.strength) and self.strength >= 0):
            raise ValueError(f"Diagonal needs a strength >= 0, not {self.strength!r}.")
        if not 0 < self.accuracy < 1:
            raise ValueError(f"Diagonal needs 0 < accuracy < 1, not {self.accuracy!r}.")
        if not self.certainty > 0:
            raise ValueError(f"Diagonal needs a certainty > 0, not {self.certainty!r}.")
        if not (math.isfinite(self.spread) and self.spread >= 0):
            raise ValueError(f"Diagonal needs a spread >= 0, not {self.spread!r}.")

    @property
    def proper(self) -> bool:
        """Return True if the prior is a distribution, which sampling requires."""
        return self.strength > 0

    @property
    def in_words(self) -> str:
        """Description of the prior for reports."""
        strength, share = f"{self.strength:g}", f"{100 * self.accuracy:.0f} %"
        if self.spread:
            words = LogNormal(self.strength, self.spread).in_words
            strength = f"an estimated number (for each class {words}) of"
        if self.estimated:
            share = f"an estimated share ({self.beta.in_words}, the same for all classes)"
        return f"Dirichlet with {strength} pseudo-counts, {share} of them on the right label"

    @property
    def estimated(self) -> bool:
        """Return True if the accuracy is estimated."""
        return math.isfinite(self.certainty)

    @property
    def beta(self) -> Beta:
        """Prior of an estimated accuracy."""
        return Beta(self.certainty * self.accuracy, self.certainty * (1.0 - self.accuracy))

    def mean(self, n_classes: int) -> Floats:
        """Return the prior mean of a confusion matrix, shape [truth, label]."""
        off = (1.0 - self.accuracy) / max(n_classes - 1, 1)
        return np.where(np.eye(n_classes, dtype=bool), self.accuracy, off)

    def alpha(self, n_classes: int) -> Floats:
        """Return the pseudo-counts, shape [truth, label]."""
        return self.strength * self.mean(n_classes)


@dataclass(frozen=True)
class Rows(Html):
    """Dirichlet rows of a confusion matrix, each with separate pseudo-counts.

    :func:`annomodels.prior_from` derives them from an earlier fit.

    Parameters
    ----------
    counts
        Pseudo-counts by true class and label.
    labels
        Labels of the rows and columns, in order.

    Examples
    --------
    >>> Rows(((8.0, 2.0), (1.0, 4.0)), ("no", "yes")).mean(2)
    array([[0.8, 0.2],
           [0.2, 0.8]])
    """

    # strength and accuracy are fixed, see Diagonal
    estimated: ClassVar[bool] = False
    certainty: ClassVar[float] = math.inf
    spread: ClassVar[float] = 0.0

    counts: tuple[tuple[float, ...], ...]
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        table = np.array(self.counts, dtype=float)
        if table.ndim != 2 or table.shape[0] != table.shape[1] or not (table > 0).all():
            raise ValueError("Rows needs a square table of pseudo-counts above 0.")

    @property
    def strength(self) -> float:
        """Mean pseudo-counts of a row."""
        return float(np.sum(self.counts) / len(self.counts))

    @property
    def accuracy(self) -> float:
        """Mean proportion of the pseudo-counts on the diagonal."""
        return float(np.diagonal(self.mean(len(self.counts))).mean())

    @property
    def in_words(self) -> str:
        """Description of the prior for reports."""
        return (
            f"Dirichlet with {self.strength:g} pseudo-counts, on average "
            f"{100 * self.accuracy:.0f} % of them on the right label"
        )

    def alpha(self, n_classes: int) -> Floats:
        """Return the pseudo-counts, shape [truth, label]."""
        table = np.array(self.counts, dtype=float)
        if len(table) != n_classes:
            raise ValueError(
                f"The prior was made for {len(table)} labels, and there are {n_classes}."
            )
        return table

    def mean(self, n_classes: int) -> Floats:
        """Return the prior mean of a confusion matrix, shape [truth, label]."""
        table = self.alpha(n_classes)
        return np.asarray(table / table.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class CoderRows(Rows):
    """Rows of one coder from an earlier fit.

    Parameters
    ----------
    counts, labels
        As in :class:`Rows`.
    coder
        Name of the coder, as a string.
    """

    coder: str = ""


def dirichlet_like(draws: Floats) -> Floats:
    """Return Dirichlet pseudo-counts that match the moments of draws [draw, ..., class]."""
    mean = draws.mean(axis=0)
    variance = np.maximum(draws.var(axis=0).sum(axis=-1), 1e-12)
    total = (mean * (1 - mean)).sum(axis=-1) / variance - 1
    return np.asarray(np.maximum(mean * np.maximum(total, 1.0)[..., None], LEAST))


def dirichlet_rows(shapes: Floats, rng: np.random.Generator) -> Floats:
    """Draw rows from Dirichlet distributions with these pseudo-counts, [..., label]."""
    values = np.maximum(rng.standard_gamma(np.maximum(shapes, 1e-6)), 1e-300)
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


def inside(shares: Floats) -> Floats:
    """Clip probabilities so that single precision does not round them to 0 or 1."""
    found: Floats = np.clip(shares, np.finfo(np.float32).tiny, 1.0 - np.finfo(np.float32).epsneg)
    return found


def as_table(counts: Floats) -> tuple[tuple[float, ...], ...]:
    """Return pseudo-counts as tuples, with a minimum that can be sampled."""
    return tuple(tuple(float(x) for x in np.maximum(row, LEAST)) for row in counts)


# -- as plain data ------------------------------------------------------------------------------

KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        Beta,
        CoderRows,
        Covariates,
        Dirichlet,
        Diagonal,
        HalfNormal,
        LogNormal,
        Pareto,
        Rows,
    )
}


def to_dict(prior: DataclassInstance) -> dict[str, object]:
    """Return a prior as plain data."""
    values = {name: value for name, value in asdict(prior).items() if value != ()}
    return {"kind": type(prior).__name__, **values}


def from_dict(data: Mapping[str, object]) -> object:
    """Build a prior from the plain data of :func:`to_dict`."""
    values = {name: _tuples(value) for name, value in data.items() if name != "kind"}
    return KINDS[str(data["kind"])](**values)


def _tuples(value: object) -> object:
    """Convert lists back to tuples, which JSON does not have."""
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def plain(value: object) -> object:
    """Return a field of a model as plain data."""
    if is_dataclass(value) and not isinstance(value, type) and type(value) in KINDS.values():
        return to_dict(value)
    if hasattr(value, "to_dict") and hasattr(value, "describe"):
        return {"model": value.to_dict()}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    raise TypeError(f"a value of the type {type(value).__name__}")


def of_other_labels(value: DataclassInstance, labels: list[str]) -> list[str]:
    """List priors of a model for other labels, or for another number of labels."""
    found, known = [], ", ".join(labels)
    for name in (each.name for each in fields(value)):
        prior = getattr(value, name)
        rows = isinstance(prior, Rows)
        if rows and prior.labels and list(prior.labels) != labels:
            found.append(
                f"The priors are those of a fit with the labels {', '.join(prior.labels)}, but the "
                f"data have {known}. Declare the same labels (labels=)."
            )
            continue
        sized = prior.counts if rows else ()
        if name == "prevalence":
            sized = getattr(prior, "shares", ())
        if sized and len(sized) != len(labels):
            found.append(
                f"{prior!r} is for {len(sized)} labels, but the data have {len(labels)}: {known}. "
                "Give a prior for these labels."
            )
    return found
