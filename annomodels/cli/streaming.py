"""``annomodels fit --stream``: labels that do not fit into memory, block by block."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from annomodels.cli.exits import DONE, INTERRUPTED, UNTRUSTED
from annomodels.cli.options import Reading, Sampling
from annomodels.cli.places import check_folder
from annomodels.cli.sampling import verdict_lines
from annomodels.cli.session import current, note, warn
from annomodels.cli.spreading import spreading
from annomodels.cli.tables import to_json
from annomodels.cli.terminal import Stages

if TYPE_CHECKING:
    from annomodels.scale.fitted import ScannedFit

__all__ = ["GOLD", "stream_fit"]

GOLD, CODERS = "gold.parquet", "coders.csv"
# what a scan knows of reading; everything else needs the labels in memory
KNOWN = (
    "item",
    "coder",
    "label",
    "gold_column",
    "labels",
    "scale",
    "missing",
    "dont_know",
    "question",
)


def stream_fit(
    data: str,
    output: str,
    reading: Reading,
    sampling: Sampling,
    *,
    cache: str | None,
    force: bool,
    as_json: bool,
) -> int:
    """Scan, fit and write a folder; gives the exit code.

    Parameters
    ----------
    data
        A file, a folder or a pattern.
    output
        The folder.
    reading, sampling
        How to read and to fit.
    cache
        Where the sorted blocks are kept, or None.
    force
        Whether a folder that was written earlier is replaced.
    as_json
        Whether the verdict is written as JSON.
    """
    from annomodels.fitting import fit
    from annomodels.models.catalog import resolve
    from annomodels.scale.scanning import scan

    _refuse_the_rest(reading)
    check_folder(output, ("fit.nc", "about.json", GOLD, CODERS), force)
    with Stages() as stages:
        found = scan(
            data,
            item=reading.item,
            coder=reading.coder,
            label=reading.label,
            gold=reading.gold_column,
            labels=reading.labels,
            scale=reading.scale,  # type: ignore[arg-type]
            missing=reading.missing,
            dont_know=reading.dont_know,
            question=reading.question,
            cache=cache,
            progress=stages,
        )
    note(repr(found))
    for text in found.notes:
        note(f"note: {text}")
    believed = resolve(sampling.model)
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
    result.tree.attrs["command"] = current().command
    folder = _write(result, output, force)
    check = result.check()
    facts = {
        "fit": str(folder),
        "items": found.n_items,
        "annotations": found.n_annotations,
        "engine": result.engine,
        "seed": result.seed,
        "verdict": check.verdict,
        "sentences": check.sentences,
    }
    text = "\n".join([str(folder / GOLD), *verdict_lines(check)])
    click.echo(to_json(facts).rstrip("\n") if as_json else text)
    stopped = str(result.tree.attrs["stopped"])
    if stopped:
        why = "was interrupted" if stopped == "interrupted" else f"stopped at the {stopped}"
        warn(f"Sampling {why}; what was sampled until then is kept.")
    if stopped == "interrupted":
        return INTERRUPTED
    if check.verdict == "do not use" and not sampling.allow_unconverged:
        warn("The outputs were written, but the inference is not to be trusted.")
        return UNTRUSTED
    return DONE


def _write(result: ScannedFit, output: str, force: bool) -> Path:
    """Write draws, P(truth), gold standard and coders into a folder."""
    target = Path(output)
    if target.is_dir() and not any(target.iterdir()):
        target.rmdir()
    folder = result.save(target, force)
    result.write_gold(folder / GOLD)
    result.coders().table.to_csv(folder / CODERS, index=False)
    return folder


def _refuse_the_rest(reading: Reading) -> None:
    """Say which options of reading are not for streams."""
    plain = {"input_format": "auto", "scale": reading.scale}
    given = [
        f"--{name.replace('_', '-')}"
        for name, value in vars(reading).items()
        if name not in KNOWN and value and value != plain.get(name)
    ]
    if given:
        raise click.UsageError(
            f"--stream reads long tables as they are: leave out {', '.join(given)}.",
            click.get_current_context(silent=True),
        )
