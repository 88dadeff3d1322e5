"""Audits on the command line: where their design is kept, and what was judged, from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annomodels.errors import AnnotationError, Problem

if TYPE_CHECKING:
    from annomodels.auditing.estimate import Estimate
    from annomodels.data.annotations import Annotations
    from annomodels.fitting.fit import Fit

DESIGN = "audit.json"
SAMPLINGS = ("random", "chosen")


def design_of(name: str) -> Path:
    """Say where the design of the audit of a fit is kept: in its folder, or beside its file.

    Examples
    --------
    >>> print(design_of("out/fit.nc"), design_of("mace.nc"))
    out/audit.json mace.audit.json
    """
    path = Path(name)
    if path.is_dir():
        return path / DESIGN
    return path.with_name(DESIGN) if path.name == "fit.nc" else path.with_suffix(".audit.json")


def answers_from(paths: Sequence[str]) -> Mapping[str, str] | str:
    """Read the answers of several files as one.

    Raises
    ------
    AnnotationError
        When two files say two things of one item, or a file is no table of truths.
    """
    from annomodels.data.validation import counted, some
    from annomodels.io.mappings import truths_from

    if len(paths) == 1:
        return paths[0]
    found: dict[str, str] = {}
    twice: dict[str, None] = {}
    for path in paths:
        for item, truth in truths_from(path).items():
            if found.setdefault(item, truth) != truth:
                twice[item] = None
    if twice:
        what = f"{counted(len(twice), 'item')} with different answers: {some(twice)}."
        where = " and ".join(Path(path).name for path in paths)
        raise AnnotationError(Problem(what, where, "Keep one answer for each item."))
    return found


def drawn_from(drawn: str | None, name: str) -> dict[str, Any]:
    """Say how the judged items were drawn, as keywords of :func:`annomodels.estimate`.

    Parameters
    ----------
    drawn
        Words of the option: "random", "chosen", a file, or none.
    name
        The fit, or the folder of the outputs.

    Raises
    ------
    click.UsageError
        When there is no such file.
    """
    if drawn in SAMPLINGS:
        return {"drawn": drawn}
    if drawn is not None:
        if not Path(drawn).is_file():
            what = f"--drawn {drawn!r} is no file, and neither 'random' nor 'chosen'."
            raise click.UsageError(what, click.get_current_context(silent=True))
        return {"audit": drawn}
    place = design_of(name)
    return {"audit": place} if place.is_file() else {}


def check_answers(paths: Sequence[str], data: Annotations) -> None:
    """Look at the answers before a fit, so that a wrong file costs no time.

    Raises
    ------
    AnnotationError
        With all problems.
    """
    from annomodels.auditing.answers import read_answers

    read_answers(data, answers_from(paths))


def estimated(fit: Fit, paths: Sequence[str], how: Mapping[str, Any], **more: Any) -> Estimate:
    """Estimate, and say on stderr what a reader should know."""
    from annomodels.auditing.estimate import estimate
    from annomodels.cli.session import note, warn

    found = estimate(fit, answers_from(paths), **how, **more)
    first, *rest = found.notes
    (note if found.by_design else warn)(first)
    for text in rest:
        note(f"note: {text}")
    return found
