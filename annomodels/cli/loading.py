"""Loading of data and fits named on the command line."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.exits import reason_of
from annomodels.cli.options import Job, Named, Reading, Truth, changed, flag_of
from annomodels.cli.session import current, note, say_notes, warn
from annomodels.data.annotations import Annotations
from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, EngineError, NotApplicable, printable
from annomodels.io.border import decoded, raw_bytes, unreadable
from annomodels.io.objects import json_value
from annomodels.io.proposals import Proposal
from annomodels.io.span_builder import Spans
from annomodels.io.tables.keys import quoted

if TYPE_CHECKING:
    from annomodels.auditing.estimate import Estimate
    from annomodels.fitting.fit import Fit
    from annomodels.io.reading import Questions

PREFIX = "dataset:"
EVERY = "*"  # pattern of all questions
# file with the design of an audit, in the folder of a fit
DESIGN = "audit.json"
TABLES = (".csv", ".tsv", ".txt", ".xlsx", ".ods", ".json", ".jsonl", ".parquet")


class Files(str):
    """Several files under one name for messages: `paths` has coder (or None) and path of each."""

    __slots__ = ("paths",)
    paths: tuple[tuple[str | None, str], ...]

    def __new__(cls, paths: Sequence[tuple[str | None, str]]) -> Files:
        """Name at most three files."""
        names = [Path(path).name for _, path in paths]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        made = super().__new__(cls, ", ".join(names[:3]) + more)
        made.paths = tuple(paths)
        return made


def named_data(_: click.Context, __: click.Parameter, words: tuple[str, ...]) -> str:
    """Return a file, or several as one, each with an optional coder name."""
    named = [named_path(word) for word in words]
    alone = len(named) == 1 and named[0][0] is None
    return words[0] if alone else Files(named)


data_argument = click.argument("data", nargs=-1, required=True, type=Named(), callback=named_data)


def named_path(word: str) -> tuple[str | None, str]:
    """Split ``NAME=PATH`` into name and path, unless it is an existing path.

    >>> named_path("ana=a.csv"), named_path("a.csv"), named_path("out/a=1.csv")
    (('ana', 'a.csv'), (None, 'a.csv'), (None, 'out/a=1.csv'))
    """
    name, sign, path = word.partition("=")
    if sign and name and path and os.sep not in name and not Path(word).exists():
        return name, path
    return None, word


def load_any(name: str, reading: Reading) -> Annotations | Spans:
    """Read labels of items like :func:`load_data`, or spans if no units are named."""
    from annomodels.io.reading import read_any

    bundled_or_several = name.startswith(PREFIX) or several(reading)
    return load_data(name, reading) if bundled_or_several else _of_one(read_any, name, reading)


def load_data(name: str, reading: Reading) -> Annotations:
    """Read a file, standard input (``-``) or a bundled data set (``dataset:NAME``)."""
    if name.startswith(PREFIX):
        return _bundled(name.removeprefix(PREFIX), reading)
    from annomodels.io.reading import read

    if not several(reading):
        return _of_one(read, name, reading)
    found = load_each(name, reading)
    if len(found) > 1:
        what = f"This command takes one question, and {', '.join(found)} were chosen."
        what += " annomodels run, agree and check take several."
        raise click.UsageError(what)
    return next(iter(found.values()))


def _of_one[T](read: Callable[..., T], name: str, reading: Reading) -> T:
    """Read one question, or the only one."""
    with way_out():
        return read(_paths(name), **{**reading, "question": next(iter(asked_of(reading)), None)})


def _paths(name: str) -> Any:
    return name.paths if isinstance(name, Files) else name


@contextmanager
def way_out() -> Iterator[None]:
    """Rewrite the proposal of an error as this command with its options."""
    try:
        yield
    except AnnotationError as error:
        if isinstance(error.proposal, Proposal):
            words = shlex.split(current().command)
            for name, value in error.proposal.new.items():
                words = [*_without(words, flag_of(name)), *_typed(flag_of(name), _word(value))]
            command = shlex.join(words)
            error.proposal = f"{command}\n         reads {error.proposal.gives}"
        raise


def _without(words: Sequence[str], flag: str) -> list[str]:
    """Remove an option, or a key of one, and its value from a command."""
    flag, _, key = flag.partition(" ")
    out: list[str] = []
    rest = iter(words)
    for word in rest:
        name, sign, value = word.partition("=")
        pair = [word] if sign or name != flag else [word, *[next(rest, "")]]
        told = value if sign else pair[-1]
        if name != flag or (key and told.partition("=")[0] != key):
            out += pair
    return out


def _typed(flag: str, value: str) -> list[str]:
    """Return the words of an option, or of a key, with its value."""
    flag, _, key = flag.partition(" ")
    return [flag, f"{key}={value}" if key else value]


def _word(value: Any) -> str:
    """Format the value of an option; separate several by commas."""
    return str(value) if isinstance(value, (str, int)) else ",".join(map(quoted, value))


def asked_of(reading: Reading) -> tuple[str, ...]:
    asked = reading["question"]
    return () if asked is None else (asked,) if isinstance(asked, str) else tuple(asked)


def several(reading: Reading) -> bool:
    """Return True if names or a pattern select several questions."""
    asked = asked_of(reading)
    if len(asked) != 1:
        return bool(asked)
    from annomodels.io.codebook import is_pattern

    return is_pattern(asked[0])


def load_each(data: str, reading: Reading) -> Questions:
    """Read all or the selected questions, and warn of those left out."""
    from annomodels.io.reading import read_questions

    alone = "The data have only one question: leave out --question."
    if data.startswith(PREFIX):
        raise click.UsageError(alone)
    asked = asked_of(reading)
    asked = () if EVERY in asked else asked
    said = {key: value for key, value in reading.items() if key != "question"}
    with way_out():
        found = read_questions(_paths(data), asked, **said)
    if not asked and len(found) + len(found.left_out) < 2:
        raise click.UsageError(alone)
    for question, why in found.left_out.items():
        warn(f"left out: {question}: {why}.")
    return found


def done_each[T](
    found: Questions, work: Callable[[str, Annotations], T], nothing: str
) -> tuple[dict[str, T], dict[str, str]]:
    """Do the work for each question; return the results, and failed questions with the reason."""
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
        raise AnnotationError(what, where, "See annomodels check --question '*'.")
    return done, left_out


def load_bundled(name: str) -> Annotations:
    """Load a bundled data set; the error for an unknown name lists all."""
    from annomodels import datasets

    try:
        return datasets.load(name)
    except AnnotationError as error:  # a usage error, not an unreadable file
        raise click.ClickException(str(error)) from None


def load_fit(name: str) -> Any:
    from annomodels.fitting.load import load

    path = Path(name) / "fit.nc" if (Path(name) / "fit.nc").is_file() else Path(name)
    if path.is_dir():
        what = "This is a folder without fit.nc."
        raise AnnotationError(what, name, "Name the file of the fit.")
    if not path.exists() and (problem := unreadable(path)):
        raise AnnotationError(problem)
    if path.suffix.lower() in TABLES and path.is_file():
        what = "This is a table, but the command needs a saved fit."
        remedy = f"Fit the labels first: annomodels run {shlex.quote(name)}"
        raise AnnotationError(what, name, remedy)
    found = load(path)
    current().loaded = name
    return found


def stem(name: str) -> str:
    if name == "-":
        return "standard input"
    return printable(Path(name.removeprefix(PREFIX)).name or name)


def _bundled(name: str, reading: Reading) -> Annotations:
    given = [flag_of(key) for key in changed(reading) if key not in ("scale", "format")]
    if given:
        raise click.UsageError(
            f"A bundled data set does not need options for reading: leave out {', '.join(given)}."
        )
    data = load_bundled(name)
    if not isinstance(reading["scale"], str):
        what = "A bundled data set has one question: give --scale without a name."
        raise click.UsageError(what)
    return data if reading["scale"] == "nominal" else data.replace(scale=reading["scale"])


def design_of(name: str) -> Path:
    """Return the path of the audit design of a fit: in its folder, or next to its file.

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
    """Merge the answers of several files about items, unless they are read already."""
    from annomodels.io.mappings import truths_from

    if isinstance(paths, Mapping) or len(paths) == 1:
        return paths if isinstance(paths, Mapping) else paths[0]
    return joined(paths, items, truths_from)


