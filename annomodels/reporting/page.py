"""Report page: one HTML file with script and style, written atomically; index of several pages."""

from __future__ import annotations

import base64
import functools
import hashlib
import math
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from annomodels import __version__
from annomodels.auditing.spans import is_of_spans
from annomodels.data.columns import clean, percent, short
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, NotApplicable, Option
from annomodels.io.writing import atomic_path
from annomodels.reporting.anonymous import anonymized
from annomodels.reporting.explorer import packed, payload
from annomodels.reporting.facts import Facts, Shown
from annomodels.reporting.parts import BADGES, Part, Section
from annomodels.reporting.sections import sections_of
from annomodels.reporting.spans import SpanFacts, head
from annomodels.reporting.spans import payload as payload_of_spans
from annomodels.reporting.words import (
    share_interval,
    with_interval,
)

if TYPE_CHECKING:
    from jinja2 import Template

    from annomodels.data.document import Corpus
    from annomodels.fitting.fit import Fit
    from annomodels.reporting.links import LinkFacts
    from annomodels.spans.fit import SpanFit


LEFT_OUT = "Parts that pages have for other data and other models."
ASSETS = Path(__file__).parent / "assets"


def report(
    fit: Fit | SpanFit,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    command: str = "",
    anonymize: bool = False,
    target: float | None = None,
    others: Sequence[Fit] = (),
    truth: Mapping[Any, Any] | None = None,
    estimate: Any = None,
    texts: Corpus | None = None,
    shown: Shown | None = None,
    files: Mapping[str, str] | None = None,
) -> Path:
    """Write the report page of a fit: one HTML file that needs no network.

    Parameters
    ----------
    fit
        Any fit of labels in memory, streamed labels, numbers, links or spans. Parts that do not
        apply are left out and listed at the end of the page.
    path
        Path of the page. The file appears when it is complete.
    force
        Replace an existing file.
    command
        Command line to show. The default is the command stored in the fit.
    anonymize
        Rename the coders to "coder 1" to "coder J", and drop file names.
    target
        Required coder accuracy, between 0 and 1.
    others
        Fits of other models to the same data, which the page compares with this one.
    truth
        Held-out true labels by item name, which the page compares with the gold labels.
    estimate
        Result of :func:`annomodels.estimate` for this fit, which is the audited one. The page shows
        ``estimate.after(fit)`` and the results of the audit.
    texts
        Fitted documents, for a fit of links. The page then shows the words of silver chains,
        agreement and ambiguous places.
    shown
        Texts of the items, and further columns of the input, to show next to their labels.
    files
        Tables to download from the page, as text by file name.

    Returns
    -------
    pathlib.Path
        Path of the page.

    Raises
    ------
    AnnotationError
        If the file exists and `force` is not set, or if the estimate is from another fit.
    OutputError
        If the file cannot be written.
    NotApplicable
        If the target is not between 0 and 1, if `others` are fits of other data or too short to
        compare, if no item of `truth` can test the fit, if an option does not apply to the fit,
        such as a fit of streamed data, or if `texts` are given with `anonymize`.

    Examples
    --------
    >>> import tempfile, annomodels as am
    >>> rows = [(i, j, int(i % 2 == 0 or j == i)) for i in range(6) for j in range(3)]
    >>> fit = am.fit(am.Annotations.from_records(rows), "hierarchical", chains=2, draws=200, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = report(fit, f"{folder}/report.html")
    ...     page.stat().st_size < 600_000
    True
    """
    path = Path(path)
    may_write(path, force)
    if is_of_spans(fit):
        if anonymize or target is not None or others or truth or texts or shown:
            raise NotApplicable("A page on spans supports none of the options for items and links.")
        spans = SpanFacts(fit, estimate)
        write(path, page(spans, command or str(fit.tree.attrs.get("command", "")), files))
        return path
    of: Fit = fit
    if estimate is not None:
        of = estimate.after(of)
    of = anonymized(of) if anonymize else of
    told = "not shown" if anonymize else command or str(of.tree.attrs.get("command", ""))
    facts = Facts(of, target, others=others, known=truth, estimate=estimate, shown=shown)
    if texts is not None and (facts.truth != "link" or anonymize):
        why = "name their coders" if anonymize else "belong to fits of links"
        raise NotApplicable(f"Leave out {Option('texts')}: they {why}.")
    write(path, page(facts, told, files, texts))
    return path


