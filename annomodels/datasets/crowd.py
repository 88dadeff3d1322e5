"""A made-up crowd with planted spammers, an adversary, a biased coder and ambiguous items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from types import MappingProxyType

from annomodels.data.annotations import Annotations
from annomodels.datasets.info import Dataset

LABELS = ("neg", "neu", "pos")
PREVALENCE = (0.35, 0.25, 0.40)
N_ITEMS, N_CODERS, PER_ITEM = 200, 24, 8
N_AMBIGUOUS = 30
SPAMMERS = ("w05", "w12", "w19")
ADVERSARY = "w08"
BIASED = "w15"
SEED = 1979

ABOUT = Dataset(
    "crowd",
    "200 made-up restaurant remarks, 24 coders, 3 labels, 8 labels for each remark",
    "Made by a generator with a fixed seed; no person wrote or labelled anything.",
    "",
    "Three coders do not read (one answers at random, one always says neu, one says pos or neg "
    "at random), one swaps pos and neg and has no neu, one says neg too often, and 30 remarks are "
    "ambiguous. annomodels.datasets.crowd_truth() tells who and which.",
)

PLACES = ("soup", "bread", "fish", "coffee", "cake", "salad", "service", "music", "terrace", "bill")
WORDS = {
    "neg": ("was awful", "came cold", "took an hour", "was a letdown", "made me angry"),
    "neu": ("was there", "was as on the menu", "came at noon", "was usual", "was average"),
    "pos": ("was superb", "made my day", "came at once", "was a delight", "was worth the trip"),
}


@dataclass(frozen=True)
class CrowdTruth:
    """What was planted in the crowd.

    Parameters
    ----------
    truth
        True label of each item; of an ambiguous item, the likelier of its two.
    ambiguous
        Items on which even good coders are split between two labels.
    spammers
        Coders whose labels say nothing about the truth.
    adversary
        Coder who swaps pos and neg, and says either for neu.
    biased
        Coder who says neg too often.
    accuracy
        Probability with which each coder labels a clear item rightly.
    """

    truth: Mapping[str, str]
    ambiguous: frozenset[str]
    spammers: frozenset[str]
    adversary: str
    biased: str
    accuracy: Mapping[str, float]


def load() -> Annotations:
    """Labels, texts and four batches of the crowd; the truth is not among them."""
    return _made()[0]


def crowd_truth() -> CrowdTruth:
    """Tell what was planted in the crowd.

    Examples
    --------
    >>> from annomodels.datasets import crowd_truth, load
    >>> planted = crowd_truth()
    >>> sorted(planted.spammers), planted.adversary, len(planted.ambiguous)
    (['w05', 'w12', 'w19'], 'w08', 30)
    >>> load("crowd").with_gold(planted.truth).gold.size
    200
    """
    return _made()[1]


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


@cache
def _made() -> tuple[Annotations, CrowdTruth]:
    random = Random(SEED)
    items = [f"r{n:03}" for n in range(1, N_ITEMS + 1)]
    coders = [f"w{n:02}" for n in range(1, N_CODERS + 1)]
    skill = {coder: round(0.68 + 0.25 * random.random(), 3) for coder in coders}
    confusion = {coder: _confusion(coder, skill[coder]) for coder in coders}
    truth = {item: _draw(random, PREVALENCE) for item in items}
    order = sorted(items, key=lambda _: random.random())
    ambiguous = frozenset(order[:N_AMBIGUOUS])
    rival = {item: _rival(random, truth[item]) for item in items if item in ambiguous}
    given = dict.fromkeys(coders, 0)
    rows, texts = [], {}
    for item in items:
        # Those with the least work so far come first, ties broken at random.
        keys = {coder: (given[coder], random.random()) for coder in coders}
        for coder in sorted(coders, key=keys.__getitem__)[:PER_ITEM]:
            given[coder] += 1
            seen = truth[item]
            if item in rival and random.random() < 0.45:
                seen = rival[item]
            rows.append((item, coder, LABELS[_draw(random, confusion[coder][seen])]))
        texts[item] = _text(random, LABELS[truth[item]], rival.get(item))
    data = Annotations._from_columns(
        *(list(column) for column in zip(*rows, strict=True)),
        labels=LABELS,
        texts=texts,
        group={item: f"batch {1 + n * 4 // N_ITEMS}" for n, item in enumerate(items)},
        source="crowd",
    )
    accuracy = {
        coder: sum(p * confusion[coder][k][k] for k, p in enumerate(PREVALENCE)) for coder in coders
    }
    planted = CrowdTruth(
        MappingProxyType({item: LABELS[k] for item, k in truth.items()}),
        ambiguous,
        frozenset(SPAMMERS),
        ADVERSARY,
        BIASED,
        MappingProxyType(accuracy),
    )
    return data, planted


def _rival(random: Random, truth: int) -> int:
    return [k for k in range(len(LABELS)) if k != truth][_draw(random, (1, 1))]


def _text(random: Random, label: str, rival: int | None) -> str:
    place = PLACES[_draw(random, (1,) * len(PLACES))]
    said = WORDS[label][_draw(random, (1,) * 5)]
    if rival is None:
        return f"The {place} {said}."
    other = WORDS[LABELS[rival]][_draw(random, (1,) * 5)]
    return f"The {place} {said}, though the rest {other}."
