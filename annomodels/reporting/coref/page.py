"""The page on coreference: one HTML file that needs no network."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annomodels.plots.style import clean, short
from annomodels.reporting.coref import tables, words
from annomodels.reporting.coref.collect import CorefData
from annomodels.reporting.coref.figures import forest
from annomodels.reporting.sheet import basics, may_write, template, write

__all__ = ["page", "report"]

SECTIONS = (
    ("verdict", "Verdict"),
    ("agreement-section", "Agreement"),
    ("places", "Ambiguous places"),
    ("coders-section", "Coders"),
    ("silver-section", "Silver chains"),
    ("methods", "Methods and words"),
)


@dataclass(frozen=True)
class Place:
    """An expression in its context, with its readings: what, who, and how many of all."""

    where: str
    kind: str
    before: str
    text: str
    after: str
    readings: tuple[tuple[str, str, int], ...]
    of: int


def report(
    found: CorefData, path: str | os.PathLike[str], *, force: bool = False, command: str = ""
) -> Path:
    """Write the page on coreference.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.coref.collect.collect` gathered.
    path
        Where to write; the file appears when it is complete.
    force
        Whether an existing file is replaced.
    command
        The command line to show.

    Returns
    -------
    pathlib.Path
        Where the page is.

    Raises
    ------
    AnnotationError
        When the file exists and `force` is not set, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from annomodels.coref import document
    >>> from annomodels.reporting.coref.collect import collect
    >>> text = document("t", {"ana": [["a", "b"], ["c"]], "ben": [["a", "b", "c"]]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = report(collect(text, draws=100), f"{folder}/report.html")
    ...     made.read_text("utf-8").count("<section")
    6
    """
    target = Path(path)
    may_write(target, force)
    write(target, page(found, command))
    return target


def page(found: CorefData, command: str = "") -> str:
    """HTML of the page.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.coref.collect.collect` gathered.
    command
        The command line to show.
    """
    from annomodels import __version__

    names = [document.id for document in found.documents]
    tone, badge, sentence = words.badge(found)
    html: str = template("coref.html").render(
        **basics(),
        heading=short(names[0], 60) if len(names) == 1 else f"{len(names):,} texts",
        sections=SECTIONS,
        tone=tone,
        badge=badge,
        badge_sentence=short(sentence, 400),
        meta=words.meta(found, __version__),
        command=clean(command) or "from Python, no command was given",
        tiles=words.tiles(found),
        verdict=words.verdict(found),
        health=words.health(found),
        condition=found.condition,
        figure=forest(found),
        tables={name: getattr(tables, name)(found) for name in tables.__all__},
        kinds=[(kind, found.kinds().get(kind, 0), text) for kind, text in words.KINDS.items()],
        places=list(_places(found)),
        coder_notes=_coder_notes(found),
        model_notes=[] if found.fit is None else [short(s, 400) for s in found.fit.check()],
        at_least=found.at_least,
        unknown=words.UNKNOWN,
        too_sure=words.TOO_SURE,
        methods=words.methods(found),
        glossary=words.GLOSSARY,
    )
    return html


def _places(found: CorefData) -> Iterator[Place]:
    """Places in the order of the table, their readings together."""
    for (document, span), rows in found.readings.groupby(["document", "span"], sort=False):
        listed: list[Any] = list(rows.itertuples())
        first = listed[0]
        readings = tuple((short(r.reading, 200), short(r.coders, 200), int(r.n)) for r in listed)
        many = len(found.documents) > 1
        yield Place(
            f"{short(document, 50)}, words {span}" if many else f"words {span}",
            str(first.kind),
            clean(first.before),
            short(first.text, 200),
            clean(first.after),
            readings,
            int(first.of),
        )


def _coder_notes(found: CorefData) -> list[str]:
    if found.n_coders < 3:
        return ["With two coders, nobody can say which of them differs."]
    return []
