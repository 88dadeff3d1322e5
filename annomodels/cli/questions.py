"""Each question of a file by itself."""

from __future__ import annotations

import click

from annomodels.cli.options import Reading
from annomodels.errors import AnnotationError

__all__ = ["questions_of"]


def questions_of(data: str, reading: Reading) -> list[str]:
    """Names of all questions of a file.

    Parameters
    ----------
    data
        Name of the file.
    reading
        How to read it.

    Raises
    ------
    click.UsageError
        When there is one question only, one was named, or the data cannot be read twice.
    """
    from annomodels.cli.loading import load_data

    context = click.get_current_context(silent=True)
    if reading.question is not None:
        raise click.UsageError("Give --question or --every-question, not both.", context)
    if data == "-":
        what = "--every-question reads the data once for each question: give a file, not -."
        raise click.UsageError(what, context)
    try:
        load_data(data, reading)
    except AnnotationError as error:
        found = [problem.choices for problem in error.problems if problem.choices]
        if not found:
            raise
        return list(found[0])
    raise click.UsageError("The data hold one question only: leave out --every-question.", context)
