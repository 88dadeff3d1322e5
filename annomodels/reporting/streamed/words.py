"""Sentences and numbers of the page on a streamed fit."""

from __future__ import annotations

from annomodels.data.names import label_text
from annomodels.plots.style import clean, short
from annomodels.reporting import verdict
from annomodels.reporting.health import FEW
from annomodels.reporting.streamed.collect import StreamData
from annomodels.reporting.words import count, listed, number, percent, share_interval

__all__ = ["KEYS", "LEFT_OUT", "health_notes", "key_numbers", "next_step", "sentences"]

Tile = tuple[str, str, str]
KEYS = ("Size", "Gold", "Errors", "Coders", "Next step")
# what the page of a fit in memory has, and why it is not here
LEFT_OUT = (
    (
        "Agreement",
        "Coefficients and their intervals compare the labels of each item: they need the labels "
        "in memory (annomodels agree).",
    ),
    (
        "Items",
        "Which items are contested and which only need more labels, why an item got its label, "
        "and where a majority is overturned: these look at the labels of each item again.",
    ),
    (
        "Label scheme",
        "How well each label is used, and what counting two labels as one would do, needs the "
        "labels in memory.",
    ),
    (
        "Intervals of counts",
        "Expected numbers of wrong gold labels stand without intervals, and those of the majority "
        "vote are missing: both need the votes of each item on every draw.",
    ),
    (
        "The next labels",
        "Which labels to ask for next, and of whom, is worked out from the votes of each item.",
    ),
    (
        "Predictive checks",
        "Whether the model reproduces the labels was not looked at: it needs the labels in memory.",
    ),
    (
        "Other priors",
        "What would change if the priors counted less or more is not worked out for a scan.",
    ),
    (
        "Other models and held-back truth",
        "Comparisons with other models, and gold labels against truth that was held back, need "
        "the labels in memory.",
    ),
)


def key_numbers(found: StreamData) -> list[Tile]:
    """Four numbers on top of the verdict: what, value, with what."""
    n = found.data.n_items
    like = "items like these"
    return [
        (
            "Settled gold labels",
            percent(found.settled / n),
            f"{found.settled:,} of {n:,} items; {like}: {share_interval(found.settled, n)}",
        ),
        (
            "Expected wrong labels",
            number(found.fit.tree.attrs["expected_errors"]),
            f"of {count(n - found.tally.known, 'gold label')}; no interval from a scan",
        ),
        (
            "Coders flagged",
            f"{len(found.flagged):,}",
            f"of {count(found.data.n_coders, 'coder')}; {len(found.surely_bad):,} with a "
            "probability above 95 %",
        ),
        (
            "Items not settled",
            f"{found.unsettled:,}",
            f"{percent(found.unsettled / n)} of the items",
        ),
    ]


def sentences(found: StreamData) -> list[str]:
    """Say the verdict: size, settled gold, expected errors, coders and the next step."""
    step = next_step(found)
    return [
        verdict.size(found),
        verdict.gold(found.settled, found.data.n_items),
        _errors(found),
        verdict.coders(found),
        f"{step[0].upper()}{step[1:]}.",
    ]


def _errors(found: StreamData) -> str:
    n = found.data.n_items - found.tally.known
    if not n:
        return "The truth of all items is known, so no gold label is in doubt."
    return (
        f"Of the {count(n, 'gold label')}, {number(found.fit.tree.attrs['expected_errors'])} are "
        "expected to be wrong, if the model is right; whether it reproduces the labels was not "
        "looked at."
    )


def next_step(found: StreamData) -> str:
    """Say the one thing to do next, as far as a scan can tell."""
    if found.check.verdict == "do not use":
        return "repair the fit first, because its diagnostics failed (see “Can I believe this?”)"
    bad = found.surely_bad
    if len(bad):
        return f"give no more items to {verdict.named(bad)}"
    if found.unsettled:
        return (
            f"ask for one more label of the {count(found.unsettled, 'item')} that "
            f"{'is' if found.unsettled == 1 else 'are'} not settled, the least certain first"
            + verdict.best(found)
        )
    return "none is needed, the gold standard can be handed on"


def health_notes(found: StreamData) -> list[str]:
    """Sentences on what a reader should know of the data."""
    data, facts = found.data, found.health
    out = [f"Read from {short(data.source, 80)}."] if data.source else []
    if data.components > 1:
        out.append(
            f"The data fall into {data.components:,} groups that share no item: coders of "
            "different groups can be compared only through what the model assumes."
        )
    if facts.few:
        verb = "has" if len(facts.few) == 1 else "have"
        out.append(
            f"{count(len(facts.few), 'coder')} {verb} fewer than {FEW} labels, so little can be "
            f"said about them: {_names(facts.few)}."
        )
    if facts.single:
        verb = "has" if facts.single == 1 else "have"
        out.append(f"{count(facts.single, 'item')} {verb} one label only.")
    if facts.unused:
        out.append(f"In the label set, but never given: {_names(facts.unused)}.")
    if data.dont_know:
        kinds = short("/".join(data.dont_know), 60)
        out.append(f"No class, and set aside: {kinds}, {int(data.unanswered.sum()):,} times.")
    if found.tally.known:
        out.append(f"The truth of {count(found.tally.known, 'item')} is known and was used.")
    said = "groups that share no item"  # in other words above
    return out + [clean(short(note, 300)) for note in data.notes[:12] if said not in note]


def _names(names: tuple[object, ...]) -> str:
    return listed([short(label_text(name), 24) for name in names], 6)
