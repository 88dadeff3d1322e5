"""Numbers and names as readable text: few digits, with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from annomodels.data.columns import decimal, percent, short
from annomodels.data.messages import messages_beside, note
from annomodels.summaries.trust.known_truth import jeffreys

if TYPE_CHECKING:
    from annomodels.summaries.trust.checks import Check

MESSAGES = messages_beside(__file__)
say = partial(note, MESSAGES)


def advised(check: Check) -> list[str]:
    """Return the sentences of a check, with remedies that they do not already name."""
    remedies = {found.said: str(found.remedy or "") for found in check.findings}
    out = []
    for sentence in check.sentences:
        remedy = remedies.get(sentence, "")
        out.append(sentence if remedy in sentence else f"{sentence} Fix: {remedy}.")
    return out


def number(value: float) -> str:
    """Format a count that may be fractional: one decimal below ten, none above.

    >>> number(3.456), number(57.8), number(12345.0), number(float("nan"))
    ('3.5', '58', '12,345', '–')
    """
    if not math.isfinite(value):
        return "–"
    near = round(value, 1)
    return f"{near:.1f}" if 0 < near < 10 and near != int(near) else f"{value:,.0f}"


def interval(low: float, high: float) -> str:
    """Format an interval of counts, rounded outward; "no interval" if it is not finite.

    >>> interval(12, 19.2), interval(float("nan"), 1.0)
    ('95 % interval 12 to 20', 'no interval')
    """
    return whole_ends(low, high, "95 % interval {}") or "no interval"


def whole_ends(low: float, high: float, form: str = "{}") -> str:
    """Write the ends of an interval of counts, rounded outward; empty without one."""
    if not math.isfinite(low + high):
        return ""
    return form.format(f"{math.floor(low):,} to {math.ceil(high):,}")


def share_with(value: float, low: float, high: float) -> str:
    """Format a share as percent with its interval, with digits that the interval supports.

    >>> share_with(0.2, 0.134, 0.284), share_with(0.9931, 0.9894, 0.9959)
    ('20 % (13 % to 28 %)', '99.3 % (98.9 % to 99.6 %)')
    >>> share_with(0.2, float("nan"), float("nan"))
    '20 %'
    """
    if not math.isfinite(low + high):
        return percent(value, 0)
    digits = 0 if high - low >= 0.02 else None
    return f"{percent(value, digits)} ({percent(low, digits)} to {percent(high, digits)})"


def with_interval(value: float, low: float, high: float, *, name: str = "") -> str:
    """Format a number with its interval, if it has one.

    >>> with_interval(0.7, 0.6, 0.8), with_interval(0.7, float("nan"), float("nan"))
    ('0.70 (0.60 to 0.80)', '0.70')
    """
    ends = f" ({name}{decimal(low)} to {decimal(high)})" if math.isfinite(low) else ""
    return f"{decimal(value)}{ends}"


def share_interval(k: int, n: int) -> str:
    """Return the 95 % interval of k / n under Jeffreys' prior, in percent.

    >>> share_interval(785, 800)
    '97.0 % to 98.9 %'
    """
    return " to ".join(map(percent, jeffreys(k, n)))


def listed(names: list[str], most: int = 3) -> str:
    """List names in a sentence, only the first ones of many.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def coders_listed(names: Iterable[str]) -> str:
    """List coders in a sentence, after the word "coder" if a name is only a number.

    >>> coders_listed(["w1", "w2"]), coders_listed(["5", "1"]), coders_listed(["5"])
    ('w1 and w2', 'coders 5 and 1', 'coder 5')
    """
    shown = [short(name, 24) for name in names]
    word = "coders " if len(shown) > 1 else "coder "
    return word * any(name.isdecimal() for name in shown) + listed(shown)