def check_answers(paths: Sequence[str], data: Annotations) -> None:
    """Check the answers before a fit, so that a wrong file costs no time."""
    from annomodels.auditing.answers import read_answers

    read_answers(data, answers_from(paths, data.items))


def estimated(
    fit: Fit, paths: Sequence[str] | Mapping[Any, Any], how: Mapping[str, Any], **more: Any
) -> Estimate:
    """Estimate, and print the notes on stderr."""
    from annomodels.auditing.estimate import estimate

    found: Estimate = estimate(fit, answers_from(paths, fit.data.items), **how, **more)
    first, *rest = found.notes
    (note if found.by_design else warn)(first)
    say_notes(rest)
    return found


# -- true labels, by use --------------------------------------------------------------------------


def with_truth_column(job: Job) -> Job:
    """Move a column named by --truth to the reading options of the job."""
    named = [path for path in job.true_labels.paths if _is_column(path)]
    if not named:
        return job
    if len(named) > 1:
        raise click.UsageError(f"--truth names {len(named)} columns: {', '.join(named)}. Name one.")
    if job.true_labels.use not in (None, "fit"):
        raise click.UsageError(
            f"--use {job.true_labels.use} needs a file of true labels; the column {named[0]!r} is "
            "used to fit the model."
        )
    rest = tuple(path for path in job.true_labels.paths if path not in named)
    truth = Truth(rest, job.true_labels.use if rest else None)
    return replace(job, true_labels=truth, reading={**job.reading, "truth": named[0]})


