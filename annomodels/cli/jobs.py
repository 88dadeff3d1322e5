"""The main job on one question, or on each question of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.options import Reading, Sampling
from annomodels.errors import AnnotationError

if TYPE_CHECKING:
    from annomodels.auditing.estimate import Estimate
    from annomodels.data.annotations import Annotations
    from annomodels.fitting.fit import Fit
    from annomodels.reporting.index import IndexRow
    from annomodels.scale.scanned import Scanned

INDEX, TABLE, METHODS = "index.html", "agreement.csv", "methods.md"
_REPORT, ESTIMATE, EFFECTS = "report.html", "estimate.csv", "effects.csv"
FIT = "fit.nc"
_OTHERS = ("gold.csv", "coders.csv", "items.csv", "agreement.csv", FIT, "methods.md")


@dataclass(frozen=True)
class Job:
    """What is to be done."""

    data: str
    reading: Reading
    sampling: Sampling
    force: bool
    threshold: float | None = None
    target: float | None = None
    anonymise: bool = False
    report: bool = False
    known: str | None = None
    spreadsheet: bool = False
    cache: str | None = None
    audit: tuple[str, ...] = ()
    drawn: str | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of it.

    `facts` are for ``--json``, `text` for stdout; an only question has no name.
    """

    question: str
    fit: Fit
    code: int
    facts: dict[str, Any]
    text: str


def one_question(
    job: Job, output: str, labels: Annotations | None = None, question: str = ""
) -> Outcome:
    """Check, fit and write a folder; `labels` may have been read already."""
    from annomodels.cli.loading import (
        check_answers,
        drawn_from,
        estimated,
        load_data,
        say_notes,
    )
    from annomodels.cli.places import check_folder, filled_folder
    from annomodels.cli.sampling import exit_code, facts_of, verdict_lines
    from annomodels.cli.session import note, warn
    from annomodels.reporting.health import findings

    names = names_of(
        report=job.report, audited=bool(job.audit), regressed=bool(job.sampling.covariates)
    )

    def check_output() -> None:
        check_folder(output, names, job.force)

    with filled_folder(output, check_output, force=job.force, keep=(FIT,)) as beside:
        how = drawn_from(job.drawn, output) if job.audit else {}
        labels = load_data(job.data, job.reading) if labels is None else labels
        note(repr(labels))
        say_notes(labels)
        known = _known(job, labels)
        if job.audit:
            check_answers(job.audit, labels)
        for fact in findings(labels):
            if fact.remark:
                note(f"{fact.check}: {fact.value}. {fact.remark}")
        fit = fit_of(job, labels)
        fit.save(beside / FIT)
        found = estimated(fit, job.audit, how, seed=fit.seed) if job.audit else None
        stale = not job.report and (Path(output) / _REPORT).exists()
        remarks = write_outputs(
            fit,
            beside,
            names,
            found,
            threshold=job.threshold,
            target=job.target,
            known=known,
            spreadsheet=job.spreadsheet,
        )
    for text in remarks:
        note(f"note: {text}")
    if stale:
        warn(f"{Path(output) / _REPORT} is from an earlier run.")
    check = (fit if found is None else found.after(fit)).check()
    folder = Path(output)
    main_file = folder / ("report.html" if job.report else "gold.csv")
    facts = {
        "report": str(main_file) if job.report else None,
        "files": [str(folder / name) for name in names],
        **facts_of(fit, check),
    }
    return Outcome(
        question=question,
        fit=fit,
        code=exit_code(fit, check, job.sampling),
        facts=facts,
        text="\n".join([str(main_file), *verdict_lines(check)]),
    )


def fit_of(job: Job, labels: Annotations | Scanned) -> Fit:
    """Fit, without the names of coders if they are to be left out."""
    from annomodels.cli.anonymous import anonymous, new_names
    from annomodels.cli.sampling import fit_data, grouped_model, regressed_model
    from annomodels.cli.session import current

    if not job.anonymise:
        return fit_data(labels, job.sampling, current().command, outputs=True)
    # the command may hold the name of a file of a person
    names = new_names(labels)
    model = grouped_model(job.sampling, names) or regressed_model(job.sampling, labels, names)
    return fit_data(anonymous(labels), job.sampling, "not shown", model, outputs=True)


def names_of(*, report: bool, audited: bool = False, regressed: bool = False) -> tuple[str, ...]:
    """Give the names of the files, with what an audit and covariates say where there are such."""
    more = [ESTIMATE] * audited + [EFFECTS] * regressed
    return (*[_REPORT] * report, *_OTHERS, *more)


