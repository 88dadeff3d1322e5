"""Run on one question, or on each question of a file."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import click

from annomodels.cli.exits import DONE
from annomodels.cli.loading import (
    PREFIX,
    check_answers,
    done_each,
    estimated,
    joined,
    load_any,
    load_each,
    load_fit,
    sorted_truth,
)
from annomodels.cli.options import Job
from annomodels.cli.places import check_folder, filled_folder, write_file, write_texts
from annomodels.cli.sampling import (
    ABOUT,
    GOLD,
    TRUTH,
    asked_model,
    exit_code,
    facts_of,
    fit_data,
    save_scan,
    scanned,
    sizes_of,
    verdict_lines,
)
from annomodels.cli.session import Stages, current, note, say, say_notes, show_text, warn
from annomodels.cli.spans import FILES as SPAN_FILES
from annomodels.cli.spans import facts_of_spans, run_of_spans, told_of_spans
from annomodels.cli.tables import (
    ESTIMATE,
    by_question,
    csv_texts,
    filed,
    gold_table,
    to_json,
    to_text,
    with_left_out,
)
from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.fitting.fit import Fit
from annomodels.io.mappings import decisions_of, entries_of, item_columns, truths_of
from annomodels.io.span_builder import Spans
from annomodels.io.tables.table import TextRows, text_of
from annomodels.models.base import Model
from annomodels.reporting.anonymous import anonymous, new_names
from annomodels.reporting.facts import Facts, Shown, findings
from annomodels.reporting.methods import fits_methods, methods
from annomodels.reporting.page import index_page, page, row_of, write
from annomodels.reporting.spans import SpanFacts
from annomodels.scale.scanned import Scanned

INDEX, TABLE, METHODS = "index.html", "agreement.csv", "methods.md"
REPORT, EFFECTS, NEXT = "report.html", "effects.csv", "next.csv"
FIT, CODERS = "fit.nc", "coders.csv"
FILES = ("gold.csv", "coders.csv", "agreement.csv", NEXT, FIT, "methods.md")


def names_of(job: Job, audited: bool = False) -> tuple[str, ...]:
    report = [REPORT] * (not job.no_report)
    if job.stream:
        return (*report, GOLD, CODERS, FIT, ABOUT, METHODS)
    more = [ESTIMATE] * audited + [EFFECTS] * bool(job.sampling.covariates)
    return (*report, *FILES, *more, *[SHOWN] * bool(job.show))


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of a job, as facts and as text for stdout; a single question has no name."""

    question: str
    fit: Any  # of items, or of spans
    code: int
    facts: dict[str, Any]
    text: str


def told(job: Job, facts: Mapping[str, object], text: str) -> None:
    if job.as_json:
        show_text(to_json(facts))
    else:
        say(text)


def one_question(
    job: Job, output: str, labels: Annotations | None = None, question: str = ""
) -> Outcome:
    """Check, fit and write a folder; `labels` may have been read already."""
    folder, truths = Path(output), sorted_truth(job.true_labels, output)
    if truths.test and job.no_report:
        raise click.UsageError("--use test is for the report: leave out --no-report.")
    names = names_of(job, bool(truths.audit))
    inner = [TRUTH] * job.stream
    check = partial(check_folder, output, names, job.force, inner)
    kept = (*inner, FIT, *[ABOUT] * job.stream)
    with filled_folder(output, check, force=job.force, keep=kept) as beside:
        known = shown = None
        if job.stream:
            fit = fit_of(job, scanned(job))
            save_scan(job, fit, beside, names)
        else:
            read = load_any(job.data, job.reading) if labels is None else labels
            if isinstance(read, Spans):
                of_spans = run_of_spans(job, read, beside, truths.fit, truths.audit)
                return _of_spans(job, of_spans, folder, beside)
            labels = read
            shown = _shown(job, labels)
            labels = _taught(truths.fit, labels)
            note(repr(labels))
            say_notes(labels.notes)
            # read before the fit, so that a wrong file costs no time
            known = joined(truths.test, labels, truths_of) if truths.test else None
            if truths.audit:
                check_answers(truths.audit, labels)
            for fact in findings(labels):
                if fact.remark:
                    note(f"{fact.check}: {fact.value}. {fact.remark}")
            fit = fit_of(job, labels)
            if truths.fit:
                entries = [entry for path in truths.fit for entry in entries_of(path, labels)]
                fit.tree.attrs["decisions"] = json.dumps(entries)
            fit.save(beside / FIT)
        if shown is not None:
            keep(shown, beside)
        found = None
        if truths.audit:
            found = estimated(fit, truths.audit, truths.how, seed=fit.seed)
        # after an audit, tables and page show the updated fit; further rounds need the earlier one
        after = fit if found is None else found.after(fit)
        about = Facts(after, job.target, known=known, estimate=found, shown=shown)
        write_outputs(job, about, beside, names)
    if not job.stream:
        say_notes(after.gold(job.threshold if found is None else None).notes)
    for name in (REPORT, METHODS):
        if name not in names and (folder / name).exists():
            warn(f"{folder / name} is from an earlier run.")
    verdict = about.check
    facts: dict[str, Any] = {"fit": output} if job.stream else {}
    facts["report"] = None if job.no_report else str(folder / REPORT)
    paths = [folder / name for name in (*names, *inner)]
    facts["files"] = [str(path) for path in paths if path.exists()]
    facts |= {**(sizes_of(fit) if job.stream else {}), **facts_of(fit, verdict)}
    text = "\n".join([str(folder / names[0]), *verdict_lines(verdict)])
    return Outcome(question, fit, exit_code(fit, verdict), facts, text)


