"""Coreference: places where readers differ, coders, and silver chains."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annomodels.coref import links as chains
from annomodels.coref.readings import position, words_of
from annomodels.data.columns import COLUMNS, Column, clean, decimal, short
from annomodels.data.columns import columns as columns_of
from annomodels.data.validation import counted
from annomodels.reporting.links import LinkFacts
from annomodels.reporting.parts import MOST_CARDS, Card, Part, Section, notes, summary, table
from annomodels.reporting.parts import cards as carded
from annomodels.reporting.words import listed, say, with_interval

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

Row = tuple[str, str, int, float]
TWO = ("implicit", "explicit", "explicit and implicit")
DIFFERS = 0.95  # probability from which a coder counts as different from the others
KINDS = {
    "agreement": "one reading",
    "outlier": "one coder differs",
    "scattered": "scattered readings",
    **dict.fromkeys(TWO, "two readings"),
}
"""Names of the kinds of `places.csv` on the page."""
ABOUT = {
    "one reading": "All coders with one reading chose the same reading.",
    "one coder differs": "One coder deviates from the choice of all others.",
    "scattered readings": "Coders differ, but no two coders share a second reading.",
    "two readings": "Two readings have at least two coders each, or a coder gave several readings.",
}


@dataclass(frozen=True)
class Place:
    """Expression in context, with readings: text, coders and number of coders."""

    where: str
    kind: str
    before: str
    text: str
    after: str
    readings: tuple[tuple[str, str, int], ...]
    of: int

    @property
    def second(self) -> int:
        """Number of coders with the second reading."""
        return self.readings[1][2] if len(self.readings) > 1 else 0


@Section.of("places", "Places to read", needs=("texts",))
def places(facts: LinkFacts) -> list[Part]:
    kinds = states(facts)
    counted = [(name, f"{n:,}", ABOUT[name]) for name, n in kinds.items() if n]
    # two readings first, then by number of coders with the second reading
    shown = sorted(
        _in_context(facts), key=lambda place: (place.kind != "two readings", -place.second)
    )
    if not shown:
        return [Part("kinds", counted, "kinds"), Part("text", "The coders do not differ anywhere.")]
    differ = sum(kinds.values()) - kinds["one reading"]
    more = f"; {differ - len(shown):,} more are in places.csv" if differ > len(shown) else ""
    lead = say("place_lead", more=more, condition=facts.condition)
    offered = dict.fromkeys(place.kind for place in shown)
    return [
        Part("text", lead, "lead"),
        Part("kinds", counted, "kinds"),
        Part("places", (shown, list(offered))),
    ]


def states(facts: LinkFacts) -> dict[str, int]:
    """Count the expressions of each state, by the names on the page."""
    kinds = facts.kinds()
    return {
        name: sum(kinds.get(kind, 0) for kind, called in KINDS.items() if called == name)
        for name in ABOUT
    }


@Section.of(
    "coders-section",
    "Coders",
    "Kappa with the others, next to that of the others on the same texts, and places where only "
    "this coder deviates from the reading of all others. Each card ends with a sentence that you "
    "can send.",
    parts=(("texts", "Coders against each other"),),
)
def coders(facts: LinkFacts) -> list[Part]:
    of_model = rates(facts.fit, facts.prob) if facts.fit is not None else []
    if facts.unsupported("texts"):
        return of_model
    two = ["With two coders, the data cannot show which of them differs."] * (facts.n_coders < 3)
    return [
        *notes(two),
        *carded([] if two else cards(facts)),
        *summary("coders", facts.coders.title, facts.coders, full="coders.csv"),
        *[Part("more", ("As the model of silver chains sees them", of_model))] * bool(of_model),
    ]


def cards(facts: LinkFacts) -> list[Card]:
    """Return a card per coder, the most different coder first."""
    alone: dict[str, list[str]] = {}
    for place in _in_context(facts):
        for _, who, n in place.readings:
            if place.kind == "one coder differs" and n == 1:
                known = place.text in place.where  # there are no words to quote
                name = place.where if known else f"“{short(place.text, 30)}” ({place.where})"
                alone.setdefault(who, []).append(name)
    rows = facts.coders.table.head(MOST_CARDS).itertuples()
    return [_card(row, alone.get(short(str(row.coder), 200), [])) for row in rows]


def _card(row: Any, alone: list[str]) -> Card:
    kappa = with_interval(row.with_others, row.low, row.high)
    apart = f"{decimal(row.others)} among themselves" if math.isfinite(row.others) else "–"
    kind = "differs" if row.p_below > DIFFERS else "as the others"
    kind = kind if math.isfinite(row.p_below) else "not enough evidence"
    left = f"at {row.alone:,} of {counted(int(row.places), 'place')}" if row.alone else "nowhere"
    about = f"{counted(int(row.texts), 'text')}, {counted(int(row.mentions), 'mention')}"
    return Card(
        short(row.coder, 40), kind, about,
        (("With the others", kappa), ("The others", apart), ("Alone", left)),
        _feedback(kind, alone),
    )  # fmt: skip


def _feedback(kind: str, alone: list[str]) -> str:
    """Return one sentence to send to a coder."""
    places = f": {listed(alone, 2)}" if alone else ""
    if kind == "differs":
        return f"Your chains differ most; please reread the guideline{places}."
    if alone:
        return f"Please look again where you alone chose another chain{places}."
    if kind == "as the others":
        return "Your chains are like those of the others: please go on like this."
    return "You share too few mentions with two others to compare your chains."


def _in_context(facts: LinkFacts) -> Iterator[Place]:
    """Yield places in table order, with all readings of each."""
    for (document, span), rows in facts.readings.groupby(["document", "span"], sort=False):
        listed: list[Any] = list(rows.itertuples())
        first = listed[0]
        readings = tuple((short(r.reading, 200), short(r.coders, 200), int(r.n)) for r in listed)
        many = len(facts.documents) > 1
        yield Place(
            f"{short(document, 50)}, {position(str(span))}" if many else position(str(span)),
            KINDS[str(first.kind)],
            clean(first.before),
            short(first.text, 200),
            clean(first.after),
            readings,
            int(first.of),
        )


def rates(fit: Fit, prob: float) -> list[Part]:
    """Tabulate the model's sensitivity and specificity, or accuracy, of each coder."""
    frame = fit.coders(prob=prob).table.sort_values("mean", kind="stable")
    columns = columns_of(
        "coder",
        Column("kind", "Class", "name"),
        COLUMNS["quantity"].called(kind="text"),
        "mean judgments",
    )
    title = "Coders as estimated by the model, lowest first"
    return table("rates", title, columns, frame.rename(columns={"class": "kind"}), "rates.csv")


