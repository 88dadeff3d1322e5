"""A page on numbers: first screen, and sections on items, coders and agreement."""

from __future__ import annotations

from typing import Literal

import pandas as pd

from annomodels import plots
from annomodels.data.columns import COLUMNS, columns
from annomodels.limits import STATES
from annomodels.reporting.facts import Facts
from annomodels.reporting.head import warning
from annomodels.reporting.parts import (
    Head,
    Part,
    Section,
    action,
    box,
    notes,
    pair,
    picture,
    summary,
    table,
)
from annomodels.reporting.words import coders_listed, say

_MOST_CODERS = 40
_BAD = ("reversed", "uninformative")
_MEASURES: tuple[Literal["bias", "scale", "noise"], ...] = ("bias", "scale", "noise")

OPEN = columns(
    "item",
    "state",
    COLUMNS["value"].called("True value", kind="quantity"),
    COLUMNS["difficulty"].called(kind="quantity"),
    "label_sd n",
)  # fmt: skip


def head(facts: Facts) -> Head:
    gold = facts.fit.gold().table
    states = {word: int((gold["state"] == word).sum()) for word in STATES}
    bad = facts.coders.table
    bad = bad[bad["kind"].isin(_BAD)].sort_values("reliability", kind="stable")
    sentence = say("value_known", sd=gold["sd"].median(), spread=gold["value"].std())
    actions = [
        action("read_contested", states["contested"]),
        action("buy_thin", states["needs labels"]),
        action("coders_of_numbers", len(bad), names=coders_listed(bad["coder"])),
    ]
    return Head.of(sentence, states.values(), actions, warning(facts.check))


@Section(
    "agreement-section",
    "Agreement",
    "Agreement on the interval scale: of these coders as observed and as the model implies, of "
    "two new ones, and of the gold standard with the truth.",
    needs=("agreement",),
    printed=False,
)
def agreement(facts: Facts) -> list[Part]:
    found, title = facts.fit.agreement(), "Agreement of these coders and of new ones"
    return summary("agreement", title, found, full="agreement.csv")


def _span(values: pd.Series) -> str:
    return f"From {values.min():.3g} to {values.max():.3g}."


@Section(
    "coders-section",
    "Coders",
    "Coders whose numbers are too high or too low, who stretch or reverse the scale, and the "
    "noise of each.",
    needs=("coders",),
)
def coders(facts: Facts) -> list[Part]:
    found, rows, some = facts.coders, facts.coders.table, ""
    if len(rows) > _MOST_CODERS:
        some = f" Shown are the {_MOST_CODERS} most notable of {len(rows):,} coders."
    pictures = [
        picture(
            plots.coder_forest(found, measure=measure, most=_MOST_CODERS),
            measure,
            span=_span(rows[measure]),
            some=some,
        )
        for measure in _MEASURES
    ]
    title, of = "Coders, most notable first", (found.seen, "coders.csv")
    shown = summary("coders", title, found, *of, paper="flagged")
    return [*shown, pair(*pictures), *notes(found.notes, 400)]


@Section(
    "items-section",
    "Items",
    "The true value of each item with its interval, and the items to check: the coders differ more "
    "there than elsewhere, or there are too few labels.",
    needs=("gold", "items"),
)
def items(facts: Facts) -> list[Part]:
    found = facts.fit.gold()
    open_items = found.table[found.table["state"].isin(("contested", "needs labels"))]
    shown = picture(plots.values(found), "values", span=_span(found.table["value"]))
    beside = box(*notes([*found.notes, *facts.fit.items().notes], 400), css="beside")
    hardest = open_items.sort_values("difficulty", ascending=False, kind="stable")
    doubtful = found.table.sort_values("sd", ascending=False, kind="stable")
    return [
        *table("open", "Items to check, most difficult first", OPEN, hardest,
               "gold.csv"),
        *summary("values", "True values, least certain first", found, doubtful, "gold.csv"),
        pair(shown, beside),
    ]  # fmt: skip
