"""What data support, and what not yet: known from counts alone, before anything is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annomodels.data.annotations import Annotations
from annomodels.data.validation import counted
from annomodels.limits import (
    CODER_MATRIX,
    CODERS_COMPARED,
    CONTESTED_LABELS,
    ITEM_DIFFICULTY,
    KNOWN_TESTED,
    SHARED_ITEMS,
)
from annomodels.planning.rules import facts_of


@dataclass(frozen=True)
class Use:
    """Something that can be had from labels, or not yet."""

    what: str
    why: str = ""


def supports(data: Annotations) -> tuple[Use, ...]:
    """List what a data set supports, and what not yet and why."""
    facts = facts_of(data)
    coders = facts.coders
    one = counted(coders, "coder")
    pairs = "" if facts.shared > 0 else "no item was labelled by two coders"
    agreed = "there is only one coder" if coders < 2 else pairs
    if facts.labels < 2:
        agreed = agreed or "all labels are the same"
    known = facts.gold >= KNOWN_TESTED
    few = one if coders < CODERS_COMPARED and not known else ""
    thin = (
        ""
        if facts.shared >= SHARED_ITEMS
        else f"{1 - facts.shared:.0%} of the items have one label"
    )
    thinly = "" if facts.per_coder >= CODER_MATRIX else f"{facts.per_coder:g} labels per coder"
    per_item = f"{facts.per_item:g} labels per item"
    hard = "" if facts.per_item >= ITEM_DIFFICULTY else per_item
    readings = "" if facts.most >= CONTESTED_LABELS else per_item
    tested = f"{facts.gold} of {KNOWN_TESTED} items with known truth"
    found = [
        Use("alpha", agreed),
        Use("gold", agreed or thin),
        Use("coders' accuracy", agreed or few or thinly),
        Use("hard items", agreed or few or hard),
        Use("items with two readings", agreed or readings),
        Use("a test against known truth", "" if known else tested),
    ]
    return tuple(found)


def sentence(uses: Mapping[str, tuple[Use, ...]]) -> str:
    """Write in one line what questions support, by question if there are several."""
    every = list(dict.fromkeys(use.what for said in uses.values() for use in said))
    yes, no = [], []
    for what in every:
        why = {q: use.why for q, said in uses.items() for use in said if use.what == what}
        able = [question for question, reason in why.items() if not reason]
        unable = [question for question, reason in why.items() if reason]
        several = len(uses) > 1
        if able:
            where = f" for {_some(able)}" if unable else " by question" if several else ""
            yes.append(f"{what}{where}")
        if unable:
            where = f" for {_some(unable)}" if able else ""
            reasons = list(dict.fromkeys(why[question] for question in unable))
            no.append(f"{what}{where} ({_some(reasons, '; ')})")
    parts = [f"supports: {', '.join(yes) or 'nothing'}"]
    return "; ".join([*parts, *([f"not yet: {', '.join(no)}"] if no else [])])


def _some(names: list[str], between: str = ", ") -> str:
    more = len(names) - 3
    return between.join(names[:3]) + (f" and {more} more" if more > 0 else "")
