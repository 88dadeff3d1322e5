"""Commands from functions; parameters of several commands are declared here, once, by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import click

from annomodels.cli.keys import Spelled
from annomodels.cli.loading import data_argument
from annomodels.cli.options import (
    SHARE,
    Command,
    Job,
    Named,
    Option,
    all_words,
    common_options,
    option,
    parameters_of,
    read_options,
    sample_options,
    seed_option,
    truth_options,
    write_options,
)
from annomodels.limits import ROWS_IN_MEMORY

SHARED: dict[str, Option] = {
    "data": data_argument,
    "fit": click.argument("fit", type=Named()),
    "seed": seed_option,
    "threshold": option(
        "--threshold", "Minimum probability for a gold label; others are left empty.", SHARE
    ),
    "target": option("--target", "Share of right labels that a coder should reach.", SHARE),
    "true_labels": truth_options,
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
    "reading": read_options,
    "sampling": sample_options,
    "writing": write_options,
}
"""Arguments, options and groups of options by the name of the parameter that takes them."""


def as_command(*examples: str, called: str = "") -> Callable[[Command], click.Command]:
    """Create a command from a function whose parameters may name entries of :data:`SHARED`.

    Other options are declared above the function and keep their order in the help; a shared
    option follows the preceding parameter. A parameter `job` represents the fields of
    :class:`Job`. The function returns its exit code, or None on success.
    """

    def make(function: Command) -> click.Command:
        names = list(inspect.signature(function).parameters)
        command = function
        if "job" in names:
            names[:] = [n for name in names for n in (_FIELDS if name == "job" else (name,))]
            command = _with_job(function)
        shared = dict(SHARED)
        if {"reading", "true_labels"} <= {*names}:  # --truth may also be a column
            shared["reading"] = functools.partial(read_options, leave_out=("truth",))
        found = parameters_of(command)  # in reverse order of the help
        own = vars(command).get("gathered", ())
        before = len(found)
        for name in names:
            known = [str(parameter.name) for parameter in found]
            if name in known or name in own or name not in shared:
                before = known.index(name) if name in known else before
                continue
            command = shared[name](command)
            added = found[len(known) :]
            found[len(known) :] = []
            found[before:before] = added
        heading = "Example:" if len(examples) == 1 else "Examples:"
        epilog = "\n".join(["\b", heading, *(f"  annomodels {line}" for line in examples)])
        return click.command(called or function.__name__, cls=Spelled, epilog=epilog)(
            common_options(command)
        )

    return make


_FIELDS = tuple(each.name for each in fields(Job))


def _with_job(function: Command) -> Command:
    @functools.wraps(function)
    def command(**values: Any) -> Any:
        job = Job(**{name: values.pop(name) for name in _FIELDS if name in values})
        return function(job=job, **values)

    return command
