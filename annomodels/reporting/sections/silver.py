"""The section on silver chains: what a model makes of all coders' coreference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annomodels.coref import links as chains
from annomodels.coref.readings import words_of
from annomodels.reporting.grid import Table, tabulate
from annomodels.reporting.links import LinkFacts
from annomodels.reporting.parts import Part, Section, cut, notes, table
from annomodels.summaries.columns import COLUMNS, Column
from annomodels.summaries.columns import columns as columns_of

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

Row = tuple[str, str, int, float]
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
        *notes(cut(facts.fit.check().sentences)),
        Part("text", TOO_SURE),
        *table(silver(facts, facts.fit), "No link is probable enough."),
    ]


def silver(facts: LinkFacts, fit: Fit) -> Table:
    """Silver chains, those with the weakest link first."""
    import pandas as pd

    rows = _in_words(facts, fit) if facts.documents else _by_name(facts, fit)
    frame = pd.DataFrame(rows, columns=["document", "chain", "mentions", "weakest"])
    frame = frame.sort_values("weakest", kind="stable")
    columns = columns_of(
        COLUMNS["document"].called("Text"),
        Column("chain", "Chain; in brackets, P(next reader makes the link)", "text", width=400),
        "mentions weakest",
    )
    title = "Silver chains, the weakest link first"
    return tabulate("silver", title, columns, frame)


def _in_words(facts: LinkFacts, fit: Fit) -> list[Row]:
    """Text, words of the mentions, size and weakest link of each chain."""
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
    """Give the same with the names of mentions, where there are no texts."""
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


SECTION = Section("silver-section", "Silver chains", "", section, needs=("chains",))
