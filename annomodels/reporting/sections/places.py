"""The sections on coreference that are about readers: where they differ, and who does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from annomodels.reporting.grid import Table, tabulate
from annomodels.reporting.links import LinkFacts
from annomodels.reporting.parts import Part, Section, notes, table
from annomodels.summaries.columns import COLUMNS, Column, clean, short
from annomodels.summaries.columns import columns as columns_of

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

KINDS = {
    "agreement": "All coders with one reading chose the same.",
    "outlier": "One coder left what all the others chose.",
    "scattered": "Coders differ, but no second reading has two of them behind it.",
    "implicit": "Two readings have two coders or more each: the text may be ambiguous.",
    "explicit": "A coder gave several readings.",
    "explicit and implicit": "Both: coders gave several readings, and others chose different ones.",
}


@dataclass(frozen=True)
class Place:
    """An expression in its context, with its readings: what, who, and how many of all."""

    where: str
    kind: str
    before: str
    text: str
    after: str
    readings: tuple[tuple[str, str, int], ...]
    of: int


def _places(facts: LinkFacts) -> list[Part]:
    kinds = facts.kinds()
    counted = [(kind, f"{kinds.get(kind, 0):,}", text) for kind, text in KINDS.items()]
    lead = Markup(
        "Where coders read differently, and who read what. A reading is the label of the "
        "expression ({}) without the expression itself, the nearest mention first; positions of "
        "words in brackets. <em>none</em> is a first mention."
    ).format(facts.condition)
    parts = [Part("text", lead, "lead"), Part("kinds", counted, "kinds")]
    shown = list(_in_context(facts))
    if not shown:
        return [*parts, Part("text", "The coders differ nowhere.")]
    said = (
        f"The {len(shown)} places with most coders behind a second reading, in the order of the "
        "texts."
    )
    return [*parts, Part("text", said, "cut"), Part("places", shown)]


def _coders(facts: LinkFacts) -> list[Part]:
    rates_of_model = table(rates(facts.fit, facts.prob)) if facts.fit is not None else []
    if facts.lacks("texts"):
        return rates_of_model
    two = ["With two coders, nobody can say which of them differs."] * (facts.n_coders < 3)
    return [*notes(two), *table(coders(facts)), *rates_of_model]


def _in_context(facts: LinkFacts) -> Iterator[Place]:
    """Places in the order of the table, their readings together."""
    for (document, span), rows in facts.readings.groupby(["document", "span"], sort=False):
        listed: list[Any] = list(rows.itertuples())
        first = listed[0]
        readings = tuple((short(r.reading, 200), short(r.coders, 200), int(r.n)) for r in listed)
        many = len(facts.documents) > 1
        yield Place(
            f"{short(document, 50)}, words {span}" if many else f"words {span}",
            str(first.kind),
            clean(first.before),
            short(first.text, 200),
            clean(first.after),
            readings,
            int(first.of),
        )


def coders(facts: LinkFacts) -> Table:
    """Coders, the least like the others first."""
    columns = columns_of("coder texts mentions with_others others difference p_below alone places")
    title = "Coders, the least like the others first"
    return tabulate("coders", title, columns, facts.coders)


def rates(fit: Fit, prob: float) -> Table:
    """Sensitivity and specificity, or accuracy, of each coder as the model sees them."""
    frame = fit.coders(prob=prob).table.sort_values("mean", kind="stable")
    columns = columns_of(
        "coder",
        Column("kind", "Class", "name"),
        COLUMNS["quantity"].called(kind="text"),
        "mean judgments",
    )
    title = "What the model believes of the coders, the lowest first"
    return tabulate("rates", title, columns, frame.rename(columns={"class": "kind"}))


PLACES = Section("places", "Ambiguous places", "", _places, needs=("texts",))


CODERS = Section(
    "coders-section",
    "Coders",
    "Kappa on coreferent pairs of each coder with the others, against the others among themselves "
    "on the same texts; and on how many places the coder alone left what all others said.",
    _coders,
    parts=(("texts", "Coders against each other"),),
)
