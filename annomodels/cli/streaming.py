"""``fit --stream`` and ``run --stream``: labels that do not fit into memory, block by block."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.jobs import FIT, METHODS, REPORT, fit_of, told, write_outputs
from annomodels.cli.loading import PREFIX, asked_of, several
from annomodels.cli.options import Job, changed, flag_of
from annomodels.cli.places import check_folder, filled_folder
from annomodels.cli.sampling import exit_code, facts_of, verdict_lines
from annomodels.cli.session import note, warn
from annomodels.cli.terminal import Stages

if TYPE_CHECKING:
    from annomodels.scale.scanned import Scanned

GOLD, CODERS, ABOUT, TRUTH = "gold.parquet", "coders.csv", "about.json", "truth"
FILES = (GOLD, CODERS, FIT, ABOUT)


def stream(job: Job, *, whole: bool) -> int:
    """Scan, fit and fill a folder, with methods and report if `whole`; return the exit code."""
    refuse_the_rest(job)
    report = whole and not job.no_report
    names = (*[REPORT] * report, *FILES, *[METHODS] * whole)
    output, folder = job.output, Path(job.output)
    with filled_folder(
        folder,
        lambda: check_folder(output, names, job.force, (TRUTH,)),
        force=job.force,
        keep=(TRUTH, FIT, ABOUT),
    ) as beside:
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
        about |= {**facts, "command": result.tree.attrs["command"], "files": [*names, TRUTH]}
        text = json.dumps(about, indent=1)
        (beside / ABOUT).write_text(text, encoding="utf-8")
        settled = job.threshold is not None
        result.write_gold(beside / GOLD, job.threshold, only_settled=settled)
        write_outputs(job, result, beside, names)
    for name in (REPORT, METHODS):
        if name not in names and (folder / name).exists():
            warn(f"{folder / name} is from an earlier run.")
    places = {
        "report": str(folder / REPORT) if REPORT in names else None,
        "files": [str(folder / name) for name in (*names, TRUTH)],
    }
    text = "\n".join([str(folder / names[0]), *verdict_lines(check)])
    told(job, {"fit": output, **(places if whole else {}), **facts}, text)
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


def refuse_the_rest(job: Job) -> None:
    """Refuse all at once options are not for streams, before anything is read."""
    from annomodels.models.catalog import class_of
    from annomodels.scale.scanning import scan

    known = inspect.signature(scan).parameters
    read = {name: value for name, value in changed(job.reading).items() if name not in known}
    asked: dict[str, Any] = {flag_of(name): value for name, value in read.items()}
    asked |= {"--known": job.known, "--every-question": job.every_question, "--show": job.show}
    asked |= {"--gold": job.decisions, "--audit": job.audit, "--drawn": job.drawn}
    given = [flag for flag, value in asked.items() if value not in (None, (), False, "auto")]
    given += ["several --question"] if several(job.reading, every_question=False) else []
    given += [] if isinstance(job.reading["scale"], str) else ["--scale NAME=..."]
    model = job.sampling.model
    if model is not None and not class_of(model).by_counts:
        given.append(f"--model {model}")
    if job.sampling.options["engine"] == "nuts":
        given.append("--engine nuts")
    if job.data == "-" or job.data.startswith(PREFIX):
        what = f"--stream reads files, a folder or a pattern, not {job.data}"
        rest = f", and without {', '.join(given)}" if given else ""
        raise click.UsageError(f"{what}{rest}.")
    if given:
        raise click.UsageError(
            "--stream reads long tables as they are and fits them block by block, with a stack or "
            f"a model from pooled to hierarchical: leave out {', '.join(given)}."
        )
