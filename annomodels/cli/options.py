"""Options that several commands share, each group gathered into one value."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from annomodels.cli.session import Session
from annomodels.models.catalog import MODELS

FORMATS = ("table", "tsv", "csv", "json", "md", "tex")
EXECUTORS = ("threads", "processes")
ENGINES = ("auto", "gibbs", "nuts", "em")
UNITS = ("exact", "token", "overlap", "chain")
SCALES = ("nominal", "ordinal", "interval", "ratio")

SPREAD = "annomodels.spread"  # where a click context remembers how a run is spread

Command = Callable[..., Any]


@dataclass(frozen=True)
class Reading:
    """How the data are to be read."""

    item: str | None
    coder: str | None
    label: str | None
    gold_column: str | None
    group_column: str | None
    text_column: str | None
    labels: tuple[str, ...] | None
    scale: str
    missing: tuple[str, ...]
    dont_know: tuple[str, ...]
    input_format: str
    question: str | None
    coder_columns: tuple[str, ...] | None
    coder_names: str | None
    units: str | None
    models: bool
    encoding: str | None
    delimiter: str | None
    sheet: str | None


@dataclass(frozen=True)
class Sampling:
    """How a model is to be fitted."""

    model: str
    groups: str | None
    engine: str
    chains: int
    draws: int
    warmup: int
    seed: int
    threads: int | None
    time_limit: float | None
    allow_unconverged: bool


@dataclass(frozen=True)
class Writing:
    """Where a table goes, and in what form; a form of "" is still to be chosen."""

    form: str
    output: str | None
    force: bool


def examples(*lines: str) -> str:
    """Give the end of a help text: command lines to copy."""
    return "\n".join(
        ["\b", "Example:" if len(lines) == 1 else "Examples:", *(f"  {x}" for x in lines)]
    )


def common_options(command: Command) -> Command:
    """Add -q, -v and --debug, which set the session of the call."""

    def remember(name: str) -> Callable[[click.Context, click.Parameter, bool], None]:
        def callback(ctx: click.Context, _: click.Parameter, value: bool) -> None:
            if value:
                setattr(ctx.ensure_object(Session), name, True)

        return callback

    for flags, name, text in (
        (("--debug",), "debug", "Show the traceback of an error."),
        (("-v", "--verbose"), "verbose", "Say more on stderr."),
        (("-q", "--quiet"), "quiet", "Say only warnings and errors on stderr."),
    ):
        command = click.option(
            *flags,
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=remember(name),
            help=text,
        )(command)
    return command


def read_options(command: Command) -> Command:
    """Add the options that say how DATA is read; the command gets them as ``reading``."""
    options = [
        click.option("--item", metavar="COLUMN", help="Column with the item."),
        click.option("--coder", metavar="COLUMN", help="Column with the coder."),
        click.option("--label", metavar="COLUMN", help="Column with the label."),
        click.option("--gold-column", metavar="COLUMN", help="Column with the known truth."),
        click.option("--group-column", metavar="COLUMN", help="Column with the document."),
        click.option("--text-column", metavar="COLUMN", help="Column with the text."),
        click.option("--labels", callback=split_words, help="All labels in order: neg,neu,pos."),
        click.option(
            "--scale", type=click.Choice(SCALES), default="nominal", help="Scale of the labels."
        ),
        click.option(
            "--missing", multiple=True, callback=_all_words, help="Cells that mean no label: NA,-."
        ),
        click.option(
            "--dont-know",
            multiple=True,
            metavar="LABEL",
            help="A label that is not a class, such as unsure; models learn who uses it and when.",
        ),
        click.option(
            "--input-format", default="auto", metavar="NAME", help="Format of DATA; else detected."
        ),
        click.option("--question", metavar="NAME", help="Which question of several to read."),
        click.option(
            "--coder-columns",
            callback=split_words,
            help="Columns of a wide table that are coders: a,b.",
        ),
        click.option(
            "--coder-names", metavar="FILE", help="Names for the identifiers of coders (JSON, CSV)."
        ),
        click.option(
            "--units",
            type=click.Choice(UNITS),
            help="What the items are where coders marked stretches of text.",
        ),
        click.option("--models", is_flag=True, help="Take predictions in DATA for coders."),
        click.option("--encoding", metavar="NAME", help="Encoding of DATA, such as cp1252."),
        click.option(
            "--delimiter",
            metavar="SIGN",
            callback=lambda _, __, text: {"tab": "\t", "\\t": "\t"}.get(text, text),
            help="Delimiter of DATA (tab for a tab); else detected.",
        ),
        click.option("--sheet", metavar="NAME", help="Sheet of an Excel workbook."),
    ]
    return gathered(command, options, "reading", Reading)


def sample_options(command: Command) -> Command:
    """Add the options of a fit; the command gets them as ``sampling``."""
    at_least_one = click.IntRange(min=1)
    options = [
        click.option(
            "--model",
            type=click.Choice([*MODELS, "interval"]),
            default="hierarchical",
            show_default=True,
            help="What is believed of coders.",
        ),
        click.option(
            "--groups",
            metavar="FILE",
            help="Group of each coder (two columns, or JSON): each a population.",
        ),
        click.option(
            "--engine",
            type=click.Choice(ENGINES),
            default="auto",
            show_default=True,
            help="How to compute the fit; em gives a first look without intervals.",
        ),
        click.option(
            "--chains", type=at_least_one, default=4, show_default=True, help="Number of chains."
        ),
        click.option(
            "--draws", type=at_least_one, default=1000, show_default=True, help="Of each chain."
        ),
        click.option(
            "--warmup",
            type=click.IntRange(min=0),
            default=500,
            show_default=True,
            help="Iterations of each chain before its draws.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=1,
            show_default=True,
            help="The same seed gives the same numbers.",
        ),
        click.option("--threads", type=at_least_one, help="At most so many at a time."),
        click.option(
            "--time-limit",
            callback=_seconds,
            metavar="TIME",
            help="Stop sampling after 90, 90s, 10m or 1h30m and keep what there is.",
        ),
        click.option(
            "--allow-unconverged",
            is_flag=True,
            help="Exit with 0 even if the inference cannot be trusted.",
        ),
    ]
    return gathered(command, options, "sampling", Sampling)


def write_options(command: Command) -> Command:
    """Add the options of a table; the command gets them as ``writing``."""
    options = [
        click.option("-o", "--output", metavar="FILE", help="Write here instead of to stdout."),
        click.option("--force", is_flag=True, help="Overwrite FILE if it exists."),
        click.option(
            "--format",
            "form",
            type=click.Choice(FORMATS),
            default=None,
            help="Of the table [default: by the ending of FILE; drawn on a terminal, else tsv].",
        ),
        click.option("--json", "as_json", is_flag=True, help="The same as --format json."),
    ]

    def gather(**values: Any) -> Writing:
        if values["as_json"] and values["form"] not in (None, "json"):
            raise click.UsageError(f"--json and --format {values['form']} cannot both be used.")
        form = "json" if values["as_json"] else values["form"] or ""
        return Writing(form, values["output"], values["force"])

    return gathered(command, options, "writing", gather, ("output", "force", "form", "as_json"))


def gathered(
    command: Command,
    options: Sequence[Callable[[Command], Command]],
    name: str,
    kind: Callable[..., Any],
    names: tuple[str, ...] = (),
) -> Command:
    """Add options to a command and hand them over as one value called `name`."""
    keys = names or tuple(kind.__annotations__)

    @functools.wraps(command)
    def with_value(*args: Any, **values: Any) -> Any:
        values[name] = kind(**{key: values.pop(key) for key in keys})
        return command(*args, **values)

    wrapped: Command = with_value
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def split_words(_: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    """Read the words between commas; the callback of an option."""
    if text is None:
        return None
    words = _split(text)
    if not words:
        raise click.BadParameter("name at least one.", param=parameter)
    return words


def _all_words(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for text in texts for word in _split(text))


def _split(text: str) -> tuple[str, ...]:
    """Words between commas; quotes protect a comma, and spaces around a word do not count."""
    from annomodels.io.tables.delimited import first_row

    row = first_row(text, spaces=False)
    return tuple(word.strip() for word in row if word.strip())


_TIME = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?", re.ASCII)


def _seconds(_: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    if text is None:
        return None
    found = _TIME.fullmatch(text.strip().lower())
    hours, minutes, seconds = (float(part or 0) for part in found.groups()) if found else (0, 0, 0)
    total = 3600 * hours + 60 * minutes + seconds
    if total <= 0:
        wrong = f"{text!r} is not a time; write 90, 90s, 10m or 1h30m."
        raise click.BadParameter(wrong, param=parameter)
    return total


def spread_options(command: Command) -> Command:
    """Add the options; :func:`annomodels.cli.sampling.spreading` gives what they say."""

    def remember(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value:
            ctx.meta.setdefault(SPREAD, {})[parameter.name] = value

    def place(ctx: click.Context, parameter: click.Parameter, text: str | None) -> None:
        if text is not None and re.fullmatch(r"local(:[1-9]\d*)?|\w+://\S+", text) is None:
            wrong = f"{text!r} is not a cluster; write tcp://HOST:PORT, local or local:4."
            raise click.BadParameter(wrong, param=parameter)
        remember(ctx, parameter, text)

    options = (
        click.option(
            "--executor",
            type=click.Choice(EXECUTORS),
            expose_value=False,
            callback=remember,
            help="Where passes over the labels are run; the draws stay the same.",
        ),
        click.option(
            "--dask",
            metavar="ADDRESS",
            expose_value=False,
            callback=place,
            help="Spread over a Dask cluster: tcp://HOST:PORT, or local:4 for four processes.",
        ),
        click.option(
            "--checkpoint",
            metavar="FILE",
            expose_value=False,
            callback=remember,
            help="Save the state of the run every minute and when it is interrupted.",
        ),
        click.option(
            "--resume",
            is_flag=True,
            expose_value=False,
            callback=remember,
            help="Continue from the checkpoint if it exists; the draws stay the same.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command
