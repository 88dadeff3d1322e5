"""The simulated crowd of ``annomodels.datasets``: write its table again, or compare it.

Three coders do not read, one swaps pos and neg, one says neg too often, and 30 remarks are
ambiguous.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

LABELS = ("neg", "neu", "pos")
PREVALENCE = (0.35, 0.25, 0.40)
N_ITEMS, N_CODERS, PER_ITEM = 200, 24, 8
N_AMBIGUOUS = 30
SPAMMERS = ("w05", "w12", "w19")
ADVERSARY = "w08"
BIASED = "w15"
SEED = 1979

PLACES = ("soup", "bread", "fish", "coffee", "cake", "salad", "service", "music", "terrace", "bill")
WORDS = {
    "neg": ("was awful", "came cold", "took an hour", "was a letdown", "made me angry"),
    "neu": ("was there", "was as on the menu", "came at noon", "was usual", "was average"),
    "pos": ("was superb", "made my day", "came at once", "was a delight", "was worth the trip"),
}


def _draw(random: Random, weights: Sequence[float]) -> int:
    # Random.random() is the only stream that Python promises never to change.
    level = random.random() * sum(weights)
    for index, weight in enumerate(weights):
        level -= weight
        if level < 0:
            return index
    return len(weights) - 1


def _confusion(coder: str, accuracy: float) -> list[list[float]]:
    """Probability of each label (column) by the true label (row)."""
    if coder == SPAMMERS[0]:
        return [[1 / 3] * 3] * 3
    if coder == SPAMMERS[1]:
        return [[0.02, 0.96, 0.02]] * 3
    if coder == SPAMMERS[2]:
        return [[0.5, 0.0, 0.5]] * 3
    if coder == ADVERSARY:
        return [[0.05, 0.07, 0.88], [0.45, 0.1, 0.45], [0.88, 0.07, 0.05]]
    if coder == BIASED:
        return [[0.94, 0.04, 0.02], [0.5, 0.47, 0.03], [0.35, 0.05, 0.6]]
    slip = 1 - accuracy
    near, far = 0.65 * slip, 0.35 * slip
    return [[accuracy, near, far], [slip / 2, accuracy, slip / 2], [far, near, accuracy]]


def crowd() -> list[list[str]]:
    """Rows of the table, its header first."""
    random = Random(SEED)
    items = [f"r{n:03}" for n in range(1, N_ITEMS + 1)]
    coders = [f"w{n:02}" for n in range(1, N_CODERS + 1)]
    skill = {coder: round(0.68 + 0.25 * random.random(), 3) for coder in coders}
    confusion = {coder: _confusion(coder, skill[coder]) for coder in coders}
    truth = {item: _draw(random, PREVALENCE) for item in items}
    ambiguous = sorted(items, key=lambda _: random.random())[:N_AMBIGUOUS]
    rival = {item: _rival(random, truth[item]) for item in items if item in ambiguous}
    given = dict.fromkeys(coders, 0)
    rows = [["item", "text", "group", "truth", "ambiguous", *coders]]
    for n, item in enumerate(items):
        # Those with the least work so far come first, ties broken at random.
        keys = {coder: (given[coder], random.random()) for coder in coders}
        labels = dict.fromkeys(coders, "")
        for coder in sorted(coders, key=keys.__getitem__)[:PER_ITEM]:
            given[coder] += 1
            seen = truth[item]
            if item in rival and random.random() < 0.45:
                seen = rival[item]
            labels[coder] = LABELS[_draw(random, confusion[coder][seen])]
        text = _text(random, LABELS[truth[item]], rival.get(item))
        batch = f"batch {1 + n * 4 // N_ITEMS}"
        mark = "yes" if item in rival else ""
        rows.append([item, text, batch, LABELS[truth[item]], mark, *labels.values()])
    return rows


def _rival(random: Random, truth: int) -> int:
    return [k for k in range(len(LABELS)) if k != truth][_draw(random, (1, 1))]


def _text(random: Random, label: str, rival: int | None) -> str:
    place = PLACES[_draw(random, (1,) * len(PLACES))]
    said = WORDS[label][_draw(random, (1,) * 5)]
    if rival is None:
        return f"The {place} {said}."
    other = WORDS[LABELS[rival]][_draw(random, (1,) * 5)]
    return f"The {place} {said}, though the rest {other}."


if __name__ == "__main__":
    place = Path(__file__).parents[1] / "annomodels" / "datasets" / "crowd.tsv"
    text = "".join("\t".join(row) + "\n" for row in crowd())
    if "--check" in sys.argv:
        sys.exit(place.read_text("utf-8") != text)
    place.write_text(text, "utf-8")
