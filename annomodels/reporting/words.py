"""Numbers as a reader wants them: few digits, no false zeros, an interval beside each."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from annomodels.data.columns import percent, short
from annomodels.summaries.trust.calibration import jeffreys

if TYPE_CHECKING:
    from annomodels.summaries.trust.checks import Check


def advised(check: Check) -> list[str]:
    """Return the sentences of a check, each with its remedy where it does not name it itself."""
    remedies = {found.said: str(found.remedy or "") for found in check.findings}
    out = []
    for sentence in check.sentences:
        remedy = remedies.get(sentence, "")
        out.append(sentence if remedy in sentence else f"{sentence} Fix: {remedy}.")
    return out


def number(value: float) -> str:
    """Count that need not be whole: one decimal below ten, none above.

    >>> number(3.456), number(57.8), number(12345.0), number(float("nan"))
    ('3.5', '58', '12,345', '–')
    """
    if not math.isfinite(value):
        return "–"
    near = round(value, 1)
    return f"{near:.1f}" if 0 < near < 10 and near != int(near) else f"{value:,.0f}"


def interval(low: float, high: float) -> str:
    """Interval of counts, in whole numbers that contain it; what to say when there is none.

    >>> interval(12, 19.2), interval(float("nan"), 1.0)
    ('95 % interval 12 to 20', 'no interval')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return "no interval"
    return f"95 % interval {math.floor(low):,} to {math.ceil(high):,}"


def share_with(value: float, low: float, high: float) -> str:
    """Write a share as percent with its interval, without decimals that this does not support.

    >>> share_with(0.2, 0.134, 0.284), share_with(0.9931, 0.9894, 0.9959)
    ('20 % (13 % to 28 %)', '99.3 % (98.9 % to 99.6 %)')
    >>> share_with(0.2, float("nan"), float("nan"))
    '20 %'
    """
    if not math.isfinite(low + high):
        return percent(value, 0)
    digits = 0 if high - low >= 0.02 else None
    return f"{percent(value, digits)} ({percent(low, digits)} to {percent(high, digits)})"


def share_interval(k: int, n: int) -> str:
    """95 % interval of a share seen k times in n, by Jeffreys' prior, as percent.

    >>> share_interval(785, 800)
    '97.0 % to 98.9 %'
    """
    return " to ".join(map(percent, jeffreys(k, n)))


def listed(names: list[str], most: int = 3) -> str:
    """Names in a sentence, the first ones of many.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def coders_listed(names: Iterable[str]) -> str:
    """Names of coders in a sentence, behind the word where a name is only a number.

    >>> coders_listed(["w1", "w2"]), coders_listed(["5", "1"]), coders_listed(["5"])
    ('w1 and w2', 'coders 5 and 1', 'coder 5')
    """
    shown = [short(name, 24) for name in names]
    word = "coders " if len(shown) > 1 else "coder "
    return word * any(name.isdecimal() for name in shown) + listed(shown)
