"""Shared options; some are built from the signature and docstring of a function."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any

import click

from annomodels.cli.keys import SECTIONS, config_option, key_of
from annomodels.cli.session import Session
from annomodels.errors import MOST_SEED, meant

FORMATS = ("table", "tsv", "csv", "json", "md", "tex")
SEED = click.IntRange(0, MOST_SEED)
ENGINES = ("auto", "gibbs", "nuts", "em")
USES = ("fit", "test", "audit")
UNITS = ("exact", "token", "overlap", "chain")

# parameters of reading that are options; the others are keys of --read
_READ = (
    *("item", "coder", "label", "truth", "group", "text", "labels", "scale"),
    *("question", "missing", "coder_columns", "units"),
)
_FITTED = ("engine", "chains", "draws", "seed", "time_limit")  # the others are keys of --sampler

_MARKS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}

Command = Callable[..., Any]
Option = Callable[[Command], Command]
COUNT, SHARE = click.IntRange(min=1), click.FloatRange(0, 1)
Reading = dict[str, Any]
"""How the data are to be read: the keywords of :func:`annomodels.read`."""


@dataclass(frozen=True)
class Sampling:
    """Options of a fit; `options` are the keywords of :func:`annomodels.fit`."""

    model: str | None
    groups: str | None
    covariates: tuple[str, ...]
    dask: str | None
    options: dict[str, Any]


@dataclass(frozen=True)
class Truth:
    """Files with true labels, and their use unless it is detected."""

    paths: tuple[str, ...] = ()
    use: str | None = None


@dataclass(frozen=True)
class Job:
    data: str
    output: str
    force: bool
    reading: Reading
    sampling: Sampling
    threshold: float | None = None
    target: float | None = None
    true_labels: Truth = Truth()
    show: tuple[str, ...] = ()
    anonymize: bool = False
    spreadsheet: bool = False
    no_report: bool = False
    stream: bool = False
    cache: str | None = None
    earlier: str | None = None
    as_json: bool = False


@dataclass(frozen=True)
class Writing:
    """Output and form of a table; the form "" is chosen later."""

    form: str
    output: str | None
    force: bool

    def check(self, *endings: str) -> Writing:
        """Check that the named file, if any, can be written and has a valid extension."""
        if self.output not in (None, "-"):
            from annomodels.cli.places import TABLE, check_file

            check_file(str(self.output), self.force, " ".join(endings) or TABLE)
        return self


class OneOf(click.Choice[str]):
    """Choice that suggests similar words for an unknown word."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        hint = f"{meant(value, self.choices)}Use one of {', '.join(self.choices)}."
        return f"{value!r} is unknown. {hint}"


class Models(OneOf):
    """Choice of a model that lists the usual models only."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        from annomodels.models.catalog import unknown

        return unknown(str(value), self.choices)


class Named(click.types.StringParamType):
    """Name of a file or folder; an empty name is usually an unset variable of a script."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Refuse an empty name, which would mean the current folder."""
        if not str(value).strip():
            self.fail("The name is empty.", param, ctx)
        return str(value)


def option(
    flags: str, help: str, kind: Any = None, default: Any = None, section: str = "", **more: Any
) -> Option:
    """Return an option; `kind` is bool, choices, or a type; ``FLAG...`` may be repeated."""
    words = flags.removesuffix("...").split()
    if flags.endswith("..."):
        more["multiple"] = True
    if kind is bool:
        more["is_flag"] = True
    elif kind is not None:
        more["type"] = OneOf(list(kind)) if isinstance(kind, (list, tuple)) else kind
        if isinstance(kind, (click.IntRange, click.FloatRange)):
            more.setdefault("metavar", "N")
    if default is not None:
        more |= {"default": default, "show_default": default != ""}
    if kind is None and {"FILE", "FOLDER", "FIT"} & {*more.get("metavar", "").split("|")}:
        more.setdefault("type", Named())
    made = click.option(*words, help=help, **more)

    def add(command: Command) -> Command:
        command = made(command)
        if section:
            vars(parameters_of(command)[-1])["section"] = SECTIONS[section]
        return command

    return add