@Section.of("silver-section", "Silver chains", needs=("chains",))
def silver(facts: LinkFacts) -> list[Part]:
    import pandas as pd

    assert facts.fit is not None
    rows = (_in_words if facts.documents else _by_name)(facts, facts.fit)
    frame = pd.DataFrame(rows, columns=["document", "chain", "mentions", "weakest"])
    columns = columns_of(
        COLUMNS["document"].called("Text"),
        Column("chain", "Chain; in brackets, P(next reader makes the link)", "text", width=400),
        "mentions weakest",
    )
    lead = say("silver_lead", least=facts.at_least)
    frame = frame.sort_values("weakest", kind="stable")
    title, none = "Silver chains, weakest link first", "No link is probable enough."
    shown = table("silver", title, columns, frame, "links.csv", otherwise=none)
    return [Part("text", lead, "lead"), *shown]


def _in_words(facts: LinkFacts, fit: Fit) -> list[Row]:
    """Return text, words of the mentions, size and weakest link of each chain."""
    p_next = chains.link_probabilities(fit, facts.documents, "p_next")
    rows: list[Row] = []
    for document in chains.silver(fit, facts.documents, facts.at_least):
        for group in document.layers["silver"].groups:
            ordered = sorted(group, key=lambda key: (key[1], key[0]))
            if len(ordered) < 2:
                continue
            known = [p_next.get((document.id, key[1])) for key in ordered]
            parts = [
                words_of(document, key[1]) + ("" if p is None or not n else f" ({p:.2f})")
                for n, (key, p) in enumerate(zip(ordered, known, strict=True))
            ]
            weakest = min((p for p in known[1:] if p is not None), default=float("nan"))
            rows.append((document.id, " – ".join(parts), len(ordered), weakest))
    return rows


def _by_name(facts: LinkFacts, fit: Fit) -> list[Row]:
    """Return the same with names of mentions, for fits without texts."""
    links = fit.links().table
    p_next = dict(zip(links["item"], links["p_next"], strict=True))
    rows: list[Row] = []
    for chain, group in fit.chains(facts.at_least).table.groupby("chain"):
        linked = group["p_link"].notna()
        parts = [
            f"{item} ({p_next[item]:.2f})" if is_linked else item
            for item, is_linked in zip(group["item"], linked, strict=True)
        ]
        weakest = min(p_next[item] for item in group["item"][linked])
        rows.append((str(chain).rpartition("#")[0], " – ".join(parts), len(parts), weakest))
    return rows
