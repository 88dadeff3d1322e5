"""The page a lead forwards: one HTML file, written whole or not at all."""

from __future__ import annotations

import base64
import functools
import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annomodels.errors import AnnotationError, Problem
from annomodels.plots.style import clean, short
from annomodels.report import belief, money, scheme, sections, tables
from annomodels.report.anonymous import anonymised
from annomodels.report.collect import BUDGET, ReportData, collect
from annomodels.report.figures import pictures
from annomodels.report.glossary import GLOSSARY
from annomodels.report.grid import Table
from annomodels.report.matrices import matrices
from annomodels.report.once import Once
from annomodels.report.verdict import KEYS, sentences

if TYPE_CHECKING:
    from annomodels.fitting import Fit

__all__ = ["page", "report", "verdict"]

_ASSETS = Path(__file__).parent / "assets"
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
_BADGES = {
    "trust": ("trust", "✓ Trust"),
    "check": ("check", "! Check"),
    "do not use": ("not", "✕ Do not use"),
}


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
        A fit.
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
        compared, or when no item of `known` can test anything.

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
    _may_write(path, force)
    shown = anonymised(fit) if anonymise else fit
    found = collect(shown, target, others=others, known=known)
    told = "not shown" if anonymise else command or str(fit.tree.attrs.get("command", ""))
    _write(path, page(found, told))
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
        What :func:`annomodels.report.collect.collect` gathered.
    command
        The command line to show.
    """
    from annomodels import __version__

    script = (_ASSETS / "script.js").read_text("utf-8").strip()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    tone, badge = _BADGES[found.check.verdict]
    shown, said = matrices(found)
    paragraphs, references, bibtex = sections.methods_parts(found)
    source = short(Path(found.data.source).name, 80) if found.data.source else ""
    html: str = _template().render(
        version=__version__,
        script=script,
        script_hash=f"sha256-{digest}",
        style=(_ASSETS / "style.css").read_text("utf-8").strip(),
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
    return {name: make(found) for name, make in own.items()}


def _clean(notes: Any) -> list[str]:
    return [short(note, 400) for note in notes]


@functools.cache
def _template() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


def _may_write(path: Path, force: bool) -> None:
    """Say before the work what would stop the writing after it."""
    if path.is_dir():
        what = "This is a folder, and the page is a file."
        raise AnnotationError(Problem(what, str(path), f"Give {path / 'report.html'}."))
    if path.exists() and not force:
        remedy = "Give another name, or say force=True (--force) to replace it."
        raise AnnotationError(Problem("The file exists already.", str(path), remedy))
    if not path.parent.is_dir():
        remedy = "Make the folder first, or choose one that exists."
        raise AnnotationError(Problem("There is no such folder.", str(path.parent), remedy))


def _write(path: Path, text: str) -> None:
    try:
        handle, name = tempfile.mkstemp(suffix=".html", prefix=f".{path.name}-", dir=path.parent)
        try:
            with open(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.chmod(name, 0o644)
            os.replace(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise AnnotationError(
            Problem(
                f"The page could not be written: {error.strerror or error}.",
                str(path),
                "Free some space, or choose a folder that can be written to.",
            )
        ) from error
