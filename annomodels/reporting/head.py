"""The first screen of a page on classes: one sentence, the items by state, at most four actions."""

from __future__ import annotations

import math

from annomodels.data.columns import clean, percent, short
from annomodels.data.validation import counted
from annomodels.reporting import audited
from annomodels.reporting.facts import Facts
from annomodels.reporting.parts import Action, Head
from annomodels.reporting.words import listed, number
from annomodels.summaries.gold.coverage import wrong_interval
from annomodels.summaries.items.items import quadrant_name

ADVISED = 60  # items of the audit that the page advises: about an hour
REVIEWED = 20  # items to review if none is contested
STATES = ("settled", "need labels", "contested", "decided")


def head(facts: Facts) -> Head:
    """Return the first screen."""
    actions = [_decide(facts), _buy(facts), _coders(facts), _check(facts)]
    name = quadrant_name("contested", facts.data.n_labels)
    counts = facts.states
    bar = [
        (css, counts[state], name if state == "contested" else state)
        for css, state in zip(("settled", "open", "contested", "decided"), STATES, strict=True)
    ]
    return Head(
        sentence(facts), bar, [each for each in actions if each is not None], warning(facts.check)
    )


def warning(check: object) -> str:
    """Return the first finding of a check that is not passed."""
    verdict, found = getattr(check, "verdict", ""), getattr(check, "sentences", ())
    if verdict not in ("check", "do not use") or not found:
        return ""
    what = "Do not use these results yet. " if verdict == "do not use" else ""
    return what + clean(found[0])


def about(value: float, n: int, low: float, high: float, what: str = "gold label") -> str:
    """Return the sentence on wrong labels.

    >>> about(16.2, 200, 3, 40)
    'About 16 of 200 gold labels are wrong (3 to 40).'
    >>> about(0.3, 1, 0, 1)
    'Probably fewer than 1 of 1 gold label is wrong (0 to 1).'
    """
    much = f"About {value:,.0f}" if round(value) else "Probably fewer than 1"
    verb = "is" if round(value) <= 1 else "are"
    ends = f" ({math.floor(low):,} to {math.ceil(high):,})" if math.isfinite(low + high) else ""
    return f"{much} of {counted(n, what)} {verb} wrong{ends}."


def sentence(facts: Facts) -> str:
    """Return the sentence that a manager repeats."""
    open_items = facts.data.n_items - facts.known_items
    if not open_items:
        return f"All {counted(facts.data.n_items, 'label')} are decided."
    if facts.has("gold"):
        of = facts.wrong
        if of.tested == open_items:
            verb = "is" if round(of.gold) == 1 else "are"
            return (
                f"{of.gold:,.0f} of {counted(open_items, 'gold label')} {verb} wrong, by the true "
                "labels that were held back."
            )
        text = about(of.gold, open_items, of.gold_low, of.gold_high)
        if facts.too_sure:
            text += " Expect more: errors gather on hard items, which the model ignores."
    else:
        ends = wrong_interval(facts.tree) or (math.nan, math.nan)
        text = about(facts.expected_errors, open_items, *ends)
    return f"{text} {_checked(facts)}"


def _checked(facts: Facts) -> str:
    if facts.has("gold") and facts.wrong.tested:
        return f"{facts.wrong.tested:,} of them were compared with true labels."
    if facts.estimate is not None:
        found = facts.estimate
        how = "drawn at random" if found.by_design else "that were not drawn at random"
        return f"An expert judged {counted(audited.judged(found), 'item')} {how}."
    if facts.known_items:
        return f"{counted(facts.known_items, 'item is', 'items are')} decided."
    return "Not yet checked by an expert."


def _decide(facts: Facts) -> Action | None:
    if facts.unsupported("items"):
        return None
    if n := facts.states["contested"]:
        name = quadrant_name("contested", facts.data.n_labels)
        return Action(
            "#decide", f"Decide {counted(n, 'item')}", f"{name}: more labels would hardly help"
        )
    if facts.states["need labels"] and not len(facts.following.table):
        n = min(REVIEWED, facts.states["need labels"])
        return Action("#decide", f"Decide {counted(n, 'item')}", "the least certain gold labels")
    return None


def _buy(facts: Facts) -> Action | None:
    if facts.has("next"):
        plan = facts.following
        if not len(plan.table):
            return None
        items, of = plan.table["item"].nunique(), facts.states["need labels"]
        removed = number(max(plan.before - plan.after, 0.0))
        whose = f"{items:,} of the " * (items < of) + counted(
            of, "item that needs", "items that need"
        )
        return Action(
            "#labels-to-buy",
            f"Buy {counted(len(plan.table), 'label')}",
            f"for {whose} labels: about {removed} fewer wrong",
        )
    if rest := facts.states["need labels"]:
        return Action(
            "#items-section", f"Buy {counted(rest, 'label')}", "one for each item not settled"
        )
    return None


def _coders(facts: Facts) -> Action | None:
    stop = [short(name, 24) for name in facts.flagged["coder"]]
    talk = [short(name, 24) for name in facts.to_train["coder"]]
    if not stop and not talk:
        return None
    parts = [f"Stop {listed(stop, 3)}"] * bool(stop)
    parts += [f"{'talk' if stop else 'Talk'} to {listed(talk, 3)}"] * bool(talk)
    table = facts.coders.table
    named = table["coder"].isin([*facts.flagged["coder"], *facts.to_train["coder"]])
    share = float(table.loc[named, "n"].sum()) / max(float(table["n"].sum()), 1)
    return Action(
        "#coders-section",
        "; ".join(parts),
        f"{int(named.sum()):,} of {counted(len(table), 'coder')}, "
        f"{percent(share, 0)} of the labels",
    )


def _check(facts: Facts) -> Action | None:
    audited_by_design = facts.estimate is not None and facts.estimate.by_design
    rest = facts.data.n_items - facts.known_items
    if facts.unsupported("gold") or audited_by_design or facts.wrong.tested or not rest:
        return None
    size, of = min(ADVISED, rest), facts.wrong
    time = f"about {counted(max(round(size / 60), 1), 'hour')}" if size >= 45 else "under an hour"
    text = time
    width = audited.narrower(facts, size) * rest if rest > size else math.nan
    if math.isfinite(width + of.gold_low) and width < of.gold_high - of.gold_low:
        low = max(of.gold_low, of.gold - width / 2)
        high = min(of.gold_high, low + width)
        text = (
            f"{time}; “{math.floor(of.gold_low):,} to {math.ceil(of.gold_high):,}” becomes about "
            f"“{math.floor(low):,} to {math.ceil(high):,}”"
        )
    return Action("#check-items", f"Check {counted(size, 'random item')}", text)
