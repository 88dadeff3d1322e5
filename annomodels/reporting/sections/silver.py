"""The section on silver chains: what a model makes of all coders' coreference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annomodels.coref.mentionpairs.silver import link_probabilities
from annomodels.coref.readings import words_of
from annomodels.reporting import grid
from annomodels.reporting.grid import Cell, Column, Table, tabulate
from annomodels.reporting.links import LinkFacts
from annomodels.reporting.parts import Part, Section, cut, notes, table

if TYPE_CHECKING:
    from annomodels.coref.mentionpairs.result import PairFit
    from annomodels.data.expressions import Span

TOO_SURE = (
    "The numbers in brackets are the chance that one more reader makes the link (p_next). Silver "
    "antecedents are chosen by the probability of being true (p_link of links.csv), which takes "
    "coders for independent: on a public crowd it named more gold antecedents than majority "
    "voting, but was far too sure; read it as an order."
)


def section(facts: LinkFacts) -> list[Part]:
    """Give the parts of the section."""
    assert facts.fit is not None
    lead = (
        "Each mention goes to its most probable antecedent, if that has a probability of at least "
        f"{facts.at_least}. Look at the weakest links first."
    )
    return [
        Part("text", lead, "lead"),
        *notes(cut(facts.fit.check())),
        Part("text", TOO_SURE),
        *table(silver(facts, facts.fit), "No link is probable enough."),
    ]


def silver(facts: LinkFacts, fit: PairFit) -> Table:
    """Silver chains, those with the weakest link first."""
    import pandas as pd

    p_next = _chance_of_links(facts, fit)
    rows = []
    for document in fit.silver(facts.documents, facts.at_least):
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
    frame = pd.DataFrame(rows, columns=["document", "chain", "mentions", "weakest"])
    frame = frame.sort_values("weakest", kind="stable")
    columns = (
        Column("document", "Text"),
        Column("chain", "Chain; in brackets, P(next reader makes the link)"),
        Column("mentions", "Mentions", True),
        Column("weakest", "Weakest link", True),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.document),
            grid.words(r.chain, 400),
            grid.integer(r.mentions),
            grid.chance(r.weakest),
        )

    title = "Silver chains, the weakest link first"
    return tabulate("silver", title, columns, frame, row)


def _chance_of_links(facts: LinkFacts, fit: PairFit) -> dict[tuple[str, Span], float]:
    """Chance that one more reader makes the link of each mention, by document and span."""
    table = fit.links(0.0).table
    pairs = zip(table["antecedent"], table["p_next"], strict=True)
    return link_probabilities(facts.documents, dict(zip(table["item"], pairs, strict=True)))


SECTION = Section("silver-section", "Silver chains", "", section, needs=("silver",))