def page(
    facts: Facts | LinkFacts | SpanFacts,
    command: str = "",
    files: Mapping[str, str] | None = None,
    texts: Corpus | None = None,
) -> str:
    """Return the HTML of a page with all sections that apply; `texts` are those of a link fit."""
    if isinstance(facts, Facts):
        _refuse(facts)
        if facts.truth == "link":
            from annomodels.data.document import documents_of
            from annomodels.reporting.links import LinkFacts

            facts = LinkFacts(() if texts is None else documents_of(texts), fit=facts.fit)
    shown: list[tuple[Section, list[Part]]] = []
    left_out: list[tuple[str, str]] = []
    if isinstance(facts, Facts):
        cover = _cover_of_fit(facts, command)
    elif isinstance(facts, SpanFacts):
        cover = _cover_of_spans(facts, command)
    else:
        cover = _cover_of_links(facts)
    for section in sections_of(facts.truth, audited=facts.estimate is not None):
        left_out += section.left_out(facts.unsupported)
        if not section.unsupported(facts.unsupported):
            shown.append((section, section.make(facts)))
    if left_out:
        words = Part("words", [(name, f"Left out: {reason}.") for name, reason in left_out])
        last = Section("left-out", "Left out", LEFT_OUT, lambda _: [words], details=True)
        shown.append((last, [words]))
    eyebrow, heading = cover["eyebrow"], cover["heading"]
    screen = [each.title for each, _ in shown if not each.printed]
    explored = any(part.kind == "explorer" for _, parts in shown for part in parts)
    screen += ["the list of all items"] * explored
    text: str = template("page.html").render(
        **{"data": "", **basics(), **cover},
        title=eyebrow if heading == eyebrow else f"{eyebrow} · {heading}",
        command=clean(command) or "from Python, no command was given",
        sections=[each for each in shown if not each[0].details],
        details=[each for each in shown if each[0].details],
        screen=screen,
        files=packed(files) if files else "",
    )
    return text


def _cover_of_fit(facts: Facts, command: str) -> dict[str, Any]:
    from annomodels.reporting.head import head
    from annomodels.reporting.sections.numbers import head as head_of_numbers

    fit, attrs, numbers = facts.fit, facts.tree.attrs, facts.truth == "number"
    chains, draws = (counted(int(attrs[f"{word}s"]), word) for word in ("chain", "draw"))
    meta = {
        "Data fingerprint": facts.fingerprint,
        "Model": fit.model.title,
        "Engine": f"{fit.engine}, {chains} of {draws}",
        "Seed": fit.seed,
        "Versions": _versions(str(attrs.get("annomodels", __version__))),
    }
    source = short(Path(facts.data.source).name, 80) if facts.data.source else ""
    return {
        "eyebrow": "Annotation report",
        "heading": source or "Annotation report",
        "head": (head_of_numbers if numbers else head)(facts),
        "meta": meta,
        "data": "" if numbers or facts.unsupported("items") else payload(facts, command),
    }


def _cover_of_links(facts: LinkFacts) -> dict[str, Any]:
    from annomodels.reporting.links import head

    fit, names = facts.fit, [document.id for document in facts.documents]
    heading = short(names[0], 60) if len(names) == 1 else f"{len(names):,} texts"
    if fit is not None and not names:
        heading = counted(fit.data.n_items, "mention")
    meta = {"Places judged by": facts.condition} if names else {}
    meta |= {
        "Model of silver chains": "none" if fit is None else f"{fit.model.title}, {fit.engine}",
        "Intervals": percent(facts.prob, 0),
        "Versions": _versions(__version__),
    }
    return {
        "eyebrow": "Coreference report", "heading": heading, "head": head(facts), "meta": meta,
    }  # fmt: skip


