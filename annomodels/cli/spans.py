"""Commands for spans: the main job, descriptions, tables of fits, and audits of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pandas as pd

from annomodels.cli.loading import stem
from annomodels.cli.options import Job, Sampling, Writing
from annomodels.cli.places import write_texts
from annomodels.cli.session import Stages, current, note, say_notes, warn
from annomodels.cli.tables import csv_texts, emit, emit_text, filed, to_text
from annomodels.data.columns import COLUMNS, WHOLE_TEXT, columns
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError
from annomodels.io.span_builder import GOLD, Spans
from annomodels.spans.fit import SpanFit

if TYPE_CHECKING:
    from annomodels.reporting.spans import SpanFacts

FILES = ("report.html", "gold.csv", "coders.csv", "agreement.csv", "fit.nc")


def fit_of_spans(spans: Spans, sampling: Sampling) -> SpanFit:
    from annomodels.fitting.run import fit

    options = sampling.options
    if sampling.model or sampling.groups or sampling.covariates or sampling.dask:
        raise click.UsageError("Spans have one model: leave out --model, --groups, --covariates.")
    note(f"Fitting the model of spans to {spans!r} with gibbs, seed {options['seed']}.")
    with Stages() as stages:
        made = fit(spans, **options, progress=stages)
    made.tree.attrs["command"] = current().command
    return made


def run_of_spans(
    job: Job, spans: Spans, beside: Path, decisions: Sequence[str], audits: Sequence[str]
) -> SpanFacts:
    from annomodels.io.mappings import span_rows
    from annomodels.reporting.page import page
    from annomodels.reporting.spans import SpanFacts

    if job.show or job.target is not None or job.earlier is not None:
        raise click.UsageError("Leave out --show, --target and --prior-from: they are for items.")
    spans = anonymous(spans) if job.anonymize else spans
    note(repr(spans))
    say_notes((*spans.notes, *remarks(spans)))
    rows = [row for path in decisions for row in span_rows(path)]
    fit = fit_of_spans(spans, job.sampling)
    if job.anonymize:
        fit.tree.attrs["command"] = "not shown"
    if rows:
        names = ("document", "start", "end", "label")
        command = fit.tree.attrs["command"]
        fit = fit.decided([dict(zip(names, row, strict=True)) for row in rows])
        fit.tree.attrs["command"] = command
    found = estimate_of_spans(fit, audits, threshold=job.threshold) if audits else None
    fit.save(beside / "fit.nc")
    facts = SpanFacts(fit, found, job.threshold)
    files = files_of(facts, job.spreadsheet)
    if found is not None:
        files["estimate.csv"] = to_text(found.table, "csv")
    write_texts(beside, files)
    if not job.no_report:
        text = page(facts, str(fit.tree.attrs["command"]), files)
        write_texts(beside, {"report.html": text})
    return facts


def files_of(facts: SpanFacts, spreadsheet: bool) -> dict[str, str]:
    tables = {
        "gold.csv": facts.gold,
        "coders.csv": facts.coders.table,
        "agreement.csv": filed(facts.agreement.table),
    }
    return csv_texts(tables, spreadsheet)


def anonymous(spans: Spans) -> Spans:
    """Return spans with coders renamed "coder 1" and so on, in random order."""
    order = np.random.default_rng(len(spans.spans)).permutation(len(spans.coders))
    names = {who: f"coder {n + 1}" for who, n in zip(spans.coders, order, strict=True)}
    names[GOLD] = GOLD
    return replace(
        spans,
        spans=tuple(replace(s, coder=names[s.coder]) for s in spans.spans),
        seen={d: tuple(sorted(names[who] for who in people)) for d, people in spans.seen.items()},
        source="",
        notes=(),
    )


def remarks(spans: Spans) -> list[str]:
    """Return remarks on spans that do not need a model."""
    people = {d: [who for who in names if who != GOLD] for d, names in spans.seen.items()}
    found = []
    if alone := sum(len(names) == 1 for names in people.values()):
        found.append(
            f"{counted(alone, 'document')} of {len(people):,} read by one coder: their spans rest "
            "on what other documents show about the coder."
        )
    used: dict[str, set[str]] = {who: set() for who in spans.coders}
    for span in spans.spans:
        if span.coder != GOLD:
            used[span.coder].add(span.label)
    every = set().union(*used.values())
    for label in sorted(every):
        having = [who for who, labels in used.items() if label in labels]
        if len(having) == 1 < len(used):
            found.append(
                f"Only {having[0]} uses the label {label!r}. If it is another name of a label, "
                f"recode it: --read map={label}=NAME."
            )
    if any(span.chain for span in spans.spans):
        found.append("The marks form chains: annomodels coref measures how coders agree on them.")
    if empty := sum(not spans.texts.get(d) for d in people if d in spans.texts):
        found.append(f"{counted(empty, 'document')} with an empty text.")
    return found


FACTS = columns(
    "check", COLUMNS["value"].called(kind="text", interval=None, width=WHOLE_TEXT), "remark"
)


def check_of_spans(data: str, spans: Spans, writing: Writing) -> None:
    people = {d: [who for who in names if who != GOLD] for d, names in spans.seen.items()}
    pairs = sum(len(names) > 1 for names in people.values())
    labels = sorted({s.label for s in spans.spans})
    rows = [
        ("source", stem(data), ""),
        ("documents", f"{len(people):,}", ""),
        ("coders", f"{len(spans.coders):,}", ""),
        ("spans", f"{sum(s.coder != GOLD for s in spans.spans):,}", ""),
        ("labels", f"{len(labels):,}", ", ".join(labels[:12])),
        ("read by two coders", f"{pairs:,}", "documents that agreement and gold spans rest on"),
        *(("note", "", text) for text in (*spans.notes, *remarks(spans))),
        ("supports", "gold spans, agreement" if pairs else "nothing", ""),
    ]
    emit(pd.DataFrame(rows, columns=[one.name for one in FACTS]), writing, repr(spans), FACTS)


# -- saved fits ------------------------------------------------------------------------------------


def spans_back(fit: SpanFit, to: str, threshold: float | None, writing: Writing) -> None:
    """Write the gold spans in the format of a tool."""
    from annomodels.io.writers.catalog import put_files, span_files

    files = span_files(fit.gold(threshold), to, fit.spans)
    if "" in files:
        emit_text(files[""], writing)
        return
    if writing.output in (None, "-"):
        raise click.UsageError(f"--to {to} writes a folder: name it with -o.")
    put_files(files, Path(str(writing.output)), writing.force)
    note(f"Wrote {writing.output}.")


def estimate_of_spans(
    fit: SpanFit,
    paths: Sequence[str],
    place: Path | None = None,
    seed: int | None = None,
    threshold: float | None = None,
) -> Summary:
    """Correct the expected quality with judged documents; `place` is the design of the audit."""
    from annomodels.auditing.design import design_at
    from annomodels.auditing.spans import Documents, estimate_spans, judged_spans

    judged: dict[str, Any] = {}
    for path in paths:
        more: Mapping[str, Any] = judged_spans(fit, path)
        if twice := [d for d in more if d in judged and judged[d] != more[d]]:
            what = f"{counted(len(twice), 'document')} judged twice, differently."
            raise AnnotationError(what, path, "Keep one judgment of each document.")
        judged |= more
    designs = [*([place] if place else []), *(Path(path).with_name("audit.json") for path in paths)]
    design = next(filter(None, (design_at(path, Documents(fit)) for path in designs)), None)
    if design is None:
        warn("No design of an audit was found: the judged documents count as drawn at random.")
    seed, drawn = fit.seed if seed is None else seed, None if design is None else design.drawn
    return estimate_spans(fit, judged, drawn=drawn, threshold=threshold, seed=seed)
