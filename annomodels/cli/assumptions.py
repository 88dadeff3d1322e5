"""Options for assumptions about simulated items and coders."""

from __future__ import annotations

import re
from typing import Any

import click

from annomodels.cli.keys import key_of
from annomodels.cli.options import SHARE, Command, gathered, option, seed_option, split_words

NUMBERS = (
    ("accuracy", "Mean accuracy of the coders.", SHARE, 0.8),
    ("spread", "Standard deviation of coder accuracy.", click.FloatRange(0, 0.5), 0.12),
    ("spammers", "Share of coders who ignore the items.", SHARE, 0.0),
    ("adversaries", "Share of coders who swap labels.", SHARE, 0.0),
    ("ambiguous", "Share of items with two readings.", SHARE, 0.0),
    (
        "difficulty",
        "Standard deviation of item difficulty, in log-odds.",
        click.FloatRange(min=0),
        0.0,
    ),
)


def assumption_options(command: Command) -> Command:
    """Add the options; the command gets them as ``assumptions``, keywords of a simulation."""
    several: dict[str, Any] = {"callback": split_words}
    options = [
        option("--items", "Number of items.", default="200", callback=whole_numbers),
        option("--coders", "Number of coders.", default="20", callback=whole_numbers),
        option(
            "--labels", "Number of labels, or their names: neg,neu,pos.", default="2", **several
        ),
        *(
            key_of("assume", name, help=text, type=kind, default=default, show_default=True)
            for name, text, kind, default in NUMBERS
        ),
        key_of(
            "assume",
            "prevalence",
            help="Share of each true label: 0.9,0.1 [default: equal].",
            metavar="P,P,...",
            **several,
        ),
        option(
            "--assume...",
            "Property of coders or items, such as accuracy=0.9; --help-all lists the keys.",
            metavar="KEY=VALUE",
            expose_value=False,
        ),
        seed_option,
    ]
    return gathered(command, options, "assumptions", _assumptions)


def _assumptions(
    labels: tuple[str, ...],
    prevalence: tuple[str, ...] | None,
    accuracy: float,
    spread: float,
    **others: object,
) -> dict[str, Any]:
    from annomodels.planning.simulate import spread_out

    counted = len(labels) == 1 and labels[0].isdecimal()
    return {
        **others,
        "labels": int(labels[0]) if counted else labels,
        "prevalence": None if prevalence is None else _shares(prevalence),
        "accuracy": spread_out(accuracy, spread),
    }


def numbers_from(text: str) -> tuple[int, int]:
    """Parse ``5`` or ``2-6``.

    >>> numbers_from("5"), numbers_from("2-6")
    ((5, 5), (2, 6))
    """
    found = re.fullmatch(r"\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*", text, re.ASCII)
    if found is None:
        raise click.UsageError(
            f"{text!r} is not a number; write 5, or 2-6 for a minimum and a maximum."
        )
    return int(found[1]), int(found[2] or found[1])


def whole_numbers(ctx: click.Context, parameter: click.Parameter, text: str) -> list[int]:
    """Parse ``10,20``, as the callback of an option."""
    words = split_words(ctx, parameter, text)
    if not all(re.fullmatch(r"\d{1,9}", word, re.ASCII) for word in words):
        wrong = f"{text}: write whole numbers, such as 10,20."
        raise click.BadParameter(wrong, param=parameter)
    return [int(word) for word in words]


def _shares(words: tuple[str, ...]) -> list[float]:
    try:
        return [float(word) for word in words]
    except ValueError:
        raise click.UsageError(
            f"--assume prevalence={','.join(words)}: write one share for each label: 0.9,0.1."
        ) from None
