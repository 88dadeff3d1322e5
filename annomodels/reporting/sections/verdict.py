"""The verdict: four numbers, and five plain sentences; of an audit, one more of each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from annomodels.plots.style import draws_of
from annomodels.reporting import audited
from annomodels.reporting.facts import Facts
from annomodels.reporting.outcome import errors_of_scan
from annomodels.reporting.parts import Part, Rows, Section
from annomodels.reporting.words import count, interval, listed, number, percent, share_interval
from annomodels.summaries.columns import short
from annomodels.summaries.gold.coverage import wrong_interval
from annomodels.summaries.items.items import quadrant_name

if TYPE_CHECKING:
    import pandas as pd


TOO_SURE = "errors gather on hard items here, and the model takes them for independent"


def section(facts: Facts) -> list[Part]:
    """Give the parts of the section."""
    last = "Items" if facts.has("items") else "Next step"
    keys = ("Size", "Gold", "Errors", "Coders", last)
    rows = list(zip(keys, sentences(facts), strict=True))
    if facts.estimate is not None:
        rows.insert(3, ("Audit", audited.sentence(facts)))
    elif facts.untested:
        rows.append(("Not tested", audited.advice(facts)))
    return [Part("tiles", key_numbers(facts)), Part("verdict", rows)]


def key_numbers(facts: Facts) -> Rows:
    """Numbers on top of the verdict, four or, of an audit, five: what, value, with what."""
    n = facts.data.n_items
    like = "items like these"
    if facts.has("gold"):
        wrong, contested = facts.wrong, facts.in_quadrant("contested")
        errors = (
            number(wrong.gold),
            f"{interval(wrong.gold_low, wrong.gold_high)}; majority vote {number(wrong.vote)}"
            + ("; too few, see the verdict" if facts.too_sure else ""),
        )
        last = (
            f"{quadrant_name('contested', facts.data.n_labels).capitalize()} items",
            f"{contested:,}",
            f"{percent(contested / n)} of the items; "
            + (one_reading(facts) or f"{like}: {share_interval(contested, n)}"),
        )
    else:
        rest = n - facts.settled
        of = f"of {count(n - facts.known_items, 'gold label')}"
        ends = wrong_interval(facts.tree)
        known = interval(*ends) if ends else "no interval of this model from a scan"
        errors = number(facts.expected_errors), f"{of}; {known}"
        last = "Items not settled", f"{rest:,}", f"{percent(rest / n)} of the items"
    of_errors = [("Expected wrong labels", *errors)]
    if facts.estimate is not None:
        of_errors = audited.tiles(facts)
    return [
        (
            "Settled gold labels",
            percent(facts.settled / n),
            f"{facts.settled:,} of {n:,} items; {like}: {share_interval(facts.settled, n)}",
        ),
        *of_errors,
        (
            "Coders flagged",
            f"{len(facts.flagged):,}",
            f"of {count(facts.data.n_coders, 'coder')}; {len(facts.surely_bad):,} with a "
            "probability above 95 %",
        ),
        last,
    ]


def sentences(facts: Facts) -> list[str]:
    """Say the verdict: size, settled gold, expected errors, coders, items and the next step."""
    step = next_step(facts)
    return [
        size(facts),
        gold(facts.settled, facts.data.n_items),
        _errors(facts),
        coders(facts),
        _items(facts, step) if facts.has("items") else f"{step[0].upper()}{step[1:]}.",
    ]


def size(facts: Facts) -> str:
    """Say how much was labelled."""
    data, per_item = facts.data, facts.counts.per_item
    each = (
        f"{per_item.least:,}"
        if per_item.least == per_item.most
        else f"{per_item.least:,} to {per_item.most:,} (median {number(per_item.median)})"
    )
    return (
        f"{count(data.n_coders, 'coder')} gave {count(len(data), 'label')} to "
        f"{count(data.n_items, 'item')} from a set of {count(data.n_labels, 'label')}, {each} per "
        "item."
    )


def gold(settled: int, n: int) -> str:
    """Say how many of the items have a settled label."""
    return (
        f"{settled:,} of {n:,} items ({percent(settled / n)}) have a settled label, that is one "
        f"with a probability of at least 95 %; for more items like these the share is "
        f"{share_interval(settled, n)} (95 % interval)."
    )


def _errors(facts: Facts) -> str:
    n = facts.data.n_items - facts.known_items
    if not n:
        return "The truth of all items is known, so no gold label is in doubt."
    if facts.on_disk:
        return (
            f"Of the {count(n, 'gold label')}, {errors_of_scan(facts)} are expected to be wrong, "
            "if the model is right; whether it reproduces the labels was not looked at."
        )
    if facts.estimate is not None:
        return audited.errors(facts)
    wrong = facts.wrong
    if wrong.tested == n:
        return (
            f"Of the {count(n, 'gold label')}, {wrong.gold:,.0f} are wrong by the known truth, "
            f"against {number(wrong.vote)} by majority vote."
        )
    tested = f"; {wrong.tested:,} of them were compared with known truth" if wrong.tested else ""
    return (
        f"Of the {count(n, 'gold label')}, {number(wrong.gold)} are expected to be wrong "
        f"({interval(wrong.gold_low, wrong.gold_high)}), against {number(wrong.vote)} by majority "
        f"vote ({interval(wrong.vote_low, wrong.vote_high)})"
        + ("; expect more than that: " + TOO_SURE if facts.too_sure else "")
        + f"{tested}."
    )


def coders(facts: Facts) -> str:
    """Say how many coders are bad, and who."""
    table, sure = facts.coders.table, facts.surely_bad
    one = len(sure) <= 1
    what = "very probably " + ("a spammer or adversary" if one else "spammers or adversaries")
    if facts.target is not None:
        what = f"very probably below the target of {percent(facts.target)}, or "
        what += "a spammer" if one else "spammers"
    head = f"{len(sure):,} of {count(len(table), 'coder')}"
    if len(sure):
        first = f"{head} {'is' if one else 'are'} {what} ({named(sure)})"
    else:
        first = f"None of {count(len(table), 'coder')} is {what}"
    rest = facts.flagged.drop(sure.index)
    if len(rest):
        verb = "looks" if len(rest) == 1 else "look"
        first += f", {len(rest):,} {'more ' if len(sure) else ''}{verb} like one ({named(rest)})"
    thin = int((table["kind"] == "not enough evidence").sum())
    last = f"; {count(thin, 'coder has', 'coders have')} too few labels to judge" if thin else ""
    return f"{first}; {_expected_bad(facts)}{last}."


def named(coders: pd.DataFrame) -> str:
    """Give the names of some coders."""
    return listed([short(name, 24) for name in coders["coder"]])


def _expected_bad(facts: Facts) -> str:
    """Count coders at chance or below the target, draw by draw."""
    if facts.target is None:
        name, limit, what = "skill", 0.0, "no better than chance"
        expected = float(np.nansum(facts.coders.table["p_no_better_than_chance"]))
    else:
        name, limit, what = "accuracy", facts.target, "below the target"
        expected = float(np.nansum(facts.coders.table["p_below_target"]))
    draws = draws_of(facts.coders, name)
    low, high = np.nan, np.nan
    if draws is not None:
        bad = (draws <= limit) if facts.target is None else (draws < limit)
        low, high = np.quantile(bad.sum(axis=1), [0.025, 0.975])
    return f"{number(expected)} are expected to be {what} ({interval(low, high)})"


def one_reading(facts: Facts) -> str:
    """Say how many of the contested items are expected not to be; nothing of other lists."""
    table = facts.items.table
    if "p_ambiguous" in table:
        return ""
    chosen = table.loc[table["quadrant"] == "contested", "p_contested"]
    return f"{number((1.0 - chosen).sum())} of them may not be" if len(chosen) else ""


def _items(facts: Facts, step: str) -> str:
    n, contested = facts.data.n_items, facts.in_quadrant("contested")
    more = facts.in_quadrant("needs more labels")
    doubt = f" ({said})" if (said := one_reading(facts)) else ""
    name = quadrant_name("contested", facts.data.n_labels)
    return (
        f"{contested:,} of {n:,} items ({percent(contested / n)}; for more items like these "
        f"{share_interval(contested, n)}) are {name}{doubt}, and {more:,} "
        f"({percent(more / n)}; {share_interval(more, n)}) need more labels; "
        f"cheapest next step: {step}."
    )


def next_step(facts: Facts) -> str:
    """Say the one thing to do next, the cheapest that helps."""
    if facts.check.verdict == "do not use":
        return "repair the fit first, because its diagnostics failed (see “Can I believe this?”)"
    if facts.lacks("items"):
        return _next_step_of_scan(facts)
    more = facts.in_quadrant("needs more labels")
    contested = facts.in_quadrant("contested")
    if len(facts.surely_bad):
        return f"give no more items to {named(facts.surely_bad)}" + (
            f", and ask good coders for labels of the {more:,} items in need of more"
            if more
            else ""
        )
    if more:
        return f"ask for one more label of the {count(more, 'item')} in need of more" + best(facts)
    if contested:
        pair, name = _pair(facts), quadrant_name("contested", facts.data.n_labels)
        return (
            f"read the {count(contested, f'{name} item')} with the coders and fix the "
            f"guideline{pair}"
        )
    unsettled = facts.data.n_items - facts.settled
    if unsettled:
        return f"let an expert decide the {count(unsettled, 'unsettled item')}"
    return "none is needed, the gold standard can be handed on"


def _next_step_of_scan(facts: Facts) -> str:
    if len(facts.surely_bad):
        return f"give no more items to {named(facts.surely_bad)}"
    if rest := facts.data.n_items - facts.settled:
        return (
            f"ask for one more label of the {count(rest, 'item')} that "
            f"{'is' if rest == 1 else 'are'} not settled, the least certain first" + best(facts)
        )
    return "none is needed, the gold standard can be handed on"


def best(facts: Facts) -> str:
    """Name the coders whom the plan of labels to ask for asks most, and count new ones."""
    if facts.lacks("next"):
        return _best_of_scan(facts)
    asked = facts.following.table["coder"].astype(str)
    new, names = int((asked == "").sum()), asked[asked != ""].value_counts(sort=True)
    if not len(asked):
        return ""
    if not len(names):
        return " from new coders"
    said = listed([short(name, 24) for name in names.index[:3]])
    if new:
        return f", {count(new, 'label')} from new coders and others from {said}"
    return f", best from {said}"


def _best_of_scan(facts: Facts) -> str:
    table = facts.coders.table
    good = table[(table["advice"] == "ask") & table["kind"].isin(["good", "biased"])]
    best = good.sort_values("bits", ascending=False, kind="stable").head(3)
    return f", best from {named(best)}" if len(best) else ""


def _pair(facts: Facts) -> str:
    """Name the two labels between which most contested items lie."""
    at = (facts.items.table["quadrant"] == "contested").to_numpy()
    rows = facts.gold.table[at]
    pairs = [
        tuple(sorted((str(a), str(b))))
        for a, b in zip(rows["label"], rows["runner_up"], strict=True)
        if str(b)
    ]
    if not pairs:
        return ""
    (first, second), _ = min(Counter(pairs).items(), key=lambda counted: (-counted[1], counted[0]))
    return f" for {short(first, 24)} against {short(second, 24)}"


SECTION = Section("verdict", "Verdict", "", section)
