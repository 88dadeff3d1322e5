"""Run on one question, or on each question of a file: fits, and the folders of their outputs."""

from __future__ import annotations

import inspect
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import click

from annomodels.cli.exits import DONE, INTERRUPTED, UNTRUSTED
from annomodels.cli.loading import (
    PREFIX,
    asked_of,
    check_answers,
    done_each,
    estimated,
    joined,
    load_any,
    load_each,
    load_fit,
    several,
    sorted_truth,
)
from annomodels.cli.options import Job, Sampling, changed, flag_of
from annomodels.cli.places import check_folder, filled_folder, write_file, write_texts
from annomodels.cli.session import Stages, current, detail, note, say, say_notes, show_text, warn
from annomodels.cli.spans import FILES as SPAN_FILES
from annomodels.cli.spans import run_of_spans
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
from annomodels.errors import (
    AnnotationError,
    EngineError,
    MissingDependency,
    Option,
)
from annomodels.fitting.fit import Fit
from annomodels.io.mappings import decisions_of, entries_of, item_columns, truths_of
from annomodels.io.span_builder import Spans
from annomodels.io.tables.table import TextRows, text_of
from annomodels.limits import STATES
from annomodels.models.base import Model
from annomodels.reporting.anonymous import anonymous, new_names
from annomodels.reporting.facts import Facts, Shown, findings
from annomodels.reporting.methods import fits_methods, methods
from annomodels.reporting.page import index_page, page, row_of, write
from annomodels.reporting.spans import SpanFacts
from annomodels.reporting.words import advised
from annomodels.scale.scanned import Scanned
from annomodels.summaries.trust.checks import Check

GOLD, ABOUT, TRUTH = "gold.parquet", "about.json", "truth"
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
    verdict, why = done.verdict
    facts: dict[str, Any] = {
        "report": report,
        "files": [str(folder / name) for name in names if (beside / name).exists()],
        "engine": done.fit.engine,
        "seed": done.fit.seed,
        "verdict": verdict,
        "sentences": [why],
        "quality": [
            {"quantity": name, "value": value, "low": low, "high": high}
            for name, (value, low, high) in done.quality.items()
        ],
        "states": {name: int((done.gold["state"] == name).sum()) for name in STATES},
        "code": DONE,
    }
    first = report or str(folder / "gold.csv")
    told = [first, f"verdict: {verdict}", f"  {why}", f"  {done.sentence}", *done.to_do]
    return Outcome("", done.fit, DONE, facts, "\n".join(told))


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
        raise AnnotationError(what, path, f"Name the column of the items: {Option('item')}.")
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
        raise AnnotationError(what, source or "the fit", remedy)
    return shown_from(source, data, text, columns)


# -- fits, in memory or block by block -----------------------------------------------------------


def fit_data(
    data: Annotations | Scanned,
    sampling: Sampling,
    command: str,
    model: Model | None = None,
) -> Fit:
    """Fit, and print engine and progress on stderr."""
    # Models of numbers treat labels as numbers from here on.
    from annomodels.fitting.run import choose, default_model, fit
    from annomodels.models.catalog import require_suited, resolve

    options = sampling.options
    known = {
        name: options[name]
        for name in inspect.signature(default_model).parameters
        if name in options
    }
    usual = default_model(data, **{**known, "executor": sampling.dask})
    believed = model or asked_model(sampling, data) or resolve(sampling.model or usual)
    if isinstance(data, Annotations):
        if believed.truth == "number" and data.scale in ("nominal", "ordinal"):
            data = data.replace(scale="interval")
        require_suited(believed, data)
        engine = choose(believed, options["engine"])
        draws = ", {chains} chains of {draws:,} draws after {warmup:,} of warm-up"
        note(
            f"Fitting {believed.name} to {len(data):,} labels with {engine}, seed "
            f"{options['seed']}{'' if engine == 'em' else draws.format(**options)}."
        )
    else:
        note(f"Fitting {believed.name} block by block, seed {options['seed']}.")
    with spreading(sampling) as executor, Stages() as stages:
        result = fit(data, believed, **{**options, "executor": executor}, progress=stages)
    result.tree.attrs["command"] = command
    for sentence in result.model.describe():
        detail(sentence)
    if stopped := _stopped(result):
        why = "was interrupted" if stopped == "interrupted" else f"stopped at the {stopped}"
        warn(f"Sampling {why}; the draws so far are kept.")
    return result


def asked_model(
    sampling: Sampling, data: Annotations | Scanned, names: Mapping[str, str] | None = None
) -> Model | None:
    """Return the model of --groups or --covariates, or None; `names` are new coder names."""
    from annomodels.io.mappings import groups_from, rows_about
    from annomodels.models.catalog import class_of
    from annomodels.models.grouped import GroupedCoders, grouping

    kind, new = class_of(sampling.model or "hierarchical"), names or {}
    if sampling.groups is not None:
        if sampling.covariates:
            raise click.UsageError("--groups and --covariates cannot both be used.")
        if not grouping(kind):
            raise click.UsageError(
                f"--groups needs the hierarchical model, not --model {sampling.model}."
            )
        groups = groups_from(sampling.groups).items()
        return GroupedCoders(groups={new.get(coder, coder): group for coder, group in groups})
    if grouping(kind) == "must":
        raise click.UsageError(f"--model {sampling.model} needs --groups FILE.")
    if not sampling.covariates:
        return None
    if sampling.model is None:
        raise click.UsageError("--covariates needs a model, such as --model scalar-difficulty.")
    found = rows_about(sampling.covariates, getattr(data, "items", ()))
    for row in found.get("coder", ()):
        row["coder"] = new.get(row["coder"], row["coder"])
    columns: Any = {f"{key}_covariates": rows for key, rows in found.items()}
    return kind(**columns)


