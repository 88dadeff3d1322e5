"""``fit --stream`` and ``run --stream``: labels that do not fit into memory, block by block."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.loading import PREFIX
from annomodels.cli.options import Reading, Sampling
from annomodels.cli.places import check_folder, filled_folder
from annomodels.cli.sampling import (
    exit_code,
    grouped_model,
    say_stopped,
    spreading,
    verdict_lines,
)
from annomodels.cli.session import current, detail, note, warn
from annomodels.cli.tables import guarded_tables, to_json, to_text
from annomodels.cli.terminal import Stages

if TYPE_CHECKING:
    from annomodels.cli.jobs import Job
    from annomodels.fitting.fit import Fit
    from annomodels.models.base import Model
    from annomodels.scale.scanned import Scanned

GOLD, CODERS, ABOUT, TRUTH = "gold.parquet", "coders.csv", "about.json", "truth"
FILES = (GOLD, CODERS, "fit.nc", ABOUT)
REPORT, METHODS = "report.html", "methods.md"

# what a scan knows of reading; everything else needs the labels in memory
KNOWN = (
    *("item", "coder", "label", "gold_column", "labels", "scale"),
    *("missing", "dont_know", "question"),
)


@dataclass(frozen=True)
class Stream:
    """What is streamed, and how.

    Parameters
    ----------
    data
        A file, a folder or a pattern.
    reading, sampling
        How to read and to fit.
    cache
        Where the sorted blocks are kept, or None.
    anonymise
        Whether the names of coders are left out.
    """

    data: str
    reading: Reading
    sampling: Sampling
    cache: str | None = None
    anonymise: bool = False


def stream_fit(stream: Stream, output: str, *, force: bool, as_json: bool) -> int:
    """Scan, fit and write a folder; gives the exit code.

    Parameters
    ----------
    stream
        What to fit, and how.
    output
        The folder.
    force
        Whether outputs that exist are overwritten.
    as_json
        Whether the verdict is written as JSON.
    """
    refuse_the_rest(stream)
    check_folder(output, FILES, force, (TRUTH,))
    result = fitted(stream)

    def fill(folder: Path) -> None:
        result.write_gold(folder / GOLD)
        _table(result, None, folder)

    return _written(result, stream, output, fill, FILES, as_json)


def stream_run(
    job: Job, output: str, *, cache: str | None, every_question: bool, as_json: bool
) -> int:
    """Scan, fit, and write a folder with a report of what a scan can know; gives the exit code.

    Parameters
    ----------
    job
        What is to be done.
    output
        The folder.
    cache
        Where the sorted blocks are kept, or None.
    every_question
        Whether each question was asked for, which a stream refuses.
    as_json
        Whether verdict and files are written as JSON.
    """
    stream = Stream(job.data, job.reading, job.sampling, cache, job.anonymise)
    refuse_the_rest(stream, known=job.known, every_question=every_question)
    names = (*([REPORT] if job.report else []), *FILES, METHODS)
    check_folder(output, names, job.force, (TRUTH,))
    result = fitted(stream)

    def fill(folder: Path) -> None:
        from annomodels.reporting.facts import Facts
        from annomodels.reporting.methods import methods
        from annomodels.reporting.page import page

        told = str(result.tree.attrs["command"])
        with Stages() as stages:
            stages("making the tables", 0.0)
            facts = Facts(result, job.target)
            settled = job.threshold is not None
            result.write_gold(folder / GOLD, job.threshold, only_settled=settled)
            _table(result, job.target, folder, job.spreadsheet)
            (folder / METHODS).write_text(methods(facts, told), encoding="utf-8")
            stages("making the tables", 1.0)
            if job.report:
                stages("drawing the report", 0.0)
                text = page(facts, told)
                (folder / REPORT).write_text(text, encoding="utf-8", newline="\n")
                stages("drawing the report", 1.0)

    return _written(result, stream, output, fill, names, as_json)


def _table(result: Fit, target: float | None, folder: Path, spreadsheet: bool = False) -> None:
    (table,) = guarded_tables([result.coders(target).table], spreadsheet)
    text = to_text(table, "csv")
    (folder / CODERS).write_text(text, encoding="utf-8", newline="")


def _written(
    result: Fit,
    stream: Stream,
    output: str,
    fill: Callable[[Path], None],
    names: tuple[str, ...],
    as_json: bool,
) -> int:
    """Write all beside the folder, then move it in; say what came of it."""
    folder = Path(output)
    check = result.check()
    facts: dict[str, Any] = {
        "items": result.data.n_items,
        "annotations": result.data.n_annotations,
        "model": result.model.name,
        "engine": result.engine,
        "seed": result.seed,
        "verdict": check.verdict,
        "sentences": list(check.sentences),
    }
    with filled_folder(folder) as beside:
        saved = result.save(beside / "saved")
        for part in saved.iterdir():
            part.rename(beside / part.name)
        saved.rmdir()
        about = json.loads((beside / ABOUT).read_text("utf-8"))
        told = {"command": result.tree.attrs["command"], "files": [*names, TRUTH]}
        text = json.dumps({**about, **facts, **told}, indent=1)
        (beside / ABOUT).write_text(text, encoding="utf-8")
        fill(beside)
    for name in (REPORT, METHODS):
        if name not in names and (folder / name).exists():
            warn(f"{folder / name} is from an earlier run.")
    places = {
        "report": str(folder / REPORT) if REPORT in names else None,
        "files": [str(folder / name) for name in (*names, TRUTH)],
    }
    main_file = folder / names[0]
    text = "\n".join([str(main_file), *verdict_lines(check)])
    whole = {"fit": str(folder), **(places if METHODS in names else {}), **facts}
    click.echo(to_json(whole).rstrip("\n") if as_json else text)
    return exit_code(result, check, stream.sampling)


def fitted(stream: Stream) -> Fit:
    """Scan and fit, with notes and progress on stderr."""
    from annomodels.cli.anonymous import anonymous_scan, new_names
    from annomodels.fitting.run import fit
    from annomodels.models.catalog import resolve

    sampling = stream.sampling
    found = _scanned(stream)
    note(repr(found))
    for text in found.notes:
        note(f"note: {text}")
    grouped: Model | None
    if stream.anonymise:
        grouped = grouped_model(sampling, new_names(found))
        found = anonymous_scan(found)
    else:
        grouped = grouped_model(sampling)
    believed = resolve(sampling.model) if grouped is None else grouped
    note(f"Fitting {believed.name} block by block, seed {sampling.seed}.")
    with spreading() as spread, Stages() as stages:
        result = fit(
            found,
            believed,
            engine=sampling.engine,
            chains=sampling.chains,
            draws=sampling.draws,
            warmup=sampling.warmup,
            seed=sampling.seed,
            time_limit=sampling.time_limit,
            threads=sampling.threads,
            progress=stages,
            **spread,
        )
    result.tree.attrs["command"] = "not shown" if stream.anonymise else current().command
    for sentence in result.model.describe():
        detail(sentence)
    say_stopped(result)
    return result


def _scanned(stream: Stream) -> Scanned:
    from annomodels.scale.scanning import scan

    reading = stream.reading
    with Stages() as stages:
        return scan(
            stream.data,
            item=reading.item,
            coder=reading.coder,
            label=reading.label,
            gold=reading.gold_column,
            labels=reading.labels,
            scale=reading.scale,  # type: ignore[arg-type]
            missing=reading.missing,
            dont_know=reading.dont_know,
            question=reading.question,
            cache=stream.cache,
            progress=stages,
        )


def refuse_the_rest(stream: Stream, **others: Any) -> None:
    """Say all at once which options are not for streams, before anything is read.

    Parameters
    ----------
    stream
        What was asked for.
    **others
        Options of the command that need the labels in memory, by name.

    Raises
    ------
    click.UsageError
        When there are any.
    """
    from annomodels.models.catalog import class_of

    plain = {"input_format": "auto"}
    read = {name: value for name, value in vars(stream.reading).items() if name not in KNOWN}
    given = [
        f"--{name.replace('_', '-')}"
        for name, value in {**read, **others}.items()
        if value and value != plain.get(name)
    ]
    model = stream.sampling.model
    if not class_of(model).by_counts:
        given.append(f"--model {model}")
    if stream.sampling.engine == "nuts":
        given.append("--engine nuts")
    context = click.get_current_context(silent=True)
    if stream.data == "-" or stream.data.startswith(PREFIX):
        what = f"--stream reads files, a folder or a pattern, not {stream.data}"
        rest = f", and without {', '.join(given)}" if given else ""
        raise click.UsageError(f"{what}{rest}.", context)
    if given:
        raise click.UsageError(
            "--stream reads long tables as they are and fits them block by block, with a model "
            f"from pooled to hierarchical: leave out {', '.join(given)}.",
            context,
        )
