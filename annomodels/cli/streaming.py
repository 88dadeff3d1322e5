"""``run --stream``: labels that do not fit into memory, block by block."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.loading import PREFIX, asked_of, several
from annomodels.cli.options import Job, changed, flag_of
from annomodels.cli.places import write_texts
from annomodels.cli.sampling import facts_of
from annomodels.cli.session import Stages, note, say_notes

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit
    from annomodels.scale.scanned import Scanned

GOLD, ABOUT, TRUTH = "gold.parquet", "about.json", "truth"


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
