"""Numbers, names and citations as text: few digits, Markdown or LaTeX, and sources.

The sources are in ``assets/references.bib``; a test fails if a cited source is missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from annomodels.data.columns import clean, decimal, percent, short
from annomodels.data.messages import messages_beside, note
from annomodels.data.names import label_text
from annomodels.summaries.notes import listed
from annomodels.summaries.trust.known_truth import jeffreys

if TYPE_CHECKING:
    from annomodels.summaries.trust.checks import Check


MESSAGES = messages_beside(__file__)
say = partial(note, MESSAGES)


def advised(check: Check) -> list[str]:
    """Return the sentences of a check, with remedies that they do not already name."""
    remedies = {found.said: str(found.remedy or "") for found in check.findings}
    out = []
    for sentence in check.sentences:
        remedy = remedies.get(sentence, "")
        out.append(sentence if remedy in sentence else f"{sentence} Fix: {remedy}.")
    return out


def number(value: float) -> str:
    """Format a count that may be fractional: one decimal below ten, none above.

    >>> number(3.456), number(57.8), number(12345.0), number(float("nan"))
    ('3.5', '58', '12,345', '–')
    """
    if not math.isfinite(value):
        return "–"
    near = round(value, 1)
    return f"{near:.1f}" if 0 < near < 10 and near != int(near) else f"{value:,.0f}"


def interval(low: float, high: float) -> str:
    """Format an interval of counts, rounded outward; "no interval" if it is not finite.

    >>> interval(12, 19.2), interval(float("nan"), 1.0)
    ('95 % interval 12 to 20', 'no interval')
    """
    return whole_ends(low, high, "95 % interval {}") or "no interval"


def whole_ends(low: float, high: float, form: str = "{}") -> str:
    """Write the ends of an interval of counts, rounded outward; empty without one."""
    if not math.isfinite(low + high):
        return ""
    return form.format(f"{math.floor(low):,} to {math.ceil(high):,}")


def share_with(value: float, low: float, high: float) -> str:
    """Format a share as percent with its interval, with digits that the interval supports.

    >>> share_with(0.2, 0.134, 0.284), share_with(0.9931, 0.9894, 0.9959)
    ('20 % (13 % to 28 %)', '99.3 % (98.9 % to 99.6 %)')
    >>> share_with(0.2, float("nan"), float("nan"))
    '20 %'
    """
    if not math.isfinite(low + high):
        return percent(value, 0)
    digits = 0 if high - low >= 0.02 else None
    return f"{percent(value, digits)} ({percent(low, digits)} to {percent(high, digits)})"


def with_interval(value: float, low: float, high: float, *, name: str = "") -> str:
    """Format a number with its interval, if it has one.

    >>> with_interval(0.7, 0.6, 0.8), with_interval(0.7, float("nan"), float("nan"))
    ('0.70 (0.60 to 0.80)', '0.70')
    """
    ends = f" ({name}{decimal(low)} to {decimal(high)})" if math.isfinite(low) else ""
    return f"{decimal(value)}{ends}"


def share_interval(k: int, n: int) -> str:
    """Return the 95 % interval of k / n under Jeffreys' prior, in percent.

    >>> share_interval(785, 800)
    '97.0 % to 98.9 %'
    """
    return " to ".join(map(percent, jeffreys(k, n)))


def coders_listed(names: Iterable[str]) -> str:
    """List coders in a sentence, after the word "coder" if a name is only a number.

    >>> coders_listed(["w1", "w2"]), coders_listed(["5", "1"]), coders_listed(["5"])
    ('w1 and w2', 'coders 5 and 1', 'coder 5')
    """
    shown = [short(name, 24) for name in names]
    word = "coders " if len(shown) > 1 else "coder "
    return word * any(name.isdecimal() for name in shown) + listed(shown)


_ENTRY = re.compile(r"^@(\w+)\{(\w+),\n(.*?)\n\}$", re.M | re.S)
_FIELD = re.compile(r"^  (\w+) = \{(.*)\},?$", re.M)
_PLACES = ("journal", "booktitle", "institution", "publisher", "howpublished")
# Markers in a sentence until its output format is known.
_NAME, _CITE, _END = "\ue000", "\ue001", "\ue002"
_MARKED = re.compile(f"([{_NAME}{_CITE}])([^{_END}]*){_END}")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "–": "--",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "…": r"\ldots{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


@dataclass(frozen=True)
class Citation:
    key: str
    kind: str
    author: str
    title: str
    year: str
    rest: tuple[tuple[str, str], ...]

    @property
    def short(self) -> str:
        """Authors and year, as cited in a sentence."""
        if not self.year:
            return self.author.strip("{}")
        names = [author.partition(",")[0] for author in self.author.split(" and ")]
        several = len(names) > 2 or names[-1] == "others"
        who = f"{names[0]} et al." if several else " & ".join(names)
        return f"{who} {self.year}"

    @property
    def doi(self) -> str:
        return dict(self.rest).get("doi", "")

    @property
    def bibtex(self) -> str:
        fields = [("author", self.author), ("title", f"{{{self.title}}}"), ("year", self.year)]
        found = [(name, value) for name, value in [*fields, *self.rest] if value]
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in found)
        return f"@{self.kind}{{{self.key},\n{body}\n}}"

    @property
    def text(self) -> str:
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
        title = self.title.replace("{", "").replace("}", "")
        return " ".join(filter(None, [f"{authors}{year}. {title}. {where}.", link]))


@cache
def sources() -> dict[str, Citation]:
    """Return all sources by key, in file order."""
    text = (Path(__file__).parent / "assets" / "references.bib").read_text("utf-8")
    found = {}
    for kind, key, body in _ENTRY.findall(text):
        fields = dict(_FIELD.findall(body))
        author, title, year = (fields.pop(name, "") for name in ("author", "title", "year"))
        found[key] = Citation(key, kind, author, title, year, tuple(fields.items()))
    return found


def by_doi(doi: str) -> Citation | None:
    return next((source for source in sources().values() if doi and source.doi == doi), None)


def by_citation(citation: str) -> tuple[Citation, ...]:
    """Return the sources in the citation of a model; this software if there are none.

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


