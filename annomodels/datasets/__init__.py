"""Small data sets to learn and to test with: printed figures, and one made-up crowd.

>>> from annomodels import datasets
>>> datasets.load("trains")
25 items × 4 coders × 4 labels · 100 annotations · complete

May import errors, validation, coding and annotations.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable

from annomodels.data.annotations import Annotations
from annomodels.datasets import anesthesia, caries, crowd, tutorial
from annomodels.datasets.crowd import CrowdTruth, crowd_truth
from annomodels.datasets.info import Dataset
from annomodels.errors import AnnotationError, Problem

__all__ = ["CrowdTruth", "Dataset", "about", "all_about", "crowd_truth", "load", "names"]

_TABLE: dict[str, tuple[Dataset, Callable[[], Annotations]]] = {
    about.name: (about, load)
    for about, load in (
        (anesthesia.ABOUT, anesthesia.load),
        (caries.ABOUT, caries.load),
        (tutorial.TRAINS, tutorial.load_trains),
        *tutorial.TABLES,
        (crowd.ABOUT, crowd.load),
    )
}


def names() -> tuple[str, ...]:
    """Names of the data sets.

    Examples
    --------
    >>> names()
    ('anesthesia', 'boxcar', 'caries', 'crowd', 'even', 'love', 'skewed', 'trains')
    """
    return tuple(sorted(_TABLE))


def load(name: str) -> Annotations:
    """Load a data set.

    Parameters
    ----------
    name
        One of :func:`names`.

    Raises
    ------
    AnnotationError
        When there is no data set of that name.

    Examples
    --------
    >>> load("anesthesia")
    45 items × 5 coders × 4 labels · 315 annotations · complete · 90 repeats · ordinal
    """
    return _found(name)[1]()


def about(name: str) -> Dataset:
    """Tell where a data set comes from.

    Parameters
    ----------
    name
        One of :func:`names`.

    Raises
    ------
    AnnotationError
        When there is no data set of that name.

    Examples
    --------
    >>> about("caries").doi
    '10.2307/2531847'
    """
    return _found(name)[0]


def all_about() -> tuple[Dataset, ...]:
    """Tell where each data set comes from, sorted by name."""
    return tuple(_TABLE[name][0] for name in names())


def _found(name: str) -> tuple[Dataset, Callable[[], Annotations]]:
    if name not in _TABLE:
        near = difflib.get_close_matches(str(name), names(), n=1)
        remedy = f"Did you mean {near[0]!r}? " if near else ""
        remedy += f"Use one of {', '.join(names())}."
        raise AnnotationError(Problem(f"There is no data set {name!r}.", remedy=remedy))
    return _TABLE[name]
