"""From the words on the command line to data and fits."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.exits import reason_of
from annomodels.cli.options import Command, Reading, changed, flag_of
from annomodels.cli.session import current, note, warn
from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, EngineError, NotApplicable, Problem, printable
from annomodels.io.border import unreadable
from annomodels.io.proposals import Proposal
from annomodels.io.tables.keys import quoted

if TYPE_CHECKING:
    from annomodels.auditing.estimate import Estimate
    from annomodels.data.annotations import Annotations
    from annomodels.fitting.fit import Fit
    from annomodels.io.reading import Questions

PREFIX = "dataset:"
# how the audited items of a fit were drawn is kept in its folder
DESIGN = "audit.json"
SAMPLINGS = ("random", "chosen")


class Files(str):
    """Several files under one name for messages: `paths` has coder (or None) and path of each."""

    __slots__ = ("paths",)
    paths: tuple[tuple[str | None, str], ...]

    def __new__(cls, paths: Sequence[tuple[str | None, str]]) -> Files:
        """Name at most three."""
        names = [Path(path).name for _, path in paths]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        made = super().__new__(cls, ", ".join(names[:3]) + more)
        made.paths = tuple(paths)
        return made


def data_argument(command: Command) -> Command:
    """Add DATA: a file, or several as one, each perhaps with the name of its coder before it."""

    def gather(_: click.Context, __: click.Parameter, words: tuple[str, ...]) -> str:
        named = [named_path(word) for word in words]
        alone = len(named) == 1 and named[0][0] is None
        return words[0] if alone else Files(named)

    return click.argument("data", nargs=-1, required=True, callback=gather)(command)


def named_path(word: str) -> tuple[str | None, str]:
    """Name and path of ``NAME=PATH``; a path that is there is meant as it is.

    >>> named_path("ana=a.csv"), named_path("a.csv"), named_path("out/a=1.csv")
    (('ana', 'a.csv'), (None, 'a.csv'), (None, 'out/a=1.csv'))
    """
    name, sign, path = word.partition("=")
    if sign and name and path and os.sep not in name and not Path(word).exists():
        return name, path
    return None, word


def load_data(name: str, reading: Reading) -> Annotations:
    """Read a file, standard input (``-``) or a bundled data set (``dataset:NAME``)."""
    if name.startswith(PREFIX):
        return _bundled(name.removeprefix(PREFIX), reading)
    from annomodels.io.reading import read

    if not several(reading, every_question=False):
        paths = name.paths if isinstance(name, Files) else name
        with way_out():
            return read(paths, **{**reading, "question": next(iter(asked_of(reading)), None)})
    found = load_each(name, reading)
    if len(found) > 1:
        what = f"This command takes one question, and {', '.join(found)} were chosen."
        what += " annomodels run, agree and check take several."
        raise click.UsageError(what)
    return next(iter(found.values()))


@contextmanager
def way_out() -> Iterator[None]:
    """Spell what a refusal proposes as this command, with the options that it was given."""
    try:
        yield
    except AnnotationError as error:
        if isinstance(error.proposal, Proposal):
            words = shlex.split(current().command)
            for name, value in error.proposal.new.items():
                words = [*_without(words, flag_of(name)), flag_of(name), _word(value)]
            command = shlex.join(words)
            error.proposal = f"{command}\n         reads {error.proposal.gives}"
        raise


def _without(words: Sequence[str], flag: str) -> list[str]:
    """Words of a command without an option and its value."""
    out: list[str] = []
    skip = False
    for word in words:
        if not skip and word != flag and not word.startswith(f"{flag}="):
            out.append(word)
        skip = word == flag
    return out


def _word(value: Any) -> str:
    """Value of an option as it is typed; several are separated by commas."""
    return str(value) if isinstance(value, (str, int)) else ",".join(map(quoted, value))


def asked_of(reading: Reading) -> tuple[str, ...]:
    """Names and patterns given with ``--question``."""
    asked = reading["question"]
    return () if asked is None else (asked,) if isinstance(asked, str) else tuple(asked)


def several(reading: Reading, every_question: bool) -> bool:
    """Return True if the option, several names or a pattern ask for several questions."""
    asked = asked_of(reading)
    if every_question and asked:
        raise click.UsageError("Give --question or --every-question, not both.")
    if len(asked) != 1:
        return every_question or bool(asked)
    from annomodels.io.codebook import is_pattern

    return is_pattern(asked[0])


def load_each(data: str, reading: Reading) -> Questions:
    """Read all questions, or those asked for, and say which are left out."""
    from annomodels.io.reading import read_questions

    alone = "The data have only one question: leave out --every-question."
    if data.startswith(PREFIX):
        raise click.UsageError(alone)
    asked = asked_of(reading)
    said = {key: value for key, value in reading.items() if key != "question"}
    with way_out():
        found = read_questions(data.paths if isinstance(data, Files) else data, asked, **said)
    if not asked and len(found) + len(found.left_out) < 2:
        raise click.UsageError(alone)
    for question, why in found.left_out.items():
        warn(f"left out: {question}: {why}.")
    return found


def done_each[T](
    found: Questions, work: Callable[[str, Annotations], T], nothing: str
) -> tuple[dict[str, T], dict[str, str]]:
    """Do the work for each question; what cannot be analyzed is left out with the reason."""
    done, left_out = dict[str, T](), dict(found.left_out)
    for question, labels in found.items():
        try:
            done[question] = work(question, labels)
        except (AnnotationError, NotApplicable, EngineError) as error:
            left_out[question] = reason_of(error)
            warn(f"left out: {question}: {left_out[question]}.")
    if not done:
        where = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        what = f"No question of {len(left_out)} {nothing}."
        raise AnnotationError(Problem(what, where, "See annomodels check --every-question."))
    return done, left_out


def say_notes(data: Annotations) -> None:
    """Print on stderr what reading found worth saying."""
    for text in data.notes:
        note(f"note: {text}")


def load_bundled(name: str) -> Annotations:
    """Load a bundled data set, or name those that there are."""
    from annomodels import datasets

    try:
        return datasets.load(name)
    except AnnotationError as error:  # a wrong word here, not a file that cannot be read
        raise click.ClickException(str(error)) from None


def load_fit(name: str) -> Fit:
    """Load what ``annomodels fit`` or ``annomodels run`` saved."""
    from annomodels.fitting.load import load

    path = Path(name) / "fit.nc" if (Path(name) / "fit.nc").is_file() else Path(name)
    if path.is_dir():
        what = "This is a folder without fit.nc."
        raise AnnotationError(Problem(what, name, "Name the file of the fit."))
    if not path.exists() and (problem := unreadable(path)):
        raise AnnotationError(problem)
    found = load(path)
    current().loaded = name
    return found


def stem(name: str) -> str:
    """Return a short name for where data came from."""
    if name == "-":
        return "standard input"
    return printable(Path(name.removeprefix(PREFIX)).name or name)


def _bundled(name: str, reading: Reading) -> Annotations:
    given = [flag_of(key) for key in changed(reading) if key not in ("scale", "format")]
    if given:
        raise click.UsageError(
            f"A bundled data set is read as it is: leave out {', '.join(given)}."
        )
    data = load_bundled(name)
    if not isinstance(reading["scale"], str):
        what = "A bundled data set has one question: give --scale without a name."
        raise click.UsageError(what)
    return data if reading["scale"] == "nominal" else data.replace(scale=reading["scale"])


def design_of(name: str) -> Path:
    """Return where the design of the audit of a fit is kept: in its folder, or beside its file.

    >>> print(design_of("out/fit.nc"), design_of("mace.nc"))
    out/audit.json mace.audit.json
    """
    path = Path(name)
    if path.is_dir():
        return path / DESIGN
    return path.with_name(DESIGN) if path.name == "fit.nc" else path.with_suffix(".audit.json")


def answers_from(
    paths: Sequence[str] | Mapping[Any, Any], items: Iterable[object]
) -> Mapping[Any, Any] | str:
    """Read the answers of several files about items as one, unless they are read already."""
    from annomodels.io.mappings import truths_from

    if isinstance(paths, Mapping) or len(paths) == 1:
        return paths if isinstance(paths, Mapping) else paths[0]
    found: dict[str, str] = {}
    twice: dict[str, None] = {}
    for path in paths:
        for item, truth in truths_from(path, items).items():
            if found.setdefault(item, truth) != truth:
                twice[item] = None
    if twice:
        what = f"{counted(len(twice), 'item')} with different answers: {some(twice)}."
        where = " and ".join(Path(path).name for path in paths)
        raise AnnotationError(Problem(what, where, "Keep one answer for each item."))
    return found


def drawn_from(drawn: str | None, name: str, paths: Sequence[str]) -> dict[str, Any]:
    """Return how the judged items were drawn, as keywords of :func:`annomodels.estimate`."""
    if not paths:
        if drawn is not None:
            raise click.UsageError("--drawn goes with --audit.")
        return {}
    if drawn in SAMPLINGS:
        return {"drawn": drawn}
    if drawn is not None:
        if not Path(drawn).is_file():
            what = f"--drawn {drawn!r} is no file, and neither 'random' nor 'chosen'."
            raise click.UsageError(what)
        return {"audit": drawn}
    place = design_of(name)
    return {"audit": place} if place.is_file() else {}


def check_answers(paths: Sequence[str], data: Annotations) -> None:
    """Look at the answers before a fit, so that a wrong file costs no time."""
    from annomodels.auditing.answers import read_answers

    read_answers(data, answers_from(paths, data.items))


def estimated(
    fit: Fit, paths: Sequence[str] | Mapping[Any, Any], how: Mapping[str, Any], **more: Any
) -> Estimate:
    """Estimate, and say on stderr what a reader should know."""
    from annomodels.auditing.estimate import estimate

    found = estimate(fit, answers_from(paths, fit.data.items), **how, **more)
    first, *rest = found.notes
    (note if found.by_design else warn)(first)
    for text in rest:
        note(f"note: {text}")
    return found
