"""The page a lead forwards: one HTML file, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annomodels.errors import NotApplicable
from annomodels.plots.style import clean, short
from annomodels.reporting import belief, money, scheme, sections, tables
from annomodels.reporting.anonymous import anonymised
from annomodels.reporting.collect import BUDGET, ReportData, collect
from annomodels.reporting.figures import pictures
from annomodels.reporting.glossary import GLOSSARY
from annomodels.reporting.grid import Table
from annomodels.reporting.matrices import matrices
from annomodels.reporting.once import Once
from annomodels.reporting.sheet import BADGES, basics, may_write, template, write
from annomodels.reporting.streamed.collect import collect as collect_streamed
from annomodels.reporting.streamed.page import page as streamed_page
from annomodels.reporting.verdict import KEYS, sentences

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

__all__ = ["page", "report", "verdict"]

_SECTIONS = (
    ("verdict", "Verdict"),
    ("data", "Data health"),
    ("agreement-section", "Agreement"),
    ("coders-section", "Coders"),
    ("items-section", "Items"),
    ("scheme", "Label scheme"),
    ("money", "Gold and money"),
    ("believe", "Can I believe this?"),
    ("methods", "Methods and words"),
)


def report(
    fit: Fit | Once,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    command: str = "",
    anonymise: bool = False,
    target: float | None = None,
    others: Sequence[Fit] = (),
    known: Mapping[Any, Any] | None = None,
) -> Path:
    """Write the page on a fit: one HTML file that needs no network.

    Parameters
    ----------
    fit
        A fit; of one of a scan, the page says what can be known without the labels in memory.
    path
        Where to write; the file appears when it is complete.
    force
        Whether an existing file is replaced.
    command
        The command line to show; without it, the one kept in the fit.
    anonymise
        Whether to call the coders "coder 1" to "coder J" and to drop names of files.
    target
        Accuracy asked of the coders, between 0 and 1.
    others
        Fits of other models to the same data: the page compares them with this one.
    known
        Truth by name of item that was held back from the fit: the page compares the gold labels
        with it.

    Returns
    -------
    pathlib.Path
        Where the page is.

    Raises
    ------
    AnnotationError
        When the file exists and `force` is not set, or cannot be written.
    NotApplicable
        When the target is not between 0 and 1, when `others` are of other data or too short to be
        compared, when no item of `known` can test anything, or when the fit is of a scan and one
        of these is given.

    Examples
    --------
    >>> import tempfile, annomodels as am
    >>> rows = [(i, j, int(i % 2 == 0 or j == i)) for i in range(6) for j in range(3)]
    >>> fit = am.fit(am.Annotations.from_records(rows), chains=2, draws=200, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = report(fit, f"{folder}/report.html")
    ...     page.stat().st_size < 600_000
    True
    """
    path = Path(path)
    may_write(path, force)
    shown = anonymised(fit) if anonymise else fit
    told = "not shown" if anonymise else command or str(fit.tree.attrs.get("command", ""))
    if fit.truth is not None:
        if others or known:
            what = "Comparisons and held-back truth need the labels in memory"
            raise NotApplicable(f"{what}, and this fit is of a scan: leave out others= and known=.")
        write(path, streamed_page(collect_streamed(shown, target), told))
    else:
        write(path, page(collect(shown, target, others=others, known=known), told))
    return path


def verdict(fit: Fit, target: float | None = None) -> list[str]:
    """Say the verdict on a fit in five plain sentences.

    Parameters
    ----------
    fit
        A fit.
    target
        Accuracy asked of the coders.

    Returns
    -------
    list of str
        Size; settled gold; wrong labels to be expected; coders; items and the cheapest next step.
    """
    return sentences(collect(fit, target))


def page(found: ReportData, command: str = "") -> str:
    """HTML of the page.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.collect.collect` gathered.
    command
        The command line to show.
    """
    from annomodels import __version__

    tone, badge = BADGES[found.check.verdict]
    shown, said = matrices(found)
    paragraphs, references, bibtex = sections.methods_parts(found)
    source = short(Path(found.data.source).name, 80) if found.data.source else ""
    html: str = template("page.html").render(
        **basics(),
        title=f"Annotation report · {source}" if source else "Annotation report",
        heading=source or "What the labels are worth",
        sections=_SECTIONS,
        tone=tone,
        badge=badge,
        badge_sentence=short(found.check.sentences[0], 400) if found.check.sentences else "",
        meta=sections.meta(found, __version__),
        command=clean(command) or "from Python, no command was given",
        tiles=sections.key_numbers(found),
        verdict=list(zip(KEYS, sentences(found), strict=True)),
        sizes=sections.sizes(found),
        groups=sections.groups(found),
        health=sections.health_notes(found),
        figures=pictures(found),
        tables=_tables(found),
        agreement_notes=sections.agreement_notes(found),
        coder_notes=_clean(found.coders.notes),
        matrices=shown,
        matrices_said=said,
        item_notes=_clean(found.items.notes[1:]),
        check_sentences=_clean(found.check.sentences),
        predictive_notes=_clean(found.predictive.notes),
        honest=belief.honest(found),
        scheme_notes=scheme.scheme_notes(found),
        next_notes=_clean(found.following.notes),
        calibration_notes=money.calibration_notes(found),
        budget=BUDGET,
        comparison_notes=belief.comparison_notes(found),
        prior_notes=belief.prior_notes(found),
        methods=paragraphs,
        references=references,
        bibtex=bibtex,
        glossary=GLOSSARY,
    )
    return html


def _tables(found: ReportData) -> dict[str, Table]:
    """Tables of the page by the names of the functions that make them."""
    own = {name: getattr(tables, name) for name in tables.__all__}
    own |= {"labels": scheme.labels, "pairs": scheme.pairs}
    own |= {"thresholds": money.thresholds, "calibration": money.calibration}
    own |= {"next": money.next_items, "ask": money.ask, "comparison": belief.comparison}
    own["priors"] = belief.priors
    return {name: make(found) for name, make in own.items()}


def _clean(notes: Any) -> list[str]:
    return [short(note, 400) for note in notes]
