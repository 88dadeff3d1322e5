"""Plans of a study: ``annomodels simulate`` and ``design``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from annomodels.cli.declared import Group, as_command, keys_option, seed_option
from annomodels.cli.options import SHARE, Named, Writing, option, split_words
from annomodels.cli.session import Stages, note
from annomodels.cli.tables import emit, loaded, show

if TYPE_CHECKING:
    from annomodels.planning.simulate import Workload


def assumption_options() -> Group:
    """Return the options of the keywords of a simulation."""
    several: dict[str, Any] = {"callback": split_words}
    options = [
        option("--items", "Number of items.", default="200", callback=whole_numbers),
        option("--coders", "Number of coders.", default="20", callback=whole_numbers),
        option(
            "--labels", "Number of labels, or their names: neg,neu,pos.", default="2", **several
        ),
        option("--assume.accuracy", "Mean accuracy of the coders.", SHARE, 0.8),
        option(
            "--assume.spread", "Standard deviation of coder accuracy.", click.FloatRange(0, 0.5),
            0.12,
        ),
        option("--assume.spammers", "Share of coders who ignore the items.", SHARE, 0.0),
        option("--assume.adversaries", "Share of coders who swap labels.", SHARE, 0.0),
        option("--assume.ambiguous", "Share of items with two readings.", SHARE, 0.0),
        option(
            "--assume.difficulty", "Standard deviation of item difficulty, in log-odds.",
            click.FloatRange(min=0), 0.0,
        ),
        option(
            "--assume.prevalence", "Share of each true label: 0.9,0.1 [default: equal].",
            metavar="P,P,...", **several,
        ),
        keys_option("assume", "Property of coders or items, such as accuracy=0.9"),
        seed_option,
    ]  # fmt: skip
    return Group(options, _assumptions)


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


@as_command(
    "simulate --items 300 --coders 20 --labels neg,neu,pos -o votes.csv",
    "simulate --assume spammers=0.2 --assume ambiguous=0.1 --truth truth.csv -o votes.csv",
    "simulate | annomodels check -",
    assumptions=assumption_options,
)
@option(
    "--labels-per-item",
    "Labels per item: a number, or a range (2-6).",
    default="5",
    metavar="N[-M]",
)
@option(
    "--assume.workload",
    "Distribution of the work: all coders do the same amount, or a few do most.",
    ("even", "long-tailed"),
    "even",
    show_default=False,
)
@option(
    "--assume.gold",
    "Number of items with known gold in the table.",
    click.IntRange(min=0),
    0,
    show_default=False,
)
@option("--truth", "File for the true label of each item.", metavar="FILE")
def simulate(
    labels_per_item: str,
    workload: Workload,
    gold: int,
    truth: str | None,
    assumptions: dict[str, Any],
    writing: Writing,
) -> None:
    """Simulate labels of items and coders with given properties."""
    from annomodels.planning.simulate import simulate

    answers = Writing("", truth, writing.force).check()
    fewest, most = numbers_from(labels_per_item)
    for name in ("items", "coders"):
        if len(assumptions[name]) > 1:
            raise click.UsageError(f"--{name}: give one number.")
        (assumptions[name],) = assumptions[name]
    made = simulate(
        labels_per_item=fewest if fewest == most else (fewest, most),
        workload=workload,
        gold=gold,
        **assumptions,
    )
    emit(made.to_frame(), writing)
    if truth is not None:
        emit(made.truth_frame(), answers)
    note(f"Simulated {made!r}.")


FREE = ("items", "coders", "seed")  # assumptions that are allowed with a pilot


@as_command(
    "design --target 0.97 --coders 10,20 --assume accuracy=0.85",
    "design pilot --labels-per-item 3,5,8",
    "design --of alpha --target 0.1 --items 200,400,800",
    assumptions=assumption_options,
)
@click.argument("fit", required=False, type=Named())
@option(
    "--target",
    "Share of right gold labels to reach [default: 0.95], or width of alpha's interval [0.1].",
    click.FloatRange(min=0, min_open=True),
)
@option("--of", "Quantity that the target is for.", ("gold", "alpha"), "gold")
@option(
    "--labels-per-item",
    "Numbers of labels per item to try.",
    default="1,2,3,5,7,10",
    callback=whole_numbers,
)
@option("--replications", "Simulated studies per design.", click.IntRange(min=2), 30)
def design(fit: str | None, assumptions: dict[str, Any], writing: Writing, **asked: Any) -> None:
    """Find how many coders and labels reach a target.

    --items and --coders take several numbers to try: 10,20.
    """
    from annomodels.planning.design import design

    source, default = click.get_current_context().get_parameter_source, ParameterSource.DEFAULT
    given = {name for name in (*assumptions, "spread") if source(name) is not default}
    pilot = None
    if fit is not None:
        if clash := sorted(given - set(FREE)):
            raise click.UsageError(
                f"The pilot already sets {', '.join(clash)}: leave that out, or plan without it."
            )
        assumptions = {name: assumptions[name] for name in {"seed", *given}}
        pilot = loaded(fit)
    with Stages() as stages:
        found = design(pilot, progress=stages, **asked, **assumptions)
    show(found, writing)