def _cover_of_spans(facts: SpanFacts, command: str) -> dict[str, object]:
    attrs, spans = facts.fit.tree.attrs, facts.fit.spans
    made = zip(("chain", "draw"), facts.fit.draws.log_density.shape, strict=True)
    chains, draws = (counted(size, word) for word, size in made)
    meta = {
        "Data": repr(spans),
        "Data fingerprint": facts.fingerprint,
        "Engine": f"{facts.fit.engine}, {chains} of {draws}",
        "Seed": facts.fit.seed,
        "Versions": _versions(str(attrs.get("annomodels", __version__))),
    }
    source = short(Path(spans.source).name, 80) if spans.source else ""
    return {
        "eyebrow": "Report on spans", "heading": source or "Report on spans", "head": head(facts),
        "meta": meta, "data": payload_of_spans(facts, command),
    }  # fmt: skip


def _versions(made: str) -> str:
    """Return the versions that computed the numbers and, if different, wrote the page."""
    other = "" if made == __version__ else f"; page by {__version__}"
    python = platform.python_version()
    return f"annomodels {made}, NumPy {np.__version__}, Python {python}{other}"


def _refuse(facts: Facts) -> None:
    for name, given, verb in (
        ("others=", facts.others, "compare"),
        (f"{Option('truth')}", facts.known, "items"),
        (f"{Option('target')}", facts.target, "plot.confusion"),
    ):
        if given and (reason := facts.unsupported(verb)):
            raise NotApplicable(f"Leave out {name}, which does not apply to this fit: {reason}.")


def basics() -> dict[str, str]:
    """Return the version, script with hash, and style, by their names in the templates."""
    script = (ASSETS / "script.js").read_text("utf-8").strip()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return {
        "version": __version__,
        "script": script,
        "script_hash": f"sha256-{digest}",
        "style": (ASSETS / "style.css").read_text("utf-8").strip(),
    }


@functools.cache
def template(name: str) -> Template:
    """Return a template by file name; it escapes names in the data."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def may_write(path: Path, force: bool) -> None:
    if path.is_dir():
        what = "This is a folder, but the page must be a file."
        raise AnnotationError(what, str(path), f"Give {path / 'report.html'}.")
    if path.is_file() and not force:
        remedy = f"Give another name, or use {Option('force', True)} to replace it."
        raise AnnotationError("The file already exists.", str(path), remedy)
    if not path.parent.is_dir():
        remedy = "Create the folder first, or choose one that exists."
        raise AnnotationError("The folder does not exist.", str(path.parent), remedy)


def write(path: Path, text: str) -> None:
    with atomic_path(path, force=True) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.chmod(0o644)


def row_of(question: str, href: str, fit: Fit) -> dict[str, str]:
    data = fit.data
    table = fit.agreement().table.set_index("coefficient")
    value, low, high = (
        float(table[name].get("alpha", math.nan)) for name in ("value", "low", "high")
    )
    # ordinal alpha is a different coefficient from nominal alpha, so the page names it
    kind = str(table["title"].get("alpha", "")).partition(", ")[2]
    n, settled = data.n_items, Facts(fit).settled
    sizes = (
        counted(data.n_items, "item"),
        counted(data.n_coders, "coder"),
        counted(data.n_labels, "label"),
    )
    return {
        "question": short(question, 120),
        "href": quote(href),
        "size": f"{', '.join(sizes)}; {len(data):,} given",
        "alpha": f"{with_interval(value, low, high)}{kind and ', ' + kind}",
        "settled": f"{percent(settled / n)} ({share_interval(settled, n)})",
        "verdict": fit.check().verdict,
    }


def index_page(
    rows: list[dict[str, str]], source: str = "", left_out: Mapping[str, str] | None = None
) -> str:
    """Return the HTML of the page; excluded questions are below the table, with the reason."""
    name = short(source, 80)
    html: str = template("index.html").render(
        **{**basics(), "script": ""},
        eyebrow="Annotation reports",
        title=f"Annotation reports · {name}" if name else "Annotation reports",
        heading=name or "What the labels are worth",
        rows=rows,
        badges=BADGES,
        left_out={short(name, 120): why for name, why in (left_out or {}).items()},
    )
    return html
