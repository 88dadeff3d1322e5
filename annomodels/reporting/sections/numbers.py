"""The sections that are about numbers: verdict, agreement, coders and items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from annomodels import plots
from annomodels.plots.coders import notable
from annomodels.reporting.facts import Facts
from annomodels.reporting.grid import Table, tabulate
from annomodels.reporting.parts import Part, Rows, Section, box, cut, notes, pair, picture, table
from annomodels.reporting.words import count, listed, percent
from annomodels.summaries.columns import COLUMNS, Column, columns, decimal, short

if TYPE_CHECKING:
    import pandas as pd

_MOST_CODERS = 40
_BAD = ("reversed", "uninformative")
_MEASURES: tuple[tuple[Literal["bias", "scale", "noise"], str, str], ...] = (
    ("bias", "Bias of the coders", "How far a coder's numbers lie above or below the true value."),
    (
        "scale",
        "Scale of the coders",
        "How far a coder's numbers move when the true value moves by one: below 0 the coder uses "
        "the scale the wrong way round.",
    ),
    ("noise", "Noise of the coders", "How much a coder's numbers scatter around what they mean."),
)

OPEN = columns(
    "item",
    Column(
        "reason", "Why", "tag",
        of=lambda row: "contested" if row.reason == "contested" else "needs more labels",
    ),
    COLUMNS["value"].called("True value", kind="quantity"),
    COLUMNS["difficulty"].called(kind="quantity"),
    "label_sd n",
)  # fmt: skip


def _verdict(facts: Facts) -> list[Part]:
    return [Part("tiles", key_numbers(facts)), Part("verdict", sentences(facts))]


def _row(facts: Facts, coefficient: str) -> Any:
    rows = facts.agreement.table
    return next(rows[rows["coefficient"] == coefficient].itertuples())


def _span(row: Any) -> str:
    return f"95 % interval {decimal(row.low)} to {decimal(row.high)}"


def _flagged(facts: Facts) -> pd.DataFrame:
    rows = facts.coders.table
    return rows[rows["kind"].isin(_BAD)].sort_values("reliability", kind="stable")


def key_numbers(facts: Facts) -> Rows:
    """Four numbers on top of the verdict: what, value, with what."""
    gold, items, alpha = facts.gold.table, facts.items.table, _row(facts, "alpha")
    contested = int((items["reason"] == "contested").sum())
    spread = f"true values have a standard deviation of {gold['value'].std():.3g}"
    return [
        ("Typical error of a value", f"{gold['sd'].median():.3g}", f"of the median item; {spread}"),
        ("Interval alpha", decimal(alpha.value), _span(alpha)),
        (
            "Coders flagged",
            f"{len(_flagged(facts)):,}",
            f"of {count(facts.data.n_coders, 'coder')}: reversed, or hardly informative",
        ),
        ("Contested items", f"{contested:,}", f"{percent(contested / len(items))} of the items"),
    ]


def sentences(facts: Facts) -> list[tuple[str, str]]:
    """Say the verdict: about what, and what."""
    data, per_item = facts.data, facts.counts.per_item
    gold, items = facts.gold.table, facts.items.table
    new, truth = _row(facts, "alpha, new coders"), _row(facts, "gold")
    each = f"{per_item.least:,}"
    if per_item.least != per_item.most:
        each += f" to {per_item.most:,}"
    widest: Any = gold.iloc[int(gold["sd"].argmax())]
    return [
        (
            "Size",
            f"{count(data.n_coders, 'coder')} gave {count(len(data), 'number')} to "
            f"{count(data.n_items, 'item')}, {each} per item.",
        ),
        (
            "Values",
            f"The true values of the items explain {percent(truth.value)} of the variance of the "
            f"gold standard ({_span(truth)}); the median item is known to within a standard "
            f"deviation of {gold['sd'].median():.3g}, {short(widest['item'], 24)} least well "
            f"({widest['sd']:.3g}).",
        ),
        (
            "Agreement",
            f"Two further coders from the same population would agree with an alpha of "
            f"{decimal(new.value)} ({_span(new)}).",
        ),
        ("Coders", _on_coders(facts)),
        (
            "Items",
            f"{count(int((items['reason'] == 'contested').sum()), 'item is', 'items are')} "
            f"contested, and {int((items['reason'] == 'few labels').sum()):,} need more labels; "
            f"cheapest next step: {next_step(facts)}.",
        ),
    ]


def _on_coders(facts: Facts) -> str:
    rows, flagged = facts.coders.table, _flagged(facts)
    thin = int((rows["kind"] == "not enough evidence").sum())
    biased = int((rows["kind"] == "biased").sum())
    if len(flagged):
        names = listed([short(name, 24) for name in flagged["coder"]])
        text = f"{len(flagged):,} of {count(len(rows), 'coder')} use the scale the wrong way "
        text += f"round or tell hardly anything ({names})"
    else:
        text = f"None of {count(len(rows), 'coder')} uses the scale the wrong way round or tells "
        text += "hardly anything"
    if biased:
        text += f"; {count(biased, 'coder is', 'coders are')} biased, which the values allow for"
    if thin:
        text += f"; {count(thin, 'coder has', 'coders have')} too few labels to judge"
    return f"{text}."


def next_step(facts: Facts) -> str:
    """Say the one thing to do next."""
    items = facts.items.table
    if facts.check.verdict == "do not use":
        return "repair the fit first, because its diagnostics failed (see “Can I believe this?”)"
    if len(flagged := _flagged(facts)):
        names = listed([short(name, 24) for name in flagged["coder"]])
        return f"ask {names} what they took the ends of the scale for"
    if few := int((items["reason"] == "few labels").sum()):
        return f"ask for one more label of the {count(few, 'item')} in need of more"
    if contested := int((items["reason"] == "contested").sum()):
        return f"read the {count(contested, 'contested item')} with the coders"
    return "none is needed, the gold standard can be handed on"


def _agreement(facts: Facts) -> list[Part]:
    rows = facts.agreement.table
    parts = [
        f"{name} {decimal(float(value))}"
        for name, value in zip(rows["coefficient"], rows["value"], strict=True)
    ]
    caption = "Dotted lines: the customary thresholds .667 and .8."
    made = tabulate(
        "agreement", "Agreement of these coders and of new ones", facts.agreement.columns, rows
    )
    beside = box(*table(made), *notes(cut(facts.agreement.notes)))
    return [
        pair(
            picture(
                plots.agreement_forest(facts.agreement),
                "agreement",
                "Agreement with 95 % intervals",
                "; ".join(parts) + ". The table holds all numbers.",
                caption,
            ),
            beside,
        )
    ]


def _coders(facts: Facts) -> list[Part]:
    rows = facts.coders.table
    pictures = []
    some = ""
    if len(rows) > _MOST_CODERS:
        some = f" Shown are the {_MOST_CODERS} most notable of {len(rows):,} coders."
    for measure, title, caption in _MEASURES:
        ends = [f"{float(rows[measure].agg(end)):.3g}" for end in ("min", "max")]
        pictures.append(
            picture(
                plots.coder_forest(facts.coders, measure=measure, most=_MOST_CODERS),
                measure,
                f"{title} with 50 % and 95 % intervals",
                f"From {ends[0]} to {ends[1]}. The table of coders holds all numbers.",
                f"{caption}{some}",
            )
        )
    return [pair(*pictures), *notes(cut(facts.coders.notes)), *table(_quality(facts))]


def _quality(facts: Facts) -> Table:
    rows = facts.coders.table.iloc[notable(facts.coders.table)]
    title = "Coders, the most notable first"
    return tabulate("coders", title, facts.coders.columns, rows, full="coders.csv")


def _items(facts: Facts) -> list[Part]:
    gold = facts.gold.table
    ends = [f"{float(gold['value'].agg(end)):.3g}" for end in ("min", "max")]
    caption = (
        "Dots: true values with 95 % intervals, biases and scales of the coders taken out. Grey: "
        "mean of the labels."
    )
    shown = picture(
        plots.values(facts.gold),
        "values",
        "True values of the items with 95 % intervals",
        f"From {ends[0]} to {ends[1]}. The table of items holds the numbers.",
        caption,
    )
    beside = box(*notes(cut([*facts.gold.notes, *facts.items.notes])), css="beside")
    return [pair(shown, beside), *table(_open_items(facts)), *table(_values(facts))]


def _open_items(facts: Facts) -> Table:
    rows = facts.items.table.merge(facts.gold.table[["low", "high"]], left_index=True,
                                   right_index=True)  # fmt: skip
    rows = rows[rows["reason"] != ""].sort_values("difficulty", ascending=False, kind="stable")

    title = "Items that need a look, the most difficult first"
    return tabulate("open", title, OPEN, rows, full="items.csv")


def _values(facts: Facts) -> Table:
    rows = facts.gold.table.sort_values("sd", ascending=False, kind="stable")
    title = "True values, the least certain first"
    return tabulate("values", title, facts.gold.columns, rows, full="gold.csv")


VERDICT = Section("verdict", "Verdict", "", _verdict)
AGREEMENT = Section(
    "agreement-section",
    "Agreement",
    "How far coders agree on the interval scale: these coders as observed and as the model implies "
    "it, two new ones, and the gold standard with the truth.",
    _agreement,
    needs=("agreement",),
)
CODERS = Section(
    "coders-section",
    "Coders",
    "Which coders lie too high or too low, stretch the scale or turn it round, and how much their "
    "numbers scatter.",
    _coders,
    needs=("coders",),
)
ITEMS = Section(
    "items-section",
    "Items",
    "The true value of each item with its interval, and which items need a look: the coders "
    "scatter more there than elsewhere, or there are too few labels.",
    _items,
    needs=("gold", "items"),
)
