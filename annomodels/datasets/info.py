"""What is told about a bundled data set."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dataset:
    """Where a data set comes from.

    Parameters
    ----------
    name
        Name for :func:`annomodels.datasets.load`.
    title
        What it is.
    source
        Where it was printed.
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