def write_outputs(
    fit: Fit,
    beside: Path,
    names: tuple[str, ...],
    audited: Estimate | None = None,
    *,
    threshold: float | None,
    target: float | None,
    known: Mapping[Hashable, Hashable] | None = None,
    spreadsheet: bool = False,
) -> tuple[str, ...]:
    """Write all outputs but the fit into a folder; gives what is to be said of the gold labels.

    The verdict comes from a second thread, for it leaves the interpreter idle for long. Files are
    those of :func:`names_of`. After an audit tables and page are of the fit after it; what is saved
    is the fit that was audited, of which further rounds can be drawn.
    """
    from annomodels.cli.tables import gold_of, gold_table, guarded_tables, to_text
    from annomodels.cli.terminal import Stages
    from annomodels.reporting.facts import Facts
    from annomodels.reporting.methods import methods
    from annomodels.reporting.page import page, write

    told = str(fit.tree.attrs["command"])
    shown = fit if audited is None else audited.after(fit)
    facts = Facts(shown, target, known=known, estimate=audited)
    with Stages() as stages:
        stages("making the tables", 0.0)
        # ends with the process: who interrupts it does not wait for a verdict
        checked = Thread(target=_looked_at, args=(shown,), daemon=True)
        checked.start()
        gold = gold_of(shown, threshold)
        tables = {
            "gold.csv": gold_table(gold, threshold, soft=False),
            "coders.csv": facts.coders.table,
            "items.csv": shown.items().table,
            "agreement.csv": shown.agreement().table,
        }
        if audited is not None:
            tables[ESTIMATE] = audited.table
        if EFFECTS in names:
            tables[EFFECTS] = shown.effects().table
        safe = guarded_tables(list(tables.values()), spreadsheet)
        for name, table in zip(tables, safe, strict=True):
            (beside / name).write_text(to_text(table, "csv"), encoding="utf-8", newline="")
        checked.join()
        shown.check()
        (beside / "methods.md").write_text(methods(facts, told), encoding="utf-8")
        stages("making the tables", 1.0)
        if _REPORT in names:
            stages("drawing the report", 0.0)
            write(beside / _REPORT, page(facts, told))
            stages("drawing the report", 1.0)
    return tuple(gold.notes)


def _looked_at(fit: Fit) -> None:
    """Check a fit, which keeps what comes of it; who asks next meets the error, if there is one."""
    with suppress(Exception):
        fit.check()


def each_question(job: Job, output: str) -> tuple[str, list[Outcome], dict[str, str]]:
    """Do the job for each question of a file, in folders of their own, and link them.

    What cannot be analysed is left out with the reason, and the rest is done.
    """
    from annomodels.cli.exits import reason_of
    from annomodels.cli.loading import load_each
    from annomodels.cli.places import check_folder
    from annomodels.cli.session import note, warn
    from annomodels.errors import EngineError, NotApplicable, Problem
    from annomodels.reporting.index import row_of

    if job.audit:
        what = "--audit judges items of one question: choose it with --question."
        raise click.UsageError(what, click.get_current_context(silent=True))
    if job.known is not None:
        what = "--known is the truth of one question: choose it with --question."
        raise click.UsageError(what, click.get_current_context(silent=True))
    check_folder(output, (INDEX, TABLE, METHODS), job.force)
    found = load_each(job.data, job.reading)
    places = dict(zip(found, folders(list(found)), strict=True))
    for place in places.values():
        check_folder(
            str(Path(output) / place),
            names_of(report=job.report, regressed=bool(job.sampling.covariates)),
            job.force,
        )
    left_out, outcomes, rows = dict(found.left_out), [], []
    file = "report.html" if job.report else "gold.csv"
    for number, (question, place) in enumerate(places.items(), 1):
        note(f"question {number} of {len(places)}: {question}")
        try:
            outcome = one_question(job, str(Path(output) / place), found[question], question)
        except (AnnotationError, NotApplicable, EngineError) as error:
            left_out[question] = reason_of(error)
            warn(f"left out: {question}: {left_out[question]}.")
            continue
        outcomes.append(outcome)
        rows.append(row_of(question, f"{place}/{file}", outcome.fit))
    if not outcomes:
        what = f"No question of {len(left_out)} could be analysed."
        where = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise AnnotationError(Problem(what, where, "See annomodels check --every-question."))
    source = "" if job.anonymise else Path(job.data).name
    return _overall(Path(output), outcomes, rows, left_out, source), outcomes, left_out


def _overall(
    folder: Path,
    outcomes: list[Outcome],
    rows: list[IndexRow],
    left_out: Mapping[str, str],
    source: str,
) -> str:
    """Write what is about all questions: the page with the links, one table, one methods text."""
    import pandas as pd

    from annomodels.cli.places import write_file
    from annomodels.cli.tables import to_text, with_left_out
    from annomodels.reporting.index import index_page
    from annomodels.reporting.overall import fits_methods

    parts = []
    for outcome in outcomes:
        part = outcome.fit.agreement().table.copy()
        part.insert(0, "question", outcome.question)
        parts.append(part)
    table = with_left_out(pd.concat(parts, ignore_index=True), left_out, "csv")
    texts = {
        INDEX: index_page(rows, source, left_out),
        TABLE: to_text(table, "csv"),
        METHODS: fits_methods({one.question: one.fit for one in outcomes}, left_out),
    }
    for name, text in texts.items():
        write_file(folder / name, _writer(text))
    return str(folder / INDEX)


def _writer(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text, encoding="utf-8", newline="")


def folders(questions: list[str]) -> list[str]:
    """Give each question a folder name that every file system takes, and none twice.

    >>> folders(["Is it rude?", "is it rude", "..", "tone/2"])
    ['Is-it-rude', 'is-it-rude-2', 'question', 'tone-2']
    """
    seen: set[str] = set()
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


def _known(job: Job, labels: Annotations) -> dict[Hashable, Hashable] | None:
    """Truth to judge by; looked at before the fit, so that a wrong file costs no time."""
    if job.known is None:
        return None
    from annomodels.io.mappings import truths_of

    return truths_of(job.known, labels)
