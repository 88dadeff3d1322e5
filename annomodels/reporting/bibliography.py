"""What to cite: sources with a short form, a reference and a BibTeX entry.

The entries stand in ``assets/references.bib``; a source that is cited but is not in that file fails
the tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ENTRY = re.compile(r"^@(\w+)\{(\w+),\n(.*?)\n\}$", re.M | re.S)
_FIELD = re.compile(r"^  (\w+) = \{(.*)\},?$", re.M)
_PLACES = ("journal", "booktitle", "institution", "publisher", "howpublished")


@dataclass(frozen=True)
class Source:
    """One publication."""

    key: str
    kind: str
    author: str
    title: str
    year: str
    rest: tuple[tuple[str, str], ...]

    @property
    def short(self) -> str:
        """Authors and year as they stand in a sentence.

        Examples
        --------
        >>> [sources()[key].short for key in ("rubin1981", "gwet2008", "dawid1979", "paun2018")]
        ['Rubin 1981', 'Gwet 2008', 'Dawid & Skene 1979', 'Paun et al. 2018']
        """
        if not self.year:
            return self.key
        names = [author.partition(",")[0] for author in self.author.split(" and ")]
        several = len(names) > 2 or names[-1] == "others"
        who = f"{names[0]} et al." if several else " & ".join(names)
        return f"{who} {self.year}"

    @property
    def doi(self) -> str:
        """The DOI, or an empty text."""
        return dict(self.rest).get("doi", "")

    @property
    def bibtex(self) -> str:
        """The BibTeX entry.

        Examples
        --------
        >>> print(sources()["rubin1981"].bibtex.splitlines()[0])
        @article{rubin1981,
        """
        fields = [("author", self.author), ("title", f"{{{self.title}}}"), ("year", self.year)]
        found = [(name, value) for name, value in [*fields, *self.rest] if value]
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in found)
        return f"@{self.kind}{{{self.key},\n{body}\n}}"

    @property
    def text(self) -> str:
        """The reference as a sentence."""
        rest = dict(self.rest)
        where = next((rest[name] for name in _PLACES if name in rest), "")
        if "volume" in rest:
            number = f"({rest['number']})" if "number" in rest else ""
            where += f" {rest['volume']}{number}"
        if "pages" in rest:
            where += f", {rest['pages'].replace('--', '–')}"
        link = rest.get("url", f"https://doi.org/{self.doi}" if self.doi else "")
        authors = self.author.strip("{}").replace(" and ", "; ").replace("; others", " et al.")
        year = f" ({self.year})" if self.year else ""
        return " ".join(filter(None, [f"{authors}{year}. {self.title}. {where}.", link]))


@cache
def sources() -> dict[str, Source]:
    """All sources by key, in the order of the file.

    Examples
    --------
    >>> sources()["cohen1960"].text
    'Cohen, Jacob (1960). A coefficient of agreement for nominal scales. Educational and
    Psychological Measurement 20(1), 37–46. https://doi.org/10.1177/001316446002000104'
    """
    text = (Path(__file__).parent / "assets" / "references.bib").read_text("utf-8")
    found = {}
    for kind, key, body in _ENTRY.findall(text):
        fields = dict(_FIELD.findall(body))
        author, title, year = (fields.pop(name, "") for name in ("author", "title", "year"))
        found[key] = Source(key, kind, author, title, year, tuple(fields.items()))
    return found


def by_doi(doi: str) -> Source | None:
    """Give the source with a DOI."""
    return next((source for source in sources().values() if doi and source.doi == doi), None)


def by_citation(citation: str) -> tuple[Source, ...]:
    """Give the sources that a model names; the software itself for no other.

    Parameters
    ----------
    citation
        A DOI, or first author and year, such as "Hovy et al. (2013)"; also several of these.

    Examples
    --------
    >>> [source.key for source in by_citation("doi:10.2307/2346806")]
    ['dawid1979']
    >>> [source.key for source in by_citation("this package, after Hovy et al. (2013)")]
    ['hovy2013', 'annomodels']
    """
    found = []
    exact = by_doi(citation.removeprefix("doi:"))
    if exact is not None:
        return (exact,)
    for part, year in re.findall(r"([^(]*)\((\d{4})\)", citation):
        words = set(re.findall(r"[\w'’-]+", part))
        found += [
            source
            for source in sources().values()
            if source.year == year and source.author.partition(",")[0] in words
        ]
    if not found or "this package" in citation:
        found.append(sources()["annomodels"])
    return tuple(found)


def sources_of(keys: Iterable[str]) -> list[Source]:
    """Give sources by their keys, each once."""
    return [sources()[key] for key in dict.fromkeys(keys)]