read_key = option(
    "--read...",
    "Further option of reading, such as sheet=Round2 or skip_rows=1; --help-all lists the keys.",
    metavar="KEY=VALUE",
    expose_value=False,
)
seed_option = option("--seed", "Random seed: the same seed gives the same numbers.", SEED, 1)


def common_options(command: Command) -> Command:
    """Add -q, -v and --debug, which set the session of the call."""

    def remember(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value:
            setattr(ctx.ensure_object(Session), str(parameter.name), True)

    plain: dict[str, Any] = {"callback": remember, "expose_value": False, "is_eager": True}
    for flags, text in (
        ("--debug", "Show the traceback of an error."),
        ("-v --verbose", "Print more on stderr, and draw all columns of a table."),
        ("-q --quiet", "Print only warnings and errors on stderr."),
    ):
        command = option(flags, text, bool, section="common", **plain)(command)
    return command


def options_of(
    verb: Callable[..., object],
    group: str,
    shown: Collection[str],
    leave_out: Collection[str] = (),
    /,
    **differing: Mapping[str, object],
) -> list[Option]:
    """Build an option from each keyword of a function: its name, type, default and description.

    Those that are not `shown` are keys of the option `group`, as in ``--read encoding=cp1252``.
    """
    said = _described(verb)
    options: list[Option] = []
    for name, parameter in inspect.signature(verb).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and name not in leave_out:
            form = {"help": said[name], **_form(parameter), **differing.get(name, {})}
            if name in shown:
                options.append(click.option(f"--{name.replace('_', '-')}", name, **form))
            else:
                options.append(key_of(group, name, **form))
    return options


def _form(parameter: inspect.Parameter) -> dict[str, Any]:
    default = parameter.default
    kind = str(parameter.annotation).removesuffix(" | None")
    if kind == "bool":
        usual = {"show_default": "yes"} if default else {}
        return {"default": default, "type": click.BOOL, **usual}
    if kind.startswith(("Sequence", "Iterable")):
        several = {"multiple": True, "callback": all_words}
        return {"metavar": "A,B,...", **(several if default == () else {"callback": split_words})}
    form: dict[str, Any] = {"default": default, "show_default": default is not None}
    if "PathLike" in kind:
        form |= {"metavar": "FILE", "type": Named()}
    if kind in ("int", "float"):
        form["metavar"] = "N"
        form["type"] = COUNT if kind == "int" else click.FloatRange(min=0, min_open=True)
    return form


def _described(verb: Callable[..., object]) -> dict[str, str]:
    """Return the first sentence about each parameter in a docstring."""
    section = documented(verb).partition("Parameters\n---")[2].partition("\n\n")[0]
    told: dict[str, str] = dict.fromkeys(inspect.signature(verb).parameters, "")
    for names, text in re.findall(r"^(\w[\w, ]*)\n((?: +.*\n?)+)", section, re.MULTILINE):
        plain = re.sub(r":\w+:`~?(?:\w+\.)*(\w+)`|`+", r"\1", " ".join(text.split()))
        told |= dict.fromkeys(names.split(", "), re.split(r"(?<=\.) (?=[A-Z])", plain)[0])
    return told


def documented(function: Callable[..., object]) -> str:
    """Return the docstring of a function, from its source if Python dropped it (-OO)."""
    found = inspect.getdoc(function)
    if found is None:
        with suppress(OSError):
            source = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
            found = next(
                ast.get_docstring(node) for node in source.body if isinstance(node, ast.FunctionDef)
            )
    return found or ""


def changed(reading: Reading) -> Reading:
    """Return the reading options that differ from their defaults."""
    from annomodels.io.reading import read

    default = {name: p.default for name, p in inspect.signature(read).parameters.items()}
    return {name: value for name, value in reading.items() if value and value != default[name]}


def flag_of(name: str) -> str:
    """Return the option for a parameter of reading, or the key of --read."""
    return f"--{name.replace('_', '-')}" if name in _READ else f"--read {name}"


def read_options(command: Command, leave_out: Collection[str] = ()) -> Command:
    """Add the reading options of DATA, which the command receives as ``reading``."""
    from annomodels.data.annotations import SCALES
    from annomodels.io.reading import read
    from annomodels.io.tables.guard import REPEATS

    differing: dict[str, dict[str, Any]] = {
        **{
            name: {"metavar": "COLUMN", "help": f"Column with the {name}."}
            for name in ("coder", "label")
        },
        "group": {"metavar": "COLUMN"},
        "text": {"metavar": "COLUMN"},
        "truth": {"metavar": "COLUMN", "help": "Column with the known true label of items."},
        "scale": {
            "multiple": True,
            "default": (),
            "show_default": False,
            "metavar": "SCALE",
            "callback": _scales,
            "help": f"Scale of the labels: {', '.join(SCALES)} [default: nominal]; or of a "
            "question or pattern, stage_*=ordinal; may be repeated.",
        },
        "question": {
            "multiple": True,
            "default": (),
            "metavar": "NAME",
            "help": "Question to read if there are several; run, agree and check take several, and "
            "patterns such as 'stage_*', or '*' for all.",
        },
        "units": {"type": OneOf(UNITS)},
        "seen": {"type": OneOf(("all", "marked"))},
        "dont_know": {"metavar": "LABEL", "callback": None},
        "item": {
            "metavar": "COLUMN,...",
            "help": "Column with the item, or columns that identify it together: a,b,c.",
        },
        "delimiter": {"callback": lambda _, __, text: _MARKS.get(text, text)},
        "repeats": {"type": OneOf(REPEATS)},
        "map": {
            "multiple": True,
            "metavar": "OLD=NEW",
            "callback": pairs,
            "default": (),
            "help": "Recode a label; may be repeated.",
        },
        "skip_rows": {"type": click.IntRange(min=0)},
    }
    options = [*options_of(read, "read", _READ, leave_out, **differing), read_key, config_option]
    rest = dict.fromkeys(leave_out)
    return gathered(command, options, "reading", lambda **values: {**values, **rest})


def sample_options(command: Command) -> Command:
    """Add the options of a fit; the command gets them as ``sampling``."""
    from annomodels.fitting.run import fit
    from annomodels.models.catalog import MODELS, USUAL

    ours: list[Option] = [
        option(
            "--model",
            "Model of coders and items [default: stack; hierarchical if the stack does not apply]: "
            f"{', '.join(USUAL)}; or one for research, see the models page.",
            Models([*MODELS, "interval"]),
            metavar="NAME",
        ),
        option(
            "--groups",
            "Group of each coder, as a table of two columns or JSON; each group is a population.",
            metavar="FILE",
        ),
        option(
            "--covariates...",
            "Table with a column coder (or item) and predictors of ability (or difficulty), for "
            "example for --model scalar-difficulty.",
            metavar="FILE",
        ),
        key_of(
            "sampler",
            "dask",
            help="Dask cluster to use: tcp://HOST:PORT, or local:4 for four processes.",
            metavar="ADDRESS",
            callback=_cluster,
        ),
    ]
    differing: dict[str, dict[str, Any]] = {
        "engine": {"type": OneOf(ENGINES)},
        "warmup": {"type": click.IntRange(min=0)},
        "seed": {
            "type": SEED,
            "default": 1,
            "show_default": True,
            "help": "Random seed: the same seed gives the same numbers.",
        },
        "time_limit": {
            "type": str,
            "callback": _seconds,
            "metavar": "TIME",
            "help": "Stop sampling after 90, 90s, 10m or 1h30m and keep the draws so far.",
        },
    }

    def gather(**options: Any) -> Sampling:
        own = {each.name: options.pop(each.name) for each in fields(Sampling)[:-1]}
        return Sampling(**own, options=options)

    of_fit = options_of(fit, "sampler", _FITTED, ("progress", "executor"), **differing)
    sampler = option(
        "--sampler...",
        "Further option of the sampler, such as warmup=1000; --help-all lists the keys.",
        metavar="KEY=VALUE",
        expose_value=False,
    )
    return gathered(command, [*ours, *of_fit, sampler], "sampling", gather)


def truth_options(command: Command) -> Command:
    """Add the options of true labels; the command gets them as ``true_labels``."""
    options = [
        option(
            "--truth paths...",
            "True labels of items: a table (item,label), decisions.csv of a report, audit.csv of "
            "`annomodels audit`, or a column of DATA; may be repeated.",
            metavar="FILE|COLUMN",
        ),
        option(
            "--use",
            "Use of the true labels: fit the model with them; test the fit with them; or audit it, "
            "for items drawn at random [default: audit for items that `annomodels audit` drew, "
            "else fit].",
            USES,
        ),
    ]
    return gathered(command, options, "true_labels", Truth)


def table_options(
    what: str = "table", place: str = "File to write to [default: stdout]."
) -> list[Option]:
    form = (
        f"Form of the {what} [default: by the ending of the file; drawn on a terminal, else tsv]."
    )
    return [
        option("-o --output", place, metavar="FILE"),
        option("--force", "Overwrite the output if it exists.", bool),
        option("--format form", form, FORMATS, callback=lambda _, __, form: form or ""),
    ]


def write_options(command: Command) -> Command:
    """Add the options of a table; the command gets them as ``writing``."""

    def gather(**values: Any) -> Writing:
        return Writing(**values).check()

    return gathered(command, table_options(), "writing", gather)


def gathered(
    command: Command, options: Sequence[Option], name: str, gather: Callable[..., object]
) -> Command:
    """Add options to a command, and pass them as one value named `name`."""

    @functools.wraps(command)
    def with_value(*args: object, **values: object) -> Any:
        values[name] = gather(**{key: values.pop(key) for key in keys})
        return command(*args, **values)

    wrapped: Command = with_value
    vars(wrapped)["gathered"] = {*vars(command).get("gathered", ()), name}
    before = len(parameters_of(command))
    for option in reversed(options):
        wrapped = option(wrapped)
    added = parameters_of(wrapped)[before:]
    keys = [parameter.name for parameter in added if parameter.expose_value]
    for parameter in added:
        vars(parameter)["section"] = SECTIONS[name]
    return wrapped


def parameters_of(command: Command) -> list[click.Parameter]:
    """Return the arguments and options of a function, in reverse order."""
    known: list[click.Parameter] = vars(command).setdefault("__click_params__", [])
    return known


def split_words(_: click.Context, parameter: click.Parameter, text: str | None) -> Any:
    """Split at commas, as the callback of an option."""
    if text is None:
        return None
    words = _split(text)
    if not words:
        raise click.BadParameter("name at least one.", param=parameter)
    return words


def all_words(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Split at commas, as the callback of an option that may be repeated."""
    return tuple(word for text in texts for word in _split(text))


def _split(text: str) -> tuple[str, ...]:
    """Split at commas outside quotes, and strip spaces."""
    from annomodels.io.tables.table import first_row

    row = first_row(text, spaces=False)
    return tuple(word.strip() for word in row if word.strip())


def pairs(
    _: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str] | None:
    """Parse OLD=NEW; quotes protect a = in OLD."""
    out: dict[str, str] = {}
    for text in texts:
        found = _PAIR.fullmatch(text)
        if found is None:
            raise click.BadParameter(f"{text!r}: write {parameter.metavar}.", param=parameter)
        old, new = (found[1] if found[1] is not None else found[2]), found[3]
        if out.setdefault(old, new) != new:
            what = f"{old!r} cannot become both {out[old]!r} and {new!r}."
            raise click.BadParameter(what, param=parameter)
    return out or None


def _scales(_: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> Any:
    """Parse scales of all questions, or of those that match a name or pattern."""
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
