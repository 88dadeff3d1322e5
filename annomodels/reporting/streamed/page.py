"""The page on a streamed fit: one HTML file that needs no network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.plots.style import clean, short
from annomodels.reporting import belief, figures, money, sections
from annomodels.reporting import tables as shared
from annomodels.reporting.figures import Picture
from annomodels.reporting.glossary import GLOSSARY
from annomodels.reporting.matrices import matrices
from annomodels.reporting.prose import as_markdown
from annomodels.reporting.sheet import BADGES, basics, template
from annomodels.reporting.streamed import methods, tables, words
from annomodels.reporting.streamed.collect import StreamData

if TYPE_CHECKING:
    from collections.abc import Hashable

    import xarray as xr

__all__ = ["page"]

SECTIONS = (
    ("verdict", "Verdict"),
    ("data", "What was read"),
    ("coders-section", "Coders"),
    ("gold", "Gold standard"),
    ("believe", "Can I believe this?"),
    ("left-out", "What is not here"),
    ("methods", "Methods and words"),
)
# words of sections that only fits in memory have
ELSEWHERE = {"Surprise p", "Contested", "Agreement coefficient", "Reducible doubt"}


@dataclass(frozen=True, eq=False)
class _Given:
    """How often each label was given, as the figure of the shares asks for it."""

    labels: tuple[Hashable, ...]
    votes: NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.votes.sum())


@dataclass(frozen=True, eq=False)
class _Shares:
    """The part of a fit that the figure of the shares looks at."""

    tree: xr.DataTree
    data: _Given


def page(found: StreamData, command: str = "") -> str:
    """HTML of the page.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.streamed.collect.collect` gathered.
    command
        The command line to show.
    """
    from annomodels import __version__

    tone, badge = BADGES[found.check.verdict]
    shown, said = matrices(found)
    source = short(Path(found.fit.data.source).name, 80) if found.fit.data.source else ""
    html: str = template("streamed.html").render(
        **basics(),
        title=f"Annotation report · {source}" if source else "Annotation report",
        heading=source or "What the labels are worth",
        sections=SECTIONS,
        tone=tone,
        badge=badge,
        badge_sentence=short(found.check.sentences[0], 400) if found.check.sentences else "",
        meta=sections.meta(found, __version__),
        command=clean(command) or "from Python, no command was given",
        tiles=words.key_numbers(found),
        verdict=list(zip(words.KEYS, words.sentences(found), strict=True)),
        sizes=sections.sizes(found),
        health=words.health_notes(found),
        figures=_pictures(found),
        tables={
            "coders": shared.coders(found),
            "labels": tables.labels(found),
            "thresholds": money.thresholds(found),
            "items": tables.items(found),
            "checks": shared.checks(found),
        },
        coder_notes=[short(note, 400) for note in found.coders.notes],
        matrices=shown,
        matrices_said=said,
        check_sentences=[short(sentence, 400) for sentence in found.check.sentences],
        honest=belief.ALIKE,
        left_out=words.LEFT_OUT,
        methods=[sections.unescaped(as_markdown(text)) for text in methods.paragraphs(found)],
        references=[source.text for source in methods.references(found)],
        bibtex="\n\n".join(source.bibtex for source in methods.references(found)).rstrip(),
        glossary=[pair for pair in GLOSSARY if pair[0] not in ELSEWHERE],
    )
    return html


def _pictures(found: StreamData) -> dict[str, Picture]:
    """Draw the figures that need no label."""
    fit = found.fit
    given = _Given(fit.data.labels, fit.data.per_label[None])
    out = {
        "coders": figures.coders(found),
        "prevalence": figures.prevalence(_Shares(fit.tree, given)),
    }
    if fit.tree["sample_stats"].sizes["draw"] >= 20:
        out["ranks"] = figures.ranks(found)
    return out
