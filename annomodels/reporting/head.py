"""First screen of a page on classes: one sentence, items by state, at most four actions."""

from __future__ import annotations

from annomodels.data.columns import clean, percent
from annomodels.data.validation import counted
from annomodels.limits import AUDIT_GOAL, AUDIT_HOUR, AUDIT_WORTH
from annomodels.reporting.facts import ADVICE, Facts
from annomodels.reporting.methods import judged_items
from annomodels.reporting.parts import Action, Head, action
from annomodels.reporting.words import coders_listed, number, say, whole_ends
from annomodels.summaries.next_labels import NextLabels
from annomodels.summaries.trust.checks import Check

REVIEWED = 20  # items to review if none is contested
MOST = 0.5  # proportion of the interval's width from which an audit removes most of it


def head(facts: Facts) -> Head:
    actions = [_decide(facts), _buy(facts), _coders(facts), _check(facts)]
    said = sentence(facts)
    worst = warning(facts.check)  # already in the sentence if an audit contradicts P(truth)
    shown = "" if said.startswith(worst) else worst
    return Head.of(said, facts.states.values(), actions, shown)


def warning(check: Check) -> str:
    """Return the worst finding on the result if the check did not pass; else empty."""
    if check.verdict not in ("needs review", "do not use") or not check.sentences:
        return ""
    what = "" if check else "Do not use these results yet. "
    return what + clean(check.sentences[0])


def about(value: float, n: int, low: float, high: float) -> str:
    """Return the sentence on wrong labels.

    >>> about(16.2, 200, 3, 40)
    'About 16 of 200 gold labels are wrong (3 to 40).'
    >>> about(0.3, 1, 0, 1)
    'Probably fewer than 1 of 1 gold label is wrong (0 to 1).'
    """
    much = f"About {value:,.0f}" if round(value) else "Probably fewer than 1"
    verb = "is" if round(value) <= 1 else "are"
    return f"{much} of {counted(n, 'gold label')} {verb} wrong{whole_ends(low, high, ' ({})')}."


def sentence(facts: Facts) -> str:
    of = facts.wrong
    if not of.n:
        return f"All {counted(facts.data.n_items, 'label')} are decided."
    if of.tested == of.n:
        verb = "is" if round(of.gold) == 1 else "are"
        return say("tested_wrong", wrong=of.gold, n=of.n, verb=verb)
    text = about(of.gold, of.n, of.gold_low, of.gold_high)
    if facts.contradicted:
        text = f"{clean(facts.check.sentences[0])} {text}"
    elif not facts.on_disk and facts.too_sure:
        text += " Expect more: errors gather on hard items, and the model ignores this."
    return f"{text} {_checked(facts)}"


def _checked(facts: Facts) -> str:
    if facts.wrong.tested:
        return f"{facts.wrong.tested:,} of them were compared with true labels."
    if facts.estimate is not None:
        found = facts.estimate
        how = "drawn at random" if found.by_design else "that were not drawn at random"
        return f"An expert judged {counted(judged_items(found), 'item')} {how}."
    if decided := facts.states["decided"]:
        return f"{counted(decided, 'item is', 'items are')} decided."
    # without a forecast, which scans lack, nothing is promised
    if facts.distance < MOST or not facts.to_audit[1] <= AUDIT_GOAL:
        return "Not yet checked by an expert."
    hours = _hours(facts.to_audit[0])
    spent = f"{hours} hours of audit replace" if hours > 1 else "an hour of audit replaces"
    return f"Not yet checked by an expert: {spent} most of that doubt."


def _hours(size: int) -> int:
    """Return the hours that an expert needs for an audit, rounded; 0 below three quarters."""
    return max(round(size / AUDIT_HOUR), 1) if size >= 0.75 * AUDIT_HOUR else 0


def _decide(facts: Facts) -> Action | None:
    if facts.unsupported("items"):
        return None
    n = facts.states["contested"]
    if n or len(facts.following.table):
        return action("decide_contested", n)
    return action("decide_uncertain", min(REVIEWED, facts.states["needs labels"]))


def _buy(facts: Facts) -> Action | None:
    of = facts.states["needs labels"]
    if facts.unsupported("next"):
        return action("buy_open", 0 if facts.contradicted else of)
    plan = facts.following
    items, removed = plan.table["item"].nunique(), number(max(plan.before - plan.after, 0.0))
    whose = f"{items:,} of the " * (items < of) + counted(of, "item that needs", "items that need")
    words = {"whose": whose, "removed": removed, "price": _price(plan)}
    return action("buy", len(plan.table), **words)


def _price(plan: NextLabels) -> str:
    """State how many new labels, at least, correct one wrong label; empty if they correct none."""
    removed = plan.before - plan.after
    each = f"{len(plan.table) / removed:,.0f} or more" if removed > 0 else ""
    return f" ({each} new labels to correct one)" if each else ""


VERBS = {"give test items": "give test items to", "retrain": "talk to"}


def _coders(facts: Facts) -> Action | None:
    table, parts = facts.coders.table, []
    for advice in ADVICE:
        names = facts.advised(advice)["coder"]
        if len(names):
            parts.append(f"{VERBS.get(advice, advice)} {coders_listed(names)}")
    if not parts:
        return None
    named = table["coder"].isin(facts.flagged["coder"])
    share = float(table.loc[named, "n"].sum()) / max(float(table["n"].sum()), 1)
    what = "; ".join(parts)
    words = {"what": what[0].upper() + what[1:], "of": len(table), "share": share}
    return action("coders", int(named.sum()), **words)


def _check(facts: Facts) -> Action | None:
    audited_by_design = facts.estimate is not None and facts.estimate.by_design
    of = facts.wrong
    if facts.on_disk or audited_by_design or of.tested or not of.n:
        return None
    size, share = facts.to_audit
    if size >= of.n:
        return action("check_all", of.n)
    hours = _hours(size)
    gain = f"about {counted(hours, 'hour')}" if hours else "under an hour"
    ends = whole_ends(of.gold_low, of.gold_high, "“{}”")
    if share <= AUDIT_GOAL:
        gain += f"; the interval {ends} becomes about half as wide, and it"
    elif share <= AUDIT_WORTH:
        gain += f"; the interval {ends} becomes about {percent(1 - share, 0)} narrower, and it"
    else:
        gain += "; it"
    return action("check_random", size, gain=gain)
