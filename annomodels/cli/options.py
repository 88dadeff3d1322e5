"""Options that several commands share; those of a verb are built from what it says of itself."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any

import click

from annomodels.cli.session import Session
from annomodels.errors import MOST_SEED

FORMATS = ("table", "tsv", "csv", "json", "md", "tex")
SEED = click.IntRange(0, MOST_SEED)
EXECUTORS = ("threads", "processes")
ENGINES = ("auto", "gibbs", "nuts", "em")
UNITS = ("exact", "token", "overlap", "chain")

# options of reading that are called otherwise than the parameters of ``annomodels.read``, since
# commands have options of the shorter names
_CALLED = {
    "gold": "gold-column",
    "group": "group-column",
    "text": "text-column",
    "format": "input-format",
    "coders": "coder-names",
}

_MARKS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}

# headings in --help of the options that several commands share
SECTIONS = {
    "reading": "Data",
    "sampling": "Model and sampling",
    "assumptions": "Assumptions",
    "writing": "Output",
    "common": "Common",
}
Command = Callable[..., Any]
Option = Callable[[Command], Command]
Reading = dict[str, Any]
"""How the data are to be read: the keywords of :func:`annomodels.read`."""


@dataclass(frozen=True)
class Sampling:
    """How a model is to be fitted; `options` are the keywords of :func:`annomodels.fit`."""

    model: str | None
    groups: str | None
    covariates: tuple[str, ...]
    dask: str | None
    allow_unconverged: bool
    options: dict[str, Any]


@dataclass(frozen=True)
class Writing:
    """Where a table goes, and in what form; a form of "" is still to be chosen."""

    form: str
    output: str | None
    force: bool
    wide: bool = False


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

    plain: dict[str, Any] = {"is_flag": True, "expose_value": False, "is_eager": True}
    for flags, name, text in (
        (("--debug",), "debug", "Show the traceback of an error."),
        (("-v", "--verbose"), "verbose", "Say more on stderr."),
        (("-q", "--quiet"), "quiet", "Say only warnings and errors on stderr."),
    ):
        command = click.option(*flags, callback=remember(name), help=text, **plain)(command)
        vars(_parameters(command)[-1])["section"] = SECTIONS["common"]
    return command


def options_of(
    verb: Callable[..., Any], leave_out: Iterable[str] = (), **differing: dict[str, Any]
) -> list[Option]:
    """Build an option from each keyword of a function: its name, type, default and description."""
    said = _described(verb)
    options: list[Option] = []
    for name, parameter in inspect.signature(verb).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and name not in leave_out:
            form = {"help": said[name], **_form(parameter), **differing.get(name, {})}
            flag = form.pop("flag", name.replace("_", "-"))
            options.append(click.option(f"--{flag}", name, **form))
    return options


def _form(parameter: inspect.Parameter) -> dict[str, Any]:
    default = parameter.default
    kind = str(parameter.annotation).removesuffix(" | None")
    if kind == "bool":
        both = {"flag": f"{parameter.name}/--no-{parameter.name}", "show_default": True}
        return {"default": default, **(both if default else {"is_flag": True})}
    if kind.startswith(("Sequence", "Iterable")):
        several = {"multiple": True, "callback": _all_words}
        return {"metavar": "A,B,...", **(several if default == () else {"callback": split_words})}
    form: dict[str, Any] = {"default": default, "show_default": default is not None}
    if "PathLike" in kind:
        form["metavar"] = "FILE"
    if kind == "int":
        form["type"] = click.IntRange(min=1)
    if kind == "float":
        form["type"] = click.FloatRange(min=0, min_open=True)
    return form


def _described(verb: Callable[..., Any]) -> dict[str, str]:
    """First sentence about each parameter in a docstring."""
    section = documented(verb).partition("Parameters\n---")[2].partition("\n\n")[0]
    told: dict[str, str] = dict.fromkeys(inspect.signature(verb).parameters, "")
    for names, text in re.findall(r"^(\w[\w, ]*)\n((?: +.*\n?)+)", section, re.MULTILINE):
        plain = re.sub(r":\w+:`~?(?:\w+\.)*(\w+)`|`+", r"\1", " ".join(text.split()))
        told |= dict.fromkeys(names.split(", "), re.split(r"(?<=\.) (?=[A-Z])", plain)[0])
    return told


def documented(function: Callable[..., Any]) -> str:
    """Docstring of a function, from its source where Python was told to drop it (-OO)."""
    found = inspect.getdoc(function)
    if found is None:
        with suppress(OSError):
            source = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
            found = next(
                ast.get_docstring(node) for node in source.body if isinstance(node, ast.FunctionDef)
            )
    return found or ""


def changed(reading: Reading) -> Reading:
    """Options of reading that are not as they are by default."""
    from annomodels.io.reading import read

    default = {name: p.default for name, p in inspect.signature(read).parameters.items()}
    return {name: value for name, value in reading.items() if value and value != default[name]}


def flag_of(name: str) -> str:
    """Give the option for a parameter of reading."""
    return "--" + _CALLED.get(name, name.replace("_", "-"))


def read_options(command: Command) -> Command:
    """Add the options that say how DATA is read; the command gets them as ``reading``."""
    from annomodels.data.annotations import SCALES
    from annomodels.io.reading import read
    from annomodels.io.tables.guard import REPEATS

    differing: dict[str, dict[str, Any]] = {
        **{
            name: {"metavar": "COLUMN", "help": f"Column with the {name}."}
            for name in ("coder", "label")
        },
        **{name: {"flag": flag} for name, flag in _CALLED.items()},
        "scale": {
            "multiple": True,
            "default": (),
            "show_default": False,
            "metavar": "SCALE",
            "callback": _scales,
            "help": f"Of the labels: {', '.join(SCALES)} (without it, nominal); or of a question "
            "or pattern, stage_*=ordinal. May be repeated.",
        },
        "question": {
            "multiple": True,
            "default": (),
            "metavar": "NAME",
            "help": "Which question to read when there are several; run, agree and check take "
            "several, and patterns such as 'stage_*'.",
        },
        "units": {"type": click.Choice(UNITS)},
        "dont_know": {"metavar": "LABEL", "callback": None},
        "item": {
            "metavar": "COLUMN,...",
            "help": "Column with the item; several (a,b,c) name it together.",
        },
        "delimiter": {"callback": lambda _, __, text: _MARKS.get(text, text)},
        "repeats": {"type": click.Choice(REPEATS)},
        "map": {
            "flag": "map",
            "multiple": True,
            "metavar": "OLD=NEW",
            "callback": _pairs,
            "default": (),
            "help": "Recode a label; may be repeated.",
        },
        "skip_rows": {"type": click.IntRange(min=0)},
    }
    options = options_of(read, (), **differing)
    return gathered(command, options, "reading", dict[str, Any])


def sample_options(command: Command) -> Command:
    """Add the options of a fit; the command gets them as ``sampling``."""
    from annomodels.fitting.run import fit
    from annomodels.models.catalog import MODELS

    ours: list[Option] = [
        click.option(
            "--model",
            type=click.Choice([*MODELS, "interval"]),
            help="What is believed of coders and items; by default stack, and hierarchical where "
            "a stack cannot be fitted.",
        ),
        click.option(
            "--groups",
            metavar="FILE",
            help="Group of each coder (two columns, or JSON): each a population.",
        ),
        click.option(
            "--covariates",
            metavar="FILE",
            multiple=True,
            help="Table with a column coder, or item, and what abilities, or difficulties, are "
            "regressed on (--model scalar-difficulty, for one).",
        ),
        click.option(
            "--dask",
            metavar="ADDRESS",
            callback=_cluster,
            help="Spread over a Dask cluster: tcp://HOST:PORT, or local:4 for four processes.",
        ),
        click.option(
            "--allow-unconverged",
            is_flag=True,
            help="Exit with 0 even if the inference cannot be trusted.",
        ),
    ]
    differing: dict[str, dict[str, Any]] = {
        "engine": {"type": click.Choice(ENGINES)},
        "warmup": {"type": click.IntRange(min=0)},
        "seed": {
            "type": SEED,
            "default": 1,
            "help": "The same seed gives the same numbers.",
        },
        "time_limit": {
            "type": str,
            "callback": _seconds,
            "metavar": "TIME",
            "help": "Stop sampling after 90, 90s, 10m or 1h30m and keep what there is.",
        },
        "executor": {
            "type": click.Choice(EXECUTORS),
            "help": "Where passes over the labels are run; the draws stay the same.",
        },
    }

    def gather(**options: Any) -> Sampling:
        own = {each.name: options.pop(each.name) for each in fields(Sampling)[:-1]}
        return Sampling(**own, options=options)

    options = [*ours, *options_of(fit, ("progress",), **differing)]
    return gathered(command, options, "sampling", gather)


# not called --columns, which says what the columns of a table without a header are
wide_option = click.option(
    "--wide", is_flag=True, help="Draw all columns of a table, in parts if need be."
)


def write_options(command: Command) -> Command:
    """Add the options of a table; the command gets them as ``writing``."""
    options: list[Option] = [
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
        wide_option,
    ]

    def gather(**values: Any) -> Writing:
        if values["as_json"] and values["form"] not in (None, "json"):
            raise click.UsageError(f"--json and --format {values['form']} cannot both be used.")
        form = "json" if values["as_json"] else values["form"] or ""
        return Writing(form, values["output"], values["force"], values["wide"])

    return gathered(command, options, "writing", gather)


def gathered(
    command: Command, options: Sequence[Option], name: str, gather: Callable[..., Any]
) -> Command:
    """Add options to a command, and hand them over as one value called `name`."""

    @functools.wraps(command)
    def with_value(*args: Any, **values: Any) -> Any:
        values[name] = gather(**{key: values.pop(key) for key in keys})
        return command(*args, **values)

    wrapped: Command = with_value
    before = len(_parameters(command))
    for option in reversed(options):
        wrapped = option(wrapped)
    added = _parameters(wrapped)[before:]
    keys = [parameter.name for parameter in added]
    for parameter in added:
        vars(parameter)["section"] = SECTIONS[name]
    return wrapped


def _parameters(command: Command) -> list[click.Parameter]:
    known: list[click.Parameter] = getattr(command, "__click_params__", [])
    return known


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


def _pairs(
    _: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str] | None:
    """Read OLD=NEW; a label that holds a = stands in quotes."""
    out: dict[str, str] = {}
    for text in texts:
        found = _PAIR.fullmatch(text)
        if found is None:
            raise click.BadParameter(f"{text!r} is not OLD=NEW.", param=parameter)
        old, new = (found[1] if found[1] is not None else found[2]), found[3]
        if out.setdefault(old, new) != new:
            what = f"{old!r} cannot become both {out[old]!r} and {new!r}."
            raise click.BadParameter(what, param=parameter)
    return out or None


def _scales(_: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> Any:
    """Read scales: of all questions, or of those that a name or pattern stands for."""
    from annomodels.data.annotations import SCALES

    found: dict[str, str] = {}
    for text in texts:
        name, sign, scale = text.rpartition("=")
        if scale not in SCALES or (sign and not name):
            wrong = (
                f"{text!r} is not a scale. Use {', '.join(SCALES)}, or QUESTION=SCALE such as "
                "'stage_*=ordinal'."
            )
            raise click.BadParameter(wrong, param=parameter)
        if found.setdefault(name or "*", scale) != scale:
            wrong = f"two scales are given for {name or 'all questions'}."
            raise click.BadParameter(wrong, param=parameter)
    return found["*"] if list(found) == ["*"] else found or "nominal"


_PAIR = re.compile(r'(?:"([^"]*)"|([^=]+))=(.*)', re.DOTALL)
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


def _cluster(_: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    if text is not None and re.fullmatch(r"local(:[1-9]\d*)?|\w+://\S+", text) is None:
        wrong = f"{text!r} is not a cluster; write tcp://HOST:PORT, local or local:4."
        raise click.BadParameter(wrong, param=parameter)
    return text