def _of_spans(job: Job, done: SpanFacts, folder: Path, beside: Path) -> Outcome:
    """Return the outcome of spans, which is printed once the outputs are in their folder."""
    report = None if job.no_report else str(folder / REPORT)
    names = (*SPAN_FILES, ESTIMATE)
    facts: dict[str, Any] = {"report": report}
    facts["files"] = [str(folder / name) for name in names if (beside / name).exists()]
    facts |= facts_of_spans(done)
    first = report or str(folder / "gold.csv")
    return Outcome("", done.fit, DONE, facts, "\n".join([first, *told_of_spans(done)]))


def fit_of(job: Job, labels: Annotations | Scanned) -> Fit:
    model = None if job.earlier is None else model_of_earlier(job)
    if not job.anonymize:
        return fit_data(labels, job.sampling, current().command, model)
    # the command may contain a file named after a person
    names = new_names(labels)
    if model is not None:
        raise click.UsageError("--anonymize hides the names that --prior-from needs.")
    model = asked_model(job.sampling, labels, names)
    return fit_data(anonymous(labels), job.sampling, "not shown", model)


def model_of_earlier(job: Job) -> Model:
    """Return the model of an earlier fit with the posterior of that fit as its prior."""
    from annomodels.fitting.earlier import prior_from

    if job.sampling.model is not None:
        raise click.UsageError("--prior-from uses the model of that fit: leave out --model.")
    if job.sampling.groups is not None or job.sampling.covariates:
        flag = "--covariates" if job.sampling.covariates else "--groups"
        raise click.UsageError(f"--prior-from and {flag} cannot both be used.")
    return prior_from(load_fit(str(job.earlier)))


def write_outputs(job: Job, facts: Facts, beside: Path, names: Sequence[str]) -> None:
    """Write the outputs in `names` to a folder, except the fit."""
    # A second thread computes the verdict, which leaves the interpreter idle for long.
    command = str(facts.tree.attrs.get("command", ""))
    with Stages() as stages:
        stages("making the tables", 0.0)
        # a daemon, so that an interrupt does not wait for the verdict
        checked = Thread(target=_looked_at, args=(facts.fit,), daemon=True)
        checked.start()
        files = files_of(facts, job.threshold, job.spreadsheet, EFFECTS in names)
        write_texts(beside, files)
        checked.join()
        facts.fit.check()
        if METHODS in names:
            write_texts(beside, {METHODS: methods(facts, command)})
        stages("making the tables", 1.0)
        if REPORT in names:
            stages("drawing the report", 0.0)
            write(beside / REPORT, page(facts, command, {} if facts.on_disk else files))
            stages("drawing the report", 1.0)


def files_of(
    facts: Facts,
    threshold: float | None = None,
    spreadsheet: bool = False,
    effects: bool = False,
) -> dict[str, str]:
    """Return the tables of a fit as text, by file name; only coders for streamed data."""
    fit = facts.fit
    tables = {"coders.csv": facts.coders.table}
    if not facts.on_disk:
        gold = gold_table(fit, fit.gold(threshold), threshold, soft=False)
        tables = {"gold.csv": gold, **tables}
        tables["agreement.csv"] = fit.agreement().table
    if facts.has("next"):
        tables[NEXT] = facts.following.table
    if facts.estimate is not None:
        tables[ESTIMATE] = facts.estimate.table
    if effects:
        tables[EFFECTS] = fit.effects().table
    return csv_texts({name: filed(table) for name, table in tables.items()}, spreadsheet)


def _looked_at(fit: Fit) -> None:
    """Check a fit, which caches the result; an error is raised on the next call."""
    with suppress(Exception):
        fit.check()