def verdict_lines(check: Check) -> list[str]:
    """Return the verdict and its sentences with remedies, one per line."""
    lamps = [f"  {check.lit}"] if check.lamps else []
    return [f"verdict: {check.verdict}", *(f"  {said}" for said in advised(check)), *lamps]


def facts_of(fit: Fit, check: Check) -> dict[str, object]:
    """Return the facts about a fit for ``--format json``."""
    return {
        "engine": fit.engine,
        "seed": fit.seed,
        "verdict": check.verdict,
        "lamps": dict(check.lamps),
        "sentences": check.sentences,
    }


def exit_code(fit: Fit, check: Check) -> int:
    """Return the exit code of a fit, and print the reason on stderr."""
    if _stopped(fit) == "interrupted":
        return INTERRUPTED
    if check.verdict == "do not use":
        warn("The outputs were written, but the inference cannot be trusted.")
        return UNTRUSTED
    return DONE


def _stopped(fit: Fit) -> str:
    return str(fit.tree.attrs.get("stopped", ""))


@contextmanager
def spreading(sampling: Sampling) -> Iterator[Any]:
    """Yield the executor of a fit, and close a cluster afterwards."""
    address = sampling.dask
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingDependency(
            "--sampler dask needs Dask. Install it: pip install 'dask[distributed]'"
        ) from error
    how: dict[str, Any] = {"address": address, "timeout": "20s"}
    if address.startswith("local"):
        number = int(address.partition(":")[2] or 0) or None
        how = {"n_workers": number, "threads_per_worker": 1, "processes": True}
        how |= {"dashboard_address": ":0", "silence_logs": "ERROR"}
    try:
        client = Client(**how, set_as_default=False)
    except OSError as error:
        raise EngineError(
            f"No Dask scheduler answers at {address}. Start one with `dask scheduler`, or give "
            "its address."
        ) from error
    with client:
        yield client


def sizes_of(fit: Fit) -> dict[str, object]:
    """Return sizes of labels on disk, and their model, for ``--format json``."""
    sizes = {"items": fit.data.n_items, "annotations": fit.data.n_annotations}
    return {**sizes, "model": fit.model.name}


def save_scan(job: Job, fit: Fit, beside: Path, names: Sequence[str]) -> None:
    """Write a fit, its gold labels, and its results in ``about.json``, to a folder."""
    saved = fit.save(beside / "saved")
    for part in saved.iterdir():
        part.rename(beside / part.name)
    saved.rmdir()
    about = json.loads((beside / ABOUT).read_text("utf-8"))
    about |= {**sizes_of(fit), **facts_of(fit, fit.check())}
    about |= {"command": fit.tree.attrs["command"], "files": [*names, TRUTH]}
    write_texts(beside, {ABOUT: json.dumps(about, indent=1)})
    fit.write_gold(beside / GOLD, job.threshold, only_settled=job.threshold is not None)


def scanned(job: Job) -> Scanned:
    from annomodels.scale.scanning import scan

    known = inspect.signature(scan).parameters
    reading = {name: value for name, value in job.reading.items() if name in known}
    reading["question"] = next(iter(asked_of(job.reading)), None)
    with Stages() as stages:
        found = scan(job.data, **reading, cache=job.cache, progress=stages)
    note(repr(found))
    say_notes(found.notes)
    return found


def refuse_the_rest(job: Job) -> None:
    """Refuse all options that streams do not support, before reading."""
    given = refused(job)
    if job.data == "-" or job.data.startswith(PREFIX):
        what = f"--stream reads files, a folder or a pattern, not {job.data}"
        rest = f", and without {', '.join(given)}" if given else ""
        raise click.UsageError(f"{what}{rest}.")
    if given:
        raise click.UsageError(
            "--stream reads long tables without changes and fits them block by block, with a stack "
            f"or a model from pooled to hierarchical: leave out {', '.join(given)}."
        )


def refused(job: Job) -> list[str]:
    """Return the options that streams do not support."""
    from annomodels.models.catalog import class_of, streamable
    from annomodels.scale.scanning import scan

    known = inspect.signature(scan).parameters
    read = {name: value for name, value in changed(job.reading).items() if name not in known}
    asked: dict[str, Any] = {flag_of(name): value for name, value in read.items()}
    asked |= {"--truth": job.true_labels.paths, "--use": job.true_labels.use, "--show": job.show}
    given = [flag for flag, value in asked.items() if value not in (None, (), False, "auto")]
    given += ["several --question"] if several(job.reading) else []
    given += [] if isinstance(job.reading["scale"], str) else ["--scale NAME=..."]
    model = job.sampling.model
    if model is not None and not streamable(class_of(model)):
        given.append(f"--model {model}")
    if job.sampling.options["engine"] == "nuts":
        given.append("--engine nuts")
    return given
