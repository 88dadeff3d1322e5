"""The folders that ``annomodels fit --stream`` and ``annomodels run --stream`` write."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.back import guarded_tables
from annomodels.cli.places import check_folder, filled_folder
from annomodels.cli.sampling import verdict_lines
from annomodels.cli.session import warn
from annomodels.cli.streaming import Stream, exit_code, fitted, refuse_the_rest
from annomodels.cli.tables import to_json, to_text
from annomodels.cli.terminal import Stages

if TYPE_CHECKING:
    from annomodels.cli.jobs import Job
    from annomodels.fitting.fit import Fit

__all__ = ["FILES", "REPORT", "stream_fit", "stream_run"]

GOLD, CODERS, ABOUT, TRUTH = "gold.parquet", "coders.csv", "about.json", "truth"
FILES = (GOLD, CODERS, "fit.nc", ABOUT)
REPORT, METHODS = "report.html", "methods.md"


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
            warn(f"{folder / name} is of an earlier run.")
    places = {
        "report": str(folder / REPORT) if REPORT in names else None,
        "files": [str(folder / name) for name in (*names, TRUTH)],
    }
    main_file = folder / names[0]
    text = "\n".join([str(main_file), *verdict_lines(check)])
    whole = {"fit": str(folder), **(places if METHODS in names else {}), **facts}
    click.echo(to_json(whole).rstrip("\n") if as_json else text)
    return exit_code(str(result.tree.attrs["stopped"]), check.verdict, stream.sampling)
