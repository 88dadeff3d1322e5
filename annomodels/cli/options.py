"""Options, some built from the signature and docstring of a function, and their values."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import click

from annomodels.cli.keys import SECTIONS, KeyOption
from annomodels.errors import meant

# parameters of reading that are options; the others are keys of --read
READ = (
    *("item", "coder", "label", "truth", "group", "text", "labels", "scale"),
    *("question", "missing", "coder_columns", "units"),
)

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
    flags: str,
    help: str = "",
    kind: Any = None,
    default: Any = None,
    section: str = "",
    **more: Any,
) -> Option:
    """Return an option; `kind` is bool, choices, or a type.

    ``FLAG...`` may be repeated, and ``--GROUP.KEY`` is a key of the option ``--GROUP``.
    """
    words = flags.removesuffix("...").split()
    if key := words[-1].partition(".")[2]:
        words, more = [*words, key], {"cls": KeyOption, **more}
    if flags.endswith("..."):
        more["multiple"] = True
    if kind is bool:
        more["is_flag"] = True
    elif kind is not None:
        more["type"] = OneOf(list(kind)) if isinstance(kind, (list, tuple)) else kind
        if not key and isinstance(kind, (click.IntRange, click.FloatRange)):
            more.setdefault("metavar", "N")
    if default is not None:
        more = {"default": default, "show_default": default not in ("", ()), **more}
    if kind is None and {"FILE", "FOLDER", "FIT"} & {*more.get("metavar", "").split("|")}:
        more.setdefault("type", Named())
    made = click.option(*words, help=help, **more)

    def add(command: Command) -> Command:
        command = made(command)
        if section:
            vars(parameters_of(command)[-1])["section"] = SECTIONS[section]
        return command

    return add


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
            plain = name.replace("_", "-")
            options.append(option(f"--{plain if name in shown else f'{group}.{name}'}", **form))
    return options


def _form(parameter: inspect.Parameter) -> dict[str, Any]:
    default = parameter.default
    kind = str(parameter.annotation).removesuffix(" | None")
    if kind == "bool":
        return {"default": default, "show_default": default and "yes", "type": click.BOOL}
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
    return f"--{name.replace('_', '-')}" if name in READ else f"--read {name}"


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


_PAIR = re.compile(r'(?:"([^"]*)"|([^=]+))=(.*)', re.DOTALL)
