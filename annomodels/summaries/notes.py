"""Notes of summaries, by code, from the messages of this folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial

from annomodels.data.messages import messages_beside, note
from annomodels.data.validation import counted
from annomodels.limits import STATES

say = partial(note, messages_beside(__file__))


def items_by_state(states: Iterable[str]) -> str:
    """Return the sentence that counts the items of each state.

    >>> items_by_state(["settled", "needs labels", "needs labels"])
    'Of 3 items: 1 settled, 2 need labels.'
    """
    n = Counter(states)
    several = {word: word.replace("needs", "need") for word in STATES}
    found = [counted(n[word], word, several[word]) for word in STATES if n[word]]
    return f"Of {counted(n.total(), 'item')}: {', '.join(found)}."


def listed(names: list[str], most: int = 3) -> str:
    """List names in a sentence, only the first ones of many.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
