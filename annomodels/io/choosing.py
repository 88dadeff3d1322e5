"""Which format a source is in: by name, by its look, or known to hold no judgements."""

from __future__ import annotations

import difflib
from pathlib import Path

from annomodels.data.validation import some
from annomodels.errors import AnnotationError, Problem
from annomodels.io.border import unreadable
from annomodels.io.formats import FORMATS, PLAIN, REFUSED, Format
from annomodels.io.source import Options, Source


class UnknownFolder(AnnotationError):
    """A folder or archive is no export of a tool as a whole; its files may each be one."""


def chosen(name: str, source: Source, options: Options) -> Format:
    """Format by name, or the first that matches; the long table when none does.

    Raises
    ------
    AnnotationError
        When the name is none of the formats, the source is known to hold no judgements, or is a
        folder or archive in no known format.
    """
    if name != "auto":
        found = {form.name: form for form in FORMATS}.get(name)
        if found is None:
            names = ["auto", *(form.name for form in FORMATS)]
            near = difflib.get_close_matches(str(name), names, n=1)
            remedy = f"Did you mean {near[0]!r}? " if near else ""
            remedy += f"Use one of {', '.join(names)}."
            raise AnnotationError(Problem(f"There is no format {name!r}.", remedy=remedy))
        if found.name not in PLAIN and not found.fits(source, options):
            refuse(source, options)
            what = f"This is not in the format {name!r}, which is recognised by: {found.signature}."
            remedy = "Leave out format=, or export it again."
            error = AnnotationError if source.inside is None else UnknownFolder
            raise error(Problem(what, source.name, remedy))
        return found
    damaged: list[Problem] = []
    match = None
    for form in FORMATS:
        try:
            fits = form.fits(source, options)
        except AnnotationError as error:
            if source.inside is None:
                raise
            damaged += error.problems  # of one of its files: each is told when it is read alone
            continue
        if fits:
            match = form
            break
    if match is not None and match.name not in PLAIN:
        return match
    if not damaged:
        refuse(source, options)
    elif match is None:
        raise UnknownFolder(list(dict.fromkeys(damaged)))
    if match is None and source.inside is not None:
        raise UnknownFolder(_unknown_folder(source))
    # A file that is no format is told what the columns of a long table would have to be.
    return match or next(form for form in FORMATS if form.name == "long")


def refuse(source: Source, options: Options) -> None:
    """Raise if the source is known to hold no judgements of single coders."""
    for form in REFUSED:
        if form.fits(source, options):
            raise AnnotationError(form.columns(source, options).problems)


def _unknown_folder(source: Source) -> Problem:
    assert source.inside is not None
    names = source.inside.names
    problem = unreadable(Path(source.path)) if source.is_folder else None
    if problem is not None:
        return problem
    what = f"The archive is not in a known format; it contains {some(names)}."
    remedy = "Give one of its files, or say what it is with format=."
    return Problem(what, source.name, remedy)
