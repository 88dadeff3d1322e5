"""Small data sets for learning and testing: printed figures, and one simulated crowd.

Each is a table (``NAME.tsv``: a row per item, or per pattern with its number ``n``), described in
``about.toml``. May import errors, validation, coding and annotations.

>>> from annomodels import datasets
>>> datasets.load("trains")
25 items × 4 coders × 4 labels · 100 annotations · complete
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from annomodels.data.annotations import Annotations
from annomodels.errors import AnnotationError, Problem, meant

__all__ = ["CrowdTruth", "Dataset", "about", "all_about", "crowd_truth", "load", "names"]

_HERE = Path(__file__).parent
_ABOUT_ITEMS = ("item", "text", "group", "truth")
_TWO_READINGS = "two readings"


@dataclass(frozen=True)
class Dataset:
    """Source of a data set.

    Parameters
    ----------
    name
        Name for :func:`annomodels.datasets.load`.
    title
        Description in a few words.
    source
        Publication that it was printed in.
    doi
        DOI of the source, or empty.
    note
        What to know before using it.
    """

    name: str
    title: str
    source: str
    doi: str = ""
    note: str = ""

    def __str__(self) -> str:
        doi = f" doi:{self.doi}" if self.doi else ""
        return f"{self.name}: {self.title}\n  {self.source}{doi}\n  {self.note}".rstrip()


@dataclass(frozen=True)
class CrowdTruth:
    """Planted truth of the crowd.

    Parameters
    ----------
    truth
        True label of each item that has one.
    ambiguous
        Items with two readings. They have no true label; any gold label is neither right nor wrong.
    spammers
        Coders whose labels have no information about the truth.
    adversary
        Coder who swaps pos and neg.
    share_right
        Share of right labels among those that a coder gave to items with a true label.
    """

    truth: Mapping[str, str]
    ambiguous: frozenset[str]
    spammers: frozenset[str]
    adversary: str
    share_right: Mapping[str, float]


def names() -> tuple[str, ...]:
    """Return the names of the data sets.

    Examples
    --------
    >>> names()
    ('anesthesia', 'boxcar', 'caries', 'crowd', 'even', 'love', 'skewed', 'trains')
    """
    return tuple(sorted(_catalog()))


def load(name: str) -> Annotations:
    """Load a data set.

    Parameters
    ----------
    name
        One of :func:`names`.

    Raises
    ------
    AnnotationError
        If there is no data set of that name.

    Examples
    --------
    >>> load("anesthesia")
    45 items × 5 coders × 4 labels · 315 annotations · complete · 90 repeats · ordinal
    """
    said = _found(name)
    rows = _rows(name)
    cells = [
        (item, coder, label)
        for item, row in rows.items()
        for coder, label in row
        if label and coder not in _ABOUT_ITEMS
    ]
    items, coders, labels = (list(column) for column in zip(*cells, strict=True))
    beside = {item: dict(row) for item, row in rows.items()}
    return Annotations._from_columns(
        items,
        coders,
        labels,
        labels=said["labels"],
        scale=said.get("scale", "nominal"),
        texts={item: row["text"] for item, row in beside.items() if "text" in row} or None,
        group={item: row["group"] for item, row in beside.items() if "group" in row} or None,
        source=name,
    )


def about(name: str) -> Dataset:
    """Return where a data set comes from.

    Parameters
    ----------
    name
        One of :func:`names`.

    Raises
    ------
    AnnotationError
        If there is no data set of that name.

    Examples
    --------
    >>> about("caries").doi
    '10.2307/2531847'
    """
    said = _found(name)
    return Dataset(name, *(said[field] for field in ("title", "source", "doi", "note")))


def all_about() -> tuple[Dataset, ...]:
    """Return where each data set comes from, sorted by name."""
    return tuple(map(about, names()))


def crowd_truth() -> CrowdTruth:
    """Return the planted truth of the crowd.

    Examples
    --------
    >>> from annomodels.datasets import crowd_truth, load
    >>> planted = crowd_truth()
    >>> sorted(planted.spammers), planted.adversary, len(planted.ambiguous)
    (['w05', 'w12'], 'w08', 8)
    >>> load("crowd").with_truth(planted.truth).gold.size
    200
    """
    planted = _catalog()["crowd"]["planted"]
    beside = {item: dict(row) for item, row in _rows("crowd").items()}
    truth = {item: row["truth"] for item, row in beside.items() if row["truth"] != _TWO_READINGS}
    right: dict[str, list[bool]] = {}
    for item, true in truth.items():
        for coder, label in beside[item].items():
            if label and coder not in _ABOUT_ITEMS:
                right.setdefault(coder, []).append(label == true)
    return CrowdTruth(
        MappingProxyType(truth),
        frozenset(beside) - frozenset(truth),
        frozenset(planted["spammers"]),
        planted["adversary"],
        MappingProxyType({coder: sum(each) / len(each) for coder, each in sorted(right.items())}),
    )


@cache
def _catalog() -> dict[str, dict[str, Any]]:
    return tomllib.loads((_HERE / "about.toml").read_text("utf-8"))


@cache
def _rows(name: str) -> dict[str, list[tuple[str, str]]]:
    """Return column and cell of each item, by column order; a coder may have several."""
    text = (_HERE / f"{name}.tsv").read_text("utf-8")
    header, *rows = (line.split("\t") for line in text.splitlines())
    if header[-1] == "n":
        rows = [row for row in rows for _ in range(int(row[-1]))]
        return {str(n): list(zip(header, row, strict=True))[:-1] for n, row in enumerate(rows, 1)}
    return {row[0]: list(zip(header, row, strict=True)) for row in rows}


def _found(name: str) -> dict[str, Any]:
    if name not in _catalog():
        remedy = f"{meant(name, names())}Use one of {', '.join(names())}."
        raise AnnotationError(Problem(f"No data set is called {name!r}.", remedy=remedy))
    return _catalog()[name]
