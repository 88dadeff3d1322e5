"""``fit --stream`` and ``run --stream``: labels that do not fit into memory, block by block."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.jobs import FIT, Job, fit_of
from annomodels.cli.loading import PREFIX, asked_of, several
from annomodels.cli.options import changed, flag_of
from annomodels.cli.places import check_folder, filled_folder
from annomodels.cli.sampling import exit_code, facts_of, verdict_lines
from annomodels.cli.session import note, say, warn
from annomodels.cli.tables import guarded_tables, to_json, to_text
from annomodels.cli.terminal import Stages

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit
    from annomodels.scale.scanned import Scanned

GOLD, CODERS, ABOUT, TRUTH = "gold.parquet", "coders.csv", "about.json", "truth"
FILES = (GOLD, CODERS, FIT, ABOUT)
REPORT, METHODS = "report.html", "methods.md"


def stream_fit(job: Job, output: str, *, as_json: bool) -> int:
    """Scan, fit and write a folder; gives the exit code."""
    refuse_the_rest(job)

    def fill(result: Fit, folder: Path) -> None:
        result.write_gold(folder / GOLD)
        _table(result, None, folder)

    return _written(job, output, fill, FILES, as_json)


def stream_run(job: Job, output: str, *, every_question: bool, as_json: bool) -> int:
    """Scan, fit, and write a folder with a report of what a scan can know; gives the exit code."""
    refuse_the_rest(job, known=job.known, every_question=every_question)
    names = (*([REPORT] if job.report else []), *FILES, METHODS)

    def fill(result: Fit, folder: Path) -> None:
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

    return _written(job, output, fill, names, as_json)


def _table(result: Fit, target: float | None, folder: Path, spreadsheet: bool = False) -> None:
    (table,) = guarded_tables([result.coders(target).table], spreadsheet)
    text = to_text(table, "csv")
    (folder / CODERS).write_text(text, encoding="utf-8", newline="")


def _written(
    job: Job,
    output: str,
    fill: Callable[[Fit, Path], None],
    names: tuple[str, ...],
    as_json: bool,
) -> int:
    """Scan, fit, write all beside the folder, then move it in; say what came of it."""
    folder = Path(output)

    def check_output() -> None:
        check_folder(output, names, job.force, (TRUTH,))

    kept = (TRUTH, FIT, ABOUT)
    with filled_folder(folder, check_output, force=job.force, keep=kept) as beside:
        result = fit_of(job, scanned(job))
        saved = result.save(beside / "saved")
        for part in saved.iterdir():
            part.rename(beside / part.name)
        saved.rmdir()
        check = result.check()
        facts: dict[str, Any] = {
            "items": result.data.n_items,
            "annotations": result.data.n_annotations,
            "model": result.model.name,
            **facts_of(result, check),
        }
        about = json.loads((beside / ABOUT).read_text("utf-8"))
        told = {"command": result.tree.attrs["command"], "files": [*names, TRUTH]}
        text = json.dumps({**about, **facts, **told}, indent=1)
        (beside / ABOUT).write_text(text, encoding="utf-8")
        fill(result, beside)
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
    if as_json:
        click.echo(to_json(whole), nl=False)
    else:
        say(text)
    return exit_code(result, check, job.sampling)


def scanned(job: Job) -> Scanned:
    """Scan, with what there is to say of it on stderr."""
    from annomodels.scale.scanning import scan

    known = inspect.signature(scan).parameters
    reading = {name: value for name, value in job.reading.items() if name in known}
    reading["question"] = next(iter(asked_of(job.reading)), None)
    with Stages() as stages:
        found = scan(job.data, **reading, cache=job.cache, progress=stages)
    note(repr(found))
    for text in found.notes:
        note(f"note: {text}")
    return found


def refuse_the_rest(job: Job, **others: object) -> None:
    """Say all at once which options are not for streams, before anything is read."""
    from annomodels.models.catalog import class_of
    from annomodels.scale.scanning import scan

    known = inspect.signature(scan).parameters
    read = {name: value for name, value in changed(job.reading).items() if name not in known}
    asked = {flag_of(name): value for name, value in {**read, **others}.items()}
    given = [flag for flag, value in asked.items() if value not in (None, (), False, "auto")]
    given += ["several --question"] if several(job.reading, every_question=False) else []
    given += [] if isinstance(job.reading["scale"], str) else ["--scale NAME=..."]
    model = job.sampling.model
    if model is not None and not class_of(model).by_counts:
        given.append(f"--model {model}")
    if job.sampling.options["engine"] == "nuts":
        given.append("--engine nuts")
    context = click.get_current_context(silent=True)
    if job.data == "-" or job.data.startswith(PREFIX):
        what = f"--stream reads files, a folder or a pattern, not {job.data}"
        rest = f", and without {', '.join(given)}" if given else ""
        raise click.UsageError(f"{what}{rest}.", context)
    if given:
        raise click.UsageError(
            "--stream reads long tables as they are and fits them block by block, with a stack or "
            f"a model from pooled to hierarchical: leave out {', '.join(given)}.",
            context,
        )
