"""What a list of labels to ask for is expected to bring, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from annomodels.summaries.gold.gold import TOO_SURE

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Outlook", "sentences"]

WORDS = {"gold": "wrong gold labels", "bits": "bits of uncertainty about the truth"}


class Outlook(NamedTuple):
    """What there is to say.

    Parameters
    ----------
    by
        "gold" or "bits".
    before, after
        Expected wrong gold labels, or bits, now and with the labels.
    stop
        Gain per label below which labels do not pay.
    finished
        Whether nothing above it is left out.
    lost
        Labels for which no coder was left.
    engine
        Engine of the fit.
    pooled
        Whether P(truth) is that of an opinion pool, which takes items for different.
    """

    by: str
    before: float
    after: float
    stop: float
    finished: bool
    lost: int
    engine: str
    pooled: bool = False


def sentences(found: Outlook, table: pd.DataFrame) -> tuple[str, ...]:
    """Say what the labels bring, when to stop, and what the numbers rest on.

    Parameters
    ----------
    found
        What there is to say.
    table
        One row per label, with columns item, coder and gain.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"item": ["a", "b"], "coder": ["x", "x"], "gain": [0.4, 0.1]})
    >>> for text in sentences(Outlook("gold", 3.0, 2.5, 0.01, True, 0, "gibbs"), table)[:2]:
    ...     print(text)
    These 2 labels of 2 items are expected to leave 2.5 of 3.0 wrong gold labels: 0.25 fewer for
    each label. Such probabilities are too sure where items differ in difficulty.
    Stop after these labels, and fit again: no other removes 0.01 wrong gold labels or more.
    """
    word, n = WORDS[found.by], len(table)
    caution = "" if found.pooled else f" {TOO_SURE}"
    if not n:
        return (
            f"Stop here: no further label is expected to remove {found.stop:g} {word} or more "
            f"({found.before:.1f} are expected).{caution}",
        )
    least = f"removes {found.stop:g} {word} or more" if found.stop else f"removes any {word}"
    each = (found.before - found.after) / n
    many = "This label" if n == 1 else f"These {n:,} labels"
    of = f"of {table['item'].nunique():,} item{'s' if table['item'].nunique() > 1 else ''}"
    notes = [
        f"{many} {of} {'is' if n == 1 else 'are'} expected to leave {found.after:,.1f} of "
        f"{found.before:,.1f} {word}: {each:.2g} fewer for each label.{caution}",
        f"Stop after these labels, and fit again: no other {least}."
        if found.finished
        else f"The last of them still removes {table['gain'].iloc[-1]:.2g} {word}: more labels "
        "would pay.",
    ]
    if unnamed := int((table["coder"] == "").sum()):
        notes.append(
            f"{unnamed:,} of the labels have no coder: those who are good enough have labelled the "
            "item or have no time left. Ask somebody new; they are taken to be like the coders "
            "asked, on average."
        )
    if found.lost:
        notes.append(
            f"{found.lost:,} labels were left out because no coder was left who has time and has "
            "not labelled the item."
        )
    if found.engine == "em":
        notes.append(
            "The engine em gives one estimate: the gains take the coders for known exactly. Use "
            "gibbs or nuts."
        )
    return tuple(notes)