def sources_of(keys: Iterable[str]) -> list[Citation]:
    return [sources()[key] for key in dict.fromkeys(keys)]


def cite(*keys: str) -> str:
    """Cite sources in brackets at this point of a sentence.

    >>> as_markdown(f"as usual {cite('rubin1981', 'artstein2008')}.")
    'as usual (Rubin 1981; Artstein & Poesio 2008).'
    """
    return f"{_CITE}{','.join(keys)}{_END}"


def name(value: object) -> str:
    """Mark the name of a label or coder in a sentence, shortened if long."""
    text = " ".join(label_text(value).split())
    for mark in (_NAME, _CITE, _END):
        text = text.replace(mark, "")
    return f"{_NAME}{text if len(text) <= 40 else text[:37] + '...'}{_END}"


def cited_in(texts: list[str]) -> list[str]:
    """Return the keys of the sources that texts cite, in order and without duplicates."""
    found = (m[2].split(",") for text in texts for m in _MARKED.finditer(text) if m[1] == _CITE)
    return list(dict.fromkeys(key for keys in found for key in keys))


_MARKDOWN = "\\`*_{}[]<>|#"


def as_markdown(text: str) -> str:
    """Write citations as author and year, and escape names."""

    def plain(match: re.Match[str]) -> str:
        if match[1] == _CITE:
            return f"({'; '.join(sources()[key].short for key in match[2].split(','))})"
        return escaped(match[2])

    return _MARKED.sub(plain, text)


def escaped(text: str) -> str:
    r"""Escape characters that are special in Markdown or embedded HTML.

    >>> print(escaped("a|<b>"))
    a\|\<b\>
    """
    return "".join(f"\\{sign}" if sign in _MARKDOWN else sign for sign in text)


def unescaped(text: str) -> str:
    for sign in _MARKDOWN[1:] + _MARKDOWN[0]:
        text = text.replace(f"\\{sign}", sign)
    return clean(text.strip())


def as_latex(text: str) -> str:
    """Write citations for natbib, and escape text for LaTeX."""
    out, at = [], 0
    for match in _MARKED.finditer(text):
        out.append(latex(text[at : match.start()]))
        out.append(f"\\citep{{{match[2]}}}" if match[1] == _CITE else latex(match[2]))
        at = match.end()
    return "".join([*out, latex(text[at:])]).replace(" \\%", "~\\%")


def markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[bool]
) -> str:
    rule = "|".join("---:" if number else "---" for number in numeric)
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])


def latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)
