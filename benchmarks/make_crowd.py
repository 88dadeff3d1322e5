"""The simulated crowd of ``annomodels.datasets``: write its table again, or compare it.

    python benchmarks/make_crowd.py [--seed N] [--check]

No model of the package is the process. Each coder has an ability and each item a difficulty, both
continuous, and a coder sees the true label with a logistic probability of their difference. As on
real crowds, most items are easy and a few mislead nearly everyone: difficulties are exponential,
and who misses a label falls for the lure, which the item has for all. Two coders do not read, one
swaps pos and neg, and some remarks have two readings: they have no single truth.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

LABELS = ("neg", "neu", "pos")
PREVALENCE = (0.35, 0.25, 0.40)
N_ITEMS, N_CODERS, PER_ITEM = 200, 24, 8
SPAMMERS = ("w05", "w12")
SWAPPER = "w08"
TWO_READINGS = "two readings"
HIDDEN = 3.0  # difficulty above which a remark hides what it means
SEED = 5  # the middle one of benchmarks/sample.py

PLACES = ("soup", "bread", "fish", "coffee", "cake", "salad", "service", "music", "terrace", "bill")
WORDS = {
    "neg": ("was awful", "came cold", "took an hour", "was a letdown", "made me angry"),
    "neu": ("was there", "was as on the menu", "came at noon", "was usual", "was average"),
    "pos": ("was superb", "made my day", "came at once", "was a delight", "was worth the trip"),
}
HARD = ("I hear", "they said", "as ever", "of course", "for that price")


@dataclass(frozen=True)
class Process:
    """How hard the simulated task is.

    Parameters
    ----------
    ability
        Mean ability of the coders, in log-odds of seeing the label of an item of difficulty 0.
    spread
        Standard deviation of the abilities.
    difficulty
        Mean of the difficulties, above 0. More makes more items that most coders get wrong.
    lure
        Probability that a coder who misses the label gives the wrong label that the item suggests.
        More makes coders err together.
    two_readings
        Number of items with two readings.
    """

    ability: float = 4.0
    spread: float = 0.6
    difficulty: float = 1.5
    lure: float = 1.0
    two_readings: int = 8


@dataclass
class Crowd:
    """A simulated crowd: rows of the table without a header, and what was planted."""

    coders: list[str]
    rows: list[list[str]] = field(default_factory=list)
    ability: dict[str, float] = field(default_factory=dict)


HEADER = ("item", "text", "group", "truth")


def _draw(random: Random, weights: Sequence[float]) -> int:
    # Random.random() is the only stream that Python promises never to change.
    level = random.random() * sum(weights)
    for index, weight in enumerate(weights):
        level -= weight
        if level < 0:
            return index
    return len(weights) - 1


def _normal(random: Random) -> float:
    radius = math.sqrt(-2 * math.log(1 - random.random()))
    return radius * math.cos(2 * math.pi * random.random())


def _exponential(random: Random) -> float:
    return -math.log(1 - random.random())


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _other(random: Random, label: int) -> int:
    return [k for k in range(len(LABELS)) if k != label][_draw(random, (1, 1))]


def crowd(seed: int = SEED, process: Process | None = None) -> Crowd:
    """Simulate a crowd."""
    process = process or Process()
    random = Random(seed)
    items = [f"r{n:03}" for n in range(1, N_ITEMS + 1)]
    made = Crowd([f"w{n:02}" for n in range(1, N_CODERS + 1)])
    for coder in made.coders:
        made.ability[coder] = round(process.ability + process.spread * _normal(random), 3)
    shuffled = sorted(items, key=lambda _: random.random())
    double = set(shuffled[: process.two_readings])
    given = dict.fromkeys(made.coders, 0)
    for n, item in enumerate(items):
        truth = _draw(random, PREVALENCE)
        lure = _other(random, truth)
        difficulty = process.difficulty * _exponential(random)
        # Those with the least work so far come first, ties broken at random.
        keys = {coder: (given[coder], random.random()) for coder in made.coders}
        labels = dict.fromkeys(made.coders, "")
        for coder in sorted(made.coders, key=keys.__getitem__)[:PER_ITEM]:
            given[coder] += 1
            seen = truth
            if item in double:
                seen = (truth, lure)[_draw(random, (1, 1))]
            elif random.random() >= _logistic(made.ability[coder] - difficulty):
                third = len(LABELS) - truth - lure
                seen = (lure, third)[_draw(random, (process.lure, 1 - process.lure))]
            labels[coder] = LABELS[_said(random, coder, seen)]
        text = _text(random, LABELS[truth], LABELS[lure], item in double, difficulty)
        batch = f"batch {1 + n * 4 // N_ITEMS}"
        true = TWO_READINGS if item in double else LABELS[truth]
        made.rows.append([item, text, batch, true, *labels.values()])
    return made


def _said(random: Random, coder: str, seen: int) -> int:
    """Label that a coder gives who sees one."""
    if coder == SPAMMERS[0]:
        return _draw(random, (1, 1, 1))
    if coder == SPAMMERS[1]:
        return _draw(random, (0.05, 0.9, 0.05))
    if coder == SWAPPER:
        return len(LABELS) - 1 - seen
    return seen


def _text(random: Random, label: str, lure: str, double: bool, difficulty: float) -> str:
    place = PLACES[_draw(random, (1,) * len(PLACES))]
    said = WORDS[label][_draw(random, (1,) * 5)]
    other = WORDS[lure][_draw(random, (1,) * 5)]
    aside = HARD[_draw(random, (1,) * 5)]
    if double:
        return f"The {place} {said}, though the rest {other}."
    # Hard remarks hide what they mean: they name the lure as an expectation.
    return f"The {place} {said}, {aside}." if difficulty > HIDDEN else f"The {place} {said}."


def table(made: Crowd) -> str:
    """Return the table as text."""
    rows = [[*HEADER, *made.coders], *made.rows]
    return "".join("\t".join(row) + "\n" for row in rows)


def main() -> None:
    """Write or compare the table of the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    said = parser.parse_args()
    place = Path(__file__).parents[1] / "annomodels" / "datasets" / "crowd.tsv"
    text = table(crowd(said.seed))
    if said.check:
        sys.exit(place.read_text("utf-8") != text)
    place.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