def each_question(job: Job) -> tuple[str, list[Outcome], dict[str, str]]:
    """Run the job for each question in a separate folder, and link the results."""
    if job.true_labels.paths:
        raise click.UsageError("--truth is about one question: choose it with --question.")
    folder = Path(job.output)
    check_folder(folder, (INDEX, TABLE, METHODS), job.force)
    found = load_each(job.data, job.reading)
    places = dict(zip(found, folders(list(found)), strict=True))
    for place in places.values():
        check_folder(folder / place, names_of(job), job.force)

    def done(question: str, labels: Annotations) -> Outcome:
        note(f"question {list(places).index(question) + 1} of {len(places)}: {question}")
        return one_question(job, str(folder / places[question]), labels, question)

    outcomes, left_out = done_each(found, done, "could be analyzed")
    fits = {question: outcome.fit for question, outcome in outcomes.items()}
    file = "gold.csv" if job.no_report else REPORT
    rows = [row_of(name, f"{places[name]}/{file}", fit) for name, fit in fits.items()]
    table = by_question({name: filed(fit.agreement().table) for name, fit in fits.items()})
    texts = {
        INDEX: index_page(rows, "" if job.anonymize else Path(job.data).name, left_out),
        TABLE: to_text(with_left_out(table, left_out, "csv"), "csv"),
        METHODS: fits_methods(fits, left_out),
    }
    for name, text in texts.items():
        write_file(folder / name, partial(Path.write_text, data=text, encoding="utf-8", newline=""))
    return str(folder / INDEX), list(outcomes.values()), left_out


def folders(questions: list[str]) -> list[str]:
    """Return a unique folder name for each question that is valid on all file systems.

    The names of files about all questions are reserved.

    >>> folders(["Is it rude?", "is it rude", "..", "tone/2", "agreement.csv"])
    ['Is-it-rude', 'is-it-rude-2', 'question', 'tone-2', 'agreement.csv-2']
    """
    seen = {INDEX, TABLE, METHODS}
    out = []
    for question in questions:
        plain = re.sub(r"[^\w.]+", "-", question).strip("-.")[:60] or "question"
        name, number = plain, 1
        while name.casefold() in seen:
            number += 1
            name = f"{plain}-{number}"
        seen.add(name.casefold())
        out.append(name)
    return out


def _shown(job: Job, labels: Annotations) -> Shown | None:
    """Read the columns to show, before the fit, so that a wrong name costs no time."""
    if not job.show:
        return None
    if job.data == "-" or job.data.startswith(PREFIX) or hasattr(job.data, "paths"):
        what = "--show reads one table from a file."
        raise click.UsageError(what, click.get_current_context(silent=True))
    return shown_from(str(job.data), labels, None, job.show, job.reading["item"])


def _taught(paths: Sequence[str], labels: Annotations) -> Annotations:
    """Add the true labels of files to those of the data."""
    if not paths:
        return labels
    codes = () if labels.gold is None else labels.gold.tolist()
    known = {labels.items[i]: labels.labels[k] for i, k in enumerate(codes) if k >= 0}
    known |= joined(paths, labels, decisions_of)
    return labels.with_truth(known) if known else labels


SHOWN = "shown.csv"


def shown_from(
    path: str, data: Any, text: str | None, columns: Sequence[str], item: Any = None
) -> Shown:
    """Read columns of a table, by the items of the data."""
    wanted = list(dict.fromkeys([*([] if text is None else [text]), *columns]))
    cells = item_columns(path, wanted, item)
    names = {label_text(name): name for name in data.items}
    if not any(name in names for column in cells.values() for name in column):
        what = "None of the items of the table is in the data."
        raise AnnotationError(
            Problem(what, path, f"Name the column of the items: {Option('item')}.")
        )
    found = {
        column: {names[name]: cell for name, cell in by_item.items() if name in names}
        for column, by_item in cells.items()
    }
    return Shown(found[text] if text is not None else {}, {name: found[name] for name in columns})


def keep(shown: Shown, folder: Path) -> None:
    """Write the columns next to the fit, where ``annomodels report`` reads them."""
    columns = dict(shown.columns)
    items = list(dict.fromkeys(name for column in columns.values() for name in column))
    rows = [
        [label_text(name), *(column.get(name, "") for column in columns.values())] for name in items
    ]
    text = text_of([["item", *columns], *rows])
    write_texts(folder, {SHOWN: text})


def kept(fit_path: str, data: object) -> Shown | None:
    """Read the columns stored next to a fit; None if there are none."""
    folder = Path(fit_path) if Path(fit_path).is_dir() else Path(fit_path).parent
    path = folder / SHOWN
    if not path.is_file():
        return None
    header = TextRows(path.read_text("utf-8"), SHOWN, ",").head(1)[0]
    return shown_from(str(path), data, None, header[1:], "item")


def again(fit: Fit, text: str | None, columns: Sequence[str]) -> Shown:
    """Read the columns again from the label file that the command of a fit named."""
    data, source = fit.data, str(getattr(fit.data, "source", ""))
    words = shlex.split(str(fit.tree.attrs.get("command", "")))
    source = next((word for word in words if Path(word).name == source), source)
    if not Path(source).is_file():
        what = "The file of the labels is not here, so its columns cannot be read."
        remedy = "Run this in the folder of the file, or give the columns to annomodels run."
        raise AnnotationError(Problem(what, source or "the fit", remedy))
    return shown_from(source, data, text, columns)
