"""``--stream``: labels that do not fit into memory, scanned and fitted block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.exits import DONE, INTERRUPTED, UNTRUSTED
from annomodels.cli.loading import PREFIX
from annomodels.cli.options import Reading, Sampling
from annomodels.cli.sampling import grouped_model
from annomodels.cli.session import current, detail, note, warn
from annomodels.cli.spreading import spreading
from annomodels.cli.terminal import Stages

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit
    from annomodels.models.base import Model
    from annomodels.scale.scanned import Scanned

__all__ = ["Stream", "exit_code", "fitted", "refuse_the_rest"]

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


def exit_code(stopped: str, verdict: str, sampling: Sampling) -> int:
    """Give the exit code that a streamed fit deserves, and say on stderr why.

    Parameters
    ----------
    stopped
        What ended the run early; empty when nothing did.
    verdict
        Verdict of the checks.
    sampling
        How was fitted.
    """
    if stopped:
        why = "was interrupted" if stopped == "interrupted" else f"stopped at the {stopped}"
        warn(f"Sampling {why}; what was sampled until then is kept.")
    if stopped == "interrupted":
        return INTERRUPTED
    if verdict == "do not use" and not sampling.allow_unconverged:
        warn("The outputs were written, but the inference is not to be trusted.")
        return UNTRUSTED
    return DONE


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
