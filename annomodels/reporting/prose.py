"""Sentences with citations and names in them, which become Markdown or LaTeX."""

from __future__ import annotations

import re
from typing import Any

from annomodels.data.names import label_text
from annomodels.plots.style import clean
from annomodels.reporting.bibliography import sources

# Marks that stand in a sentence until it is known what it becomes.
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


def cite(*keys: str) -> str:
    """Cite sources, in brackets, at this place of a sentence.

    Examples
    --------
    >>> as_markdown(f"as usual {cite('rubin1981', 'artstein2008')}.")
    'as usual (Rubin 1981; Artstein & Poesio 2008).'
    """
    return f"{_CITE}{','.join(keys)}{_END}"


def name(value: Any) -> str:
    r"""Put the name of a label or coder into a sentence, cut where it is long.

    Examples
    --------
    >>> print(as_markdown(name("_a*b_")), as_latex(name("_a*b_")))
    \_a\*b\_ \_a*b\_
    """
    text = " ".join(label_text(value).split())
    for mark in (_NAME, _CITE, _END):
        text = text.replace(mark, "")
    return f"{_NAME}{text if len(text) <= 40 else text[:37] + '...'}{_END}"


def cited_in(texts: list[str]) -> list[str]:
    """Keys of the sources that texts cite, in order and each once.

    Examples
    --------
    >>> cited_in([cite("rubin1981"), cite("gwet2008", "rubin1981")])
    ['rubin1981', 'gwet2008']
    """
    found = (m[2].split(",") for text in texts for m in _MARKED.finditer(text) if m[1] == _CITE)
    return list(dict.fromkeys(key for keys in found for key in keys))


def as_markdown(text: str) -> str:
    """Write citations as author and year, and escape names."""

    def plain(match: re.Match[str]) -> str:
        if match[1] == _CITE:
            return f"({'; '.join(sources()[key].short for key in match[2].split(','))})"
        return "".join(f"\\{c}" if c in "\\`*_{}[]<>|#" else c for c in match[2])

    return _MARKED.sub(plain, text)


def unescaped(text: str) -> str:
    """Markdown as plain text."""
    for sign in "`*_{}[]<>|#\\":
        text = text.replace(f"\\{sign}", sign)
    return clean(text.strip())


def as_latex(text: str) -> str:
    r"""Write citations for natbib, and escape what LaTeX would read as a command.

    Parameters
    ----------
    text
        A sentence or more.

    Examples
    --------
    >>> print(as_latex(f"95 % {cite('rubin1981')}"))
    95~\% \citep{rubin1981}
    """
    out, at = [], 0
    for match in _MARKED.finditer(text):
        out.append(latex(text[at : match.start()]))
        out.append(f"\\citep{{{match[2]}}}" if match[1] == _CITE else latex(match[2]))
        at = match.end()
    return "".join([*out, latex(text[at:])]).replace(" \\%", "~\\%")


def latex(text: str) -> str:
    r"""Escape text for LaTeX.

    Examples
    --------
    >>> print(latex("a_b & 5 %"))
    a\_b \& 5 \%
    """
    return "".join(_LATEX.get(sign, sign) for sign in text)
