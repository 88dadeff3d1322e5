"""What the columns of drawn tables mean, said below them; only words that need it."""

from __future__ import annotations

from collections.abc import Iterable

WORDS = {
    "low": "low, high: ends of the interval that holds the true value with 95 % probability.",
    "observed": "observed, expected: agreement that is seen, and that chance gives; of "
    "coefficients with distances between labels, disagreement.",
    "p_above_667": "p above 667, 800: probability that the value is above .667, the least to draw "
    "cautious conclusions from, and above .800, which is called reliable.",
    "specific": "specific: when one coder gives the label, the probability that another does too.",
    "without": "without: the value if this coder's labels are left out; difference: how much "
    "better (or worse, below 0) that is; p better without: how probably it is better.",
    "influence": "influence: what the item adds to the value of the whole.",
    "further": "further: probability that two more coders would agree on the item.",
    "by_chance": "by chance: share of the disagreement that chance would give; ratio: the share "
    "seen over that; p more: probability that it is more than chance gives.",
    "skill": "skill: 1 is always right, 0 no better than guessing, below 0 worse.",
    "bits": "bits: how much one label tells of the truth, 0 nothing; between two equally frequent "
    "labels 1 is all.",
    "kind": "kind: a spammer's labels do not depend on the item, an adversary swaps labels; "
    "biased is who says one label too often.",
    "entropy": "entropy: how open the label of the item is, in bits; 0 is settled.",
    "quadrant": "quadrant: contested items may have two readings; more labels would not settle "
    "them.",
    "overturned": "overturned: the model's label is not the one that most coders gave.",
    "settled": "settled: the probability reaches the threshold.",
    "sensitivity": "sensitivity: how often coders find the label where it is right; precision: how "
    "often it is right where they give it; partner: what it is most confused with.",
    "alpha_change": "alpha change: how much higher alpha would be if both labels were one.",
    "gain": "gain: how many fewer wrong gold labels are expected after this label.",
    "asked": "asked: how many of the labels to ask for next are for this coder.",
    "elpd": "elpd: how well the model predicts data that it has not seen; higher is better. A "
    "difference below 2 of its standard errors (se) may be chance.",
    "weight": "weight: share of the model in the mixture of them that predicts best.",
    "unreliable": "unreliable: items for which the estimate of elpd cannot be relied on.",
    "log_odds": "log odds: what this coder's label adds for the gold label and against the "
    "runner-up; 0 nothing, 2.3 makes it ten times as probable.",
    "accuracy_mcse": "accuracy mcse: error of the figure that comes from simulating; more "
    "--replications make it smaller.",
    "surprise": "surprise: how often coders as good as these would split so if the item had one "
    "true label; small values deserve a look.",
    "p_contested": "p contested: probability that the coders see two readings rather than err.",
    "mcse": "mcse: error of the probability that comes from drawing at random.",
    "convention": "convention: how missing labels count: complete means that there are none.",
}  # fmt: skip

CHECKS = (
    "overlap groups: items that are linked by coders who labelled several of them. With more than "
    "one, coders of different groups cannot be compared.",
    "scale: nominal takes labels as names; say --scale ordinal, interval or ratio if they have an "
    "order or are numbers.",
    "fingerprint: the same for the same labels, in whatever order; it tells readers of a paper "
    "which data were used.",
)
"""What rows of ``annomodels check`` mean."""


def explained(names: Iterable[str], level: int = 95) -> list[str]:
    """Sentences on those of the columns whose names do not say what they are.

    Examples
    --------
    >>> explained(["coder", "n", "skill"])
    ['skill: 1 is always right, 0 no better than guessing, below 0 worse.']
    """
    return [WORDS[name].replace("95 %", f"{level} %") for name in names if name in WORDS]