def _is_column(name: str) -> bool:
    """Return True if the value of --truth names a column, not a file."""
    path = Path(name)
    return not path.exists() and path.suffix.lower() not in TABLES and len(path.parts) < 2


@dataclass(frozen=True)
class TruthFiles:
    """Files with true labels, by use; `how` has the keywords of an estimate."""

    fit: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    audit: tuple[str, ...] = ()
    how: Mapping[str, Any] = field(default_factory=dict)


def sorted_truth(truth: Truth, name: str, default: str = "fit") -> TruthFiles:
    """Sort the files by use: as requested, or as their content shows.

    `name` is the fit or the folder of the run, with the design of an audit next to it. With
    several files, decisions and audits keep their use, and ``--use`` applies to the others.
    """
    if not truth.paths:
        if truth.use is not None:
            raise click.UsageError("--use needs --truth.")
        return TruthFiles()
    # the page's command names the design of an audit, since it writes to another folder
    named = [path for path in truth.paths if path.endswith(".json") and drawn_items(Path(path))]
    answers = [path for path in truth.paths if path not in named]
    if not answers:
        raise click.UsageError(
            f"--truth {named[0]} is the design of an audit, without true labels. Give the judged "
            "items too: --truth audit.csv."
        )
    places: list[str | Path] = [
        *named,
        design_of(name),
        *(Path(path).with_name(DESIGN) for path in answers),
    ]
    designs = {place: drawn_items(place) for place in map(Path, places) if place.is_file()}
    files: dict[str, list[str]] = {"fit": [], "test": [], "audit": []}
    for path in answers:
        files[_use_of(path, truth, default, list(designs.values()))].append(path)
    how = _drawn(files["audit"], designs, truth.use == "audit") if files["audit"] else {}
    return TruthFiles(tuple(files["fit"]), tuple(files["test"]), tuple(files["audit"]), how)


