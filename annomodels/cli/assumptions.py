"""Options that say what is assumed of items and coders that do not exist yet."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from annomodels.cli.options import SEED, gathered, split_words


@dataclass(frozen=True)
class Assumptions:
    """What is assumed of items and coders."""

    items: tuple[str, ...]
    coders: tuple[str, ...]
    labels: tuple[str, ...]
    prevalence: tuple[str, ...] | None
    accuracy: float
    spread: float
    spammers: float
    adversaries: float
    ambiguous: float
    difficulty: float
    seed: int

    def options(self) -> dict[str, Any]:
        """Give the arguments of :func:`annomodels.simulate`, with one number of each."""
        sizes = {}
        for name in ("items", "coders"):
            numbers = whole_numbers(getattr(self, name), f"--{name}")
            if len(numbers) > 1:
                raise click.UsageError(f"--{name}: give one number.")
            sizes[name] = numbers[0]
        return {**self.shared(), **sizes}

    def shared(self) -> dict[str, Any]:
        """Give what does not depend on the numbers of items and coders."""
        from annomodels.planning.crowds import spread_out

        words = self.labels
        counted = len(words) == 1 and words[0].isdecimal()
        return {
            "labels": int(words[0]) if counted else words,
            "prevalence": None if self.prevalence is None else _shares(self.prevalence),
            "accuracy": spread_out(self.accuracy, self.spread),
            "spammers": self.spammers,
            "adversaries": self.adversaries,
            "ambiguous": self.ambiguous,
            "difficulty": self.difficulty,
            "seed": self.seed,
        }


def assumption_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command gets them as ``assumptions``."""
    share = click.FloatRange(0, 1)
    options = [
        click.option(
            "--items", callback=split_words, default="200", show_default=True, help="How many."
        ),
        click.option(
            "--coders", callback=split_words, default="20", show_default=True, help="How many."
        ),
        click.option(
            "--labels",
            callback=split_words,
            default="2",
            show_default=True,
            help="How many, or their names in order: neg,neu,pos.",
        ),
        click.option(
            "--prevalence",
            callback=split_words,
            metavar="P,P,...",
            help="Share of each label among the truths: .9,.1; else all the same.",
        ),
        click.option(
            "--accuracy", type=share, default=0.8, show_default=True, help="Of coders, on average."
        ),
        click.option(
            "--spread",
            type=click.FloatRange(0, 0.5),
            default=0.12,
            show_default=True,
            help="Standard deviation of the accuracy between coders.",
        ),
        click.option(
            "--spammers",
            type=share,
            default=0.0,
            show_default=True,
            help="Share of coders who do not look at the items.",
        ),
        click.option(
            "--adversaries",
            type=share,
            default=0.0,
            show_default=True,
            help="Share of coders who swap labels.",
        ),
        click.option(
            "--ambiguous",
            type=share,
            default=0.0,
            show_default=True,
            help="Share of items with two readings.",
        ),
        click.option(
            "--difficulty",
            type=click.FloatRange(min=0),
            default=0.0,
            show_default=True,
            help="Standard deviation of the difficulty of items, in log-odds.",
        ),
        click.option(
            "--seed",
            type=SEED,
            default=1,
            show_default=True,
            help="The same seed gives the same numbers.",
        ),
    ]
    return gathered(command, options, "assumptions", Assumptions)


def numbers_from(text: str) -> tuple[int, int]:
    """Read ``5`` or ``2-6``.

    >>> numbers_from("5"), numbers_from("2-6")
    ((5, 5), (2, 6))
    """
    found = re.fullmatch(r"\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*", text, re.ASCII)
    if found is None:
        raise click.UsageError(
            f"{text!r} is not a number; write 5, or 2-6 for the fewest and most."
        )
    return int(found[1]), int(found[2] or found[1])


def whole_numbers(words: tuple[str, ...], option: str) -> list[int]:
    """Read ``10,20``.

    >>> whole_numbers(("10", "20"), "--coders")
    [10, 20]
    """
    if not all(re.fullmatch(r"\d{1,9}", word, re.ASCII) for word in words):
        raise click.UsageError(f"{option} {','.join(words)}: write whole numbers, such as 10,20.")
    return [int(word) for word in words]


def _shares(words: tuple[str, ...]) -> list[float]:
    try:
        return [float(word) for word in words]
    except ValueError:
        raise click.UsageError(
            f"--prevalence {','.join(words)}: write one share for each label, such as .9,.1."
        ) from None
