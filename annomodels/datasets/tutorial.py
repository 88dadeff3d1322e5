"""Small tables with which agreement is taught (Artstein & Poesio 2008; Carpenter & Poesio 2010)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from annomodels.data.annotations import Annotations
from annomodels.datasets.info import Dataset

SOURCE = (
    "Carpenter & Poesio (2010), Statistical models of the annotation process, tutorial at LREC; "
    "the measures are those of Artstein & Poesio (2008), Inter-coder agreement for computational "
    "linguistics, Computational Linguistics 34(4):555-596."
)
DOI = "10.1162/coli.07-034-R2"

TRAINS = Dataset(
    "trains",
    "25 items, 4 coders, 4 labels; the worked example of multi-coder kappa",
    SOURCE,
    DOI,
    "Observed agreement .88, K .8244.",
)

# Labels by coders 1 to 4 of items a to y.
TRAINS_TABLE = """
a Box Box Box Box         b Box Box Box Box         c E-2 E-2 E-2 E-2
d Tank Tank Tank Tank     e E-1 E-1 E-1 E-1         f E-1 Box E-1 E-1
g Tank Tank Tank Tank     h Box Box Box Box         i Box Box Box Box
j Box Box E-1 Box         k E-2 E-2 E-2 E-2         l Box Tank Box Box
m E-1 E-1 E-1 E-1         n Tank Tank Tank Tank     o E-1 E-1 E-1 E-1
p E-2 E-2 E-2 Tank        q Box Box Box Box         r Box Box Box Box
s E-1 E-1 Tank E-1        t Box Box Box Box         u Box Box Box Box
v E-1 E-1 E-1 E-1         w Tank Tank Tank Tank     x Box Box Box Box
y Box Box Box Tank
"""


def load_trains() -> Annotations:
    """Twenty-five items of the worked example."""
    cells = TRAINS_TABLE.split()
    rows = [
        (cells[start], str(coder), cells[start + coder])
        for start in range(0, len(cells), 5)
        for coder in range(1, 5)
    ]
    return Annotations.from_records(rows, labels=["Box", "Tank", "E-1", "E-2"], source="trains")


def load_table(name: str, labels: Sequence[str], counts: Sequence[Sequence[int]]) -> Annotations:
    """Expand a contingency table of two coders: row k, column l counts items labelled k and l."""
    rows: list[tuple[str, str, str]] = []
    item = 0
    for first, line in zip(labels, counts, strict=True):
        for second, count in zip(labels, line, strict=True):
            for _ in range(count):
                item += 1
                rows += [(str(item), "1", first), (str(item), "2", second)]
    return Annotations.from_records(rows, labels=labels, source=name)


def _table(
    name: str, title: str, note: str, labels: Sequence[str], counts: Sequence[Sequence[int]]
) -> tuple[Dataset, Callable[[], Annotations]]:
    return Dataset(name, title, SOURCE, DOI, note), partial(load_table, name, labels, counts)


TABLES = (
    _table(
        "boxcar",
        "100 items, 2 coders, boxcar or tanker",
        "Observed agreement .88.",
        ["Boxcar", "Tanker"],
        [[41, 3], [9, 47]],
    ),
    _table(
        "even",
        "100 items, 2 coders, two labels used equally often",
        "Observed agreement .88, S .76, pi .76; with two more labels that nobody uses, S rises.",
        ["A", "B"],
        [[44, 6], [6, 44]],
    ),
    _table(
        "skewed",
        "100 items, 2 coders, three labels, one of them on most items",
        "The observed agreement of `even`, but pi .65.",
        ["A", "B", "C"],
        [[77, 1, 2], [1, 6, 3], [2, 3, 5]],
    ),
    _table(
        "love",
        "1,000 uses of the word love, 2 coders, emotion or zero (as in tennis)",
        "Agreement 99 %, pi below 0: the coders never agree on a zero.",
        ["emotion", "zero"],
        [[990, 5], [5, 0]],
    ),
)