def _use_of(path: str, truth: Truth, default: str, designs: Sequence[set[str]]) -> str:
    """Return the use of a file: as requested, or as its content shows."""
    if Path(path).is_dir():  # a project in which an expert marked audited documents
        return "audit"
    from annomodels.auditing.sample import AUDIT
    from annomodels.io.mappings import is_decisions, is_span_rows, rows_of

    header: Sequence[str] = ()
    own = None  # what the file is: decisions of the page, audited items, or any other
    if Path(path).is_file():
        if not path.endswith(".json"):
            with suppress(AnnotationError):  # a table that cannot be read is refused when used
                header = rows_of(path).header
        if is_decisions(path):
            own = "fit"
        elif is_span_rows(path):  # judged documents, or decided places
            own = "audit" if AUDIT in header else "fit"
        elif any(designs) and (found := _items([path])):
            own = "audit" if any(found <= drawn for drawn in designs) else None
    use = own if own and len(truth.paths) > 1 else truth.use or own or default
    name = Path(path).name
    if own == "fit" and use == "audit" and is_decisions(path):
        raise click.UsageError(
            f"{name} has the decisions of a report, which were not drawn at random: leave out "
            "--use audit."
        )
    if own is None and AUDIT in header and (truth.use is None or use == "audit"):
        what = (
            "These items were drawn by `annomodels audit` with unequal chances, and their design "
            f"({DESIGN}) is neither next to them nor next to the fit."
        )
        remedy = (
            f"Give the design too: --truth {DESIGN}, from the folder that they were drawn from. "
            "With --use fit they count as true labels of these items only."
        )
        raise AnnotationError(what, name, remedy)
    if use == "audit" and truth.use is None and default != "audit":
        note(
            f"note: {name} has the items that `annomodels audit` drew, so it is used as an audit. "
            "--use fit or --use test uses it otherwise."
        )
    return use


def _drawn(
    paths: Sequence[str], designs: Mapping[Path, set[str]], asked: bool
) -> dict[str, str | Path]:
    """Return how the judged items were drawn, as keywords of :func:`annomodels.estimate`."""
    judged = _items(paths)
    for place, drawn in designs.items():
        if judged & drawn:
            return {"audit": place}
    if asked:  # a plain table used as an audit
        note(
            f"note: No design of an audit ({DESIGN}) has the items of "
            f"{' and '.join(Path(path).name for path in paths)}: all items count as drawn with the "
            "same chance."
        )
        return {"use": "audit"}
    return {"audit": next(iter(designs))} if designs else {}


def joined[T, K: Hashable](
    paths: Sequence[str], data: T, read: Callable[[str, T], Mapping[K, Hashable]]
) -> dict[K, Hashable]:
    """Return the true labels of several files, which must agree; `read` takes a path and `data`."""
    found: dict[K, Hashable] = {}
    twice: dict[K, None] = {}
    for path in paths:
        for item, label in read(path, data).items():
            if found.setdefault(item, label) != label:
                twice[item] = None
    if twice:
        what = f"{counted(len(twice), 'item')} with different true labels: {some(twice)}."
        where = " and ".join(Path(path).name for path in paths)
        raise AnnotationError(what, where, "Keep one true label for each item.")
    return found


def drawn_items(place: Path) -> set[str]:
    """Return the items of a design; empty for other files, which are refused later."""
    with suppress(AnnotationError, KeyError, TypeError):
        saved = json_value(decoded(raw_bytes(place), place.name), place.name)
        rounds = [each for each in saved["rounds"] if isinstance(each, list)]
        return {str(item) for each in rounds for item in each}
    return set()


def _items(paths: Sequence[str]) -> set[str]:
    """Return the items of tables; skip unreadable tables, which are refused when used."""
    from annomodels.io.mappings import items_from

    found: set[str] = set()
    for path in paths:
        with suppress(AnnotationError):
            found |= set(items_from(path))
    return found
