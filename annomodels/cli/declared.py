"""Commands from functions; what several commands share is declared here, by name of parameter."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import click

from annomodels.cli.keys import SECTIONS, Spelled, options_from
from annomodels.cli.loading import data_argument
from annomodels.cli.options import (
    READ,
    SHARE,
    Command,
    Job,
    Models,
    Named,
    OneOf,
    Option,
    Sampling,
    Truth,
    Writing,
    all_words,
    option,
    options_of,
    pairs,
    parameters_of,
)
from annomodels.cli.session import Session
from annomodels.errors import MOST_SEED
from annomodels.limits import ROWS_IN_MEMORY

FORMATS = ("table", "tsv", "csv", "json", "md", "tex")
SEED = click.IntRange(0, MOST_SEED)
ENGINES = ("auto", "gibbs", "nuts", "em")
USES = ("fit", "test", "audit")
UNITS = ("exact", "token", "overlap", "chain")
_FITTED = ("engine", "chains", "draws", "seed", "time_limit")  # the others are keys of --sampler
_MARKS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}


class Group(NamedTuple):
    """Options whose values a command gets as one value, which `gather` makes of them."""

    options: Sequence[Option]
    gather: Callable[..., object]


def keys_option(group: str, help: str) -> Option:
    """Return the option ``--GROUP KEY=VALUE``; keys are declared as ``--GROUP.KEY``."""
    return option(
        f"--{group}...",
        f"{help}; --help-all lists the keys.",
        metavar="KEY=VALUE",
        expose_value=False,
    )


read_key = keys_option("read", "Further option of reading, such as sheet=Round2 or skip_rows=1")
SEED_HELP = "Random seed: the same seed gives the same numbers."
seed_option = option("--seed", SEED_HELP, SEED, 1)


def read_options(leave_out: Collection[str] = ()) -> Group:
    """Return the reading options of DATA."""
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
    config: Option = click.option(
        "--config",
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=options_from,
        help='File of options (TOML): item = "sentence", and a table [read] for its keys.',
    )
    options = [*options_of(read, "read", READ, leave_out, **differing), read_key, config]
    rest = dict.fromkeys(leave_out)
    return Group(options, lambda **values: {**values, **rest})


def sample_options() -> Group:
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
        option(
            "--sampler.dask",
            "Dask cluster to use: tcp://HOST:PORT, or local:4 for four processes.",
            metavar="ADDRESS",
            callback=_cluster,
        ),
    ]
    differing: dict[str, dict[str, Any]] = {
        "engine": {"type": OneOf(ENGINES)},
        "warmup": {"type": click.IntRange(min=0)},
        "seed": {"type": SEED, "default": 1, "show_default": True, "help": SEED_HELP},
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
    sampler = keys_option("sampler", "Further option of the sampler, such as warmup=1000")
    return Group([*ours, *of_fit, sampler], gather)


def truth_options() -> Group:
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
    return Group(options, Truth)


def table_options(what: str = "table", place: str = "File to write to [default: stdout].") -> Group:
    form = (
        f"Form of the {what} [default: by the ending of the file; drawn on a terminal, else tsv]."
    )
    options = [
        option("-o --output", place, metavar="FILE"),
        option("--force", "Overwrite the output if it exists.", bool),
        option("--format form", form, FORMATS, callback=lambda _, __, form: form or ""),
    ]
    return Group(options, Writing)


def write_options() -> Group:
    return Group(table_options().options, lambda **values: Writing(**values).check())


SHARED: dict[str, Option] = {
    "data": data_argument,
    "fit": click.argument("fit", type=Named()),
    "seed": seed_option,
    "threshold": option(
        "--threshold", "Minimum probability for a gold label; others are left empty.", SHARE
    ),
    "target": option("--target", "Share of right labels that a coder should reach.", SHARE),
    "show": option(
        "--show...",
        "Further columns about the items to show in the report, separated by commas.",
        metavar="COLUMNS",
        callback=all_words,
    ),
    "anonymize": option(
        "--anonymize", "Leave the names of coders out of all outputs.", bool, section="writing"
    ),
    "spreadsheet": option(
        "--spreadsheet",
        "Put an apostrophe before texts that a spreadsheet would read as formulas.",
        bool,
        section="writing",
    ),
    "stream": option(
        "--stream",
        f"Fit block by block, as tables with {ROWS_IN_MEMORY // 1_000_000} million rows are: "
        "DATA is a Parquet, CSV or TSV file, a folder or a pattern.",
        bool,
    ),
    "cache": option(
        "--cache",
        "With --stream: folder to keep the sorted labels for the next run; they are used again if "
        "names, sizes and times of the files are the same.",
        metavar="FOLDER",
    ),
    "force": option("--force", "Overwrite outputs that exist.", bool, section="writing"),
    "as_json": option(
        "--format as_json",
        "Form of what is printed.",
        ("text", "json"),
        "text",
        section="writing",
        callback=lambda _, __, form: form == "json",
    ),
    "paper": option(
        "--methods paper",
        "File for a methods section: .md; of a saved fit also .tex or .bib.",
        metavar="FILE",
    ),
    "gates": option(
        "--fail-if gates...",
        "Exit with 1 if the condition holds or is undefined, such as alpha<0.667 or "
        "accuracy.low<0.9; the names are in the first column of the table; may be repeated.",
        metavar="GATE",
    ),
}
"""Arguments and options by the name of the parameter that takes them."""


GROUPS: dict[str, Callable[[], Group]] = {
    "true_labels": truth_options,
    "reading": read_options,
    "sampling": sample_options,
    "writing": write_options,
}
"""Groups of options by the name of the parameter that takes their value."""


def _remember(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        setattr(ctx.ensure_object(Session), str(parameter.name), True)


_SESSION: dict[str, Any] = {
    "section": "common", "callback": _remember, "expose_value": False, "is_eager": True,
}  # fmt: skip
COMMON = (
    option("--debug", "Show the traceback of an error.", bool, **_SESSION),
    option(
        "-v --verbose", "Print more on stderr, and draw all columns of a table.", bool, **_SESSION
    ),
    option("-q --quiet", "Print only warnings and errors on stderr.", bool, **_SESSION),
)
"""Options of all commands, which set the session of the call."""


def as_command(
    *examples: str, called: str = "", **groups: Callable[[], Group]
) -> Callable[[Command], click.Command]:
    """Create a command from a function whose parameters may name what is shared.

    Other options are declared above the function and keep their order in the help; a shared
    option or group follows the preceding parameter. `groups` are those of this command only. A
    parameter `job` represents the fields of :class:`Job`. The function returns its exit code, or
    None on success.
    """

    def make(function: Command) -> click.Command:
        parts: dict[str, tuple[Sequence[str], Callable[..., object]]] = {}
        known_groups = {**GROUPS, **groups}
        names = list(inspect.signature(function).parameters)
        if "job" in names:
            names = [n for name in names for n in (_FIELDS if name == "job" else (name,))]
        if {"reading", "true_labels"} <= {*names}:  # --truth may also be a column
            known_groups["reading"] = functools.partial(read_options, leave_out=("truth",))
        found = parameters_of(function)  # in reverse order of the help
        before = len(found)
        for name in names:
            known = [str(parameter.name) for parameter in found]
            if name in known:
                before = known.index(name)
            elif name in known_groups:
                options, gather = known_groups[name]()
                added = _added(function, options, SECTIONS[name], before)
                parts[name] = [str(each.name) for each in added if each.expose_value], gather
            elif name in SHARED:
                _added(function, [SHARED[name]], "", before)
        if "job" in inspect.signature(function).parameters:
            parts["job"] = _FIELDS, Job
        for add in COMMON:
            add(function)

        @functools.wraps(function)
        def command(**values: Any) -> Any:
            for name, (keys, gather) in parts.items():
                values[name] = gather(**{key: values.pop(key) for key in keys})
            return function(**values)

        heading = "Example:" if len(examples) == 1 else "Examples:"
        epilog = "\n".join(["\b", heading, *(f"  annomodels {line}" for line in examples)])
        return click.command(called or function.__name__, cls=Spelled, epilog=epilog)(command)

    return make


_FIELDS = tuple(each.name for each in fields(Job))


def _added(
    function: Command, options: Sequence[Option], section: str, before: int
) -> list[click.Parameter]:
    """Add options to a function before a place in its parameters, which are in reverse order."""
    found = parameters_of(function)
    number = len(found)
    for add in reversed(options):
        add(function)
    added, found[number:] = found[number:], []
    found[before:before] = added
    for parameter in added if section else ():
        vars(parameter)["section"] = section
    return added


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
