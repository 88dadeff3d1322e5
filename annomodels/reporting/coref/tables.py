"""The tables of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from annomodels.coref.mentionpairs.silver import link_probabilities
from annomodels.coref.readings import words_of
from annomodels.reporting import grid
from annomodels.reporting.coref.collect import CorefData
from annomodels.reporting.grid import Cell, Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.coref.mentionpairs.result import PairFit
    from annomodels.data.expressions import Span

__all__ = ["agreement", "coders", "genres", "rates", "silver", "texts"]

MOST = 200


def agreement(found: CorefData) -> Table:
    """Every coefficient, with its condition in its name."""
    columns = (
        Column("measure", "Measure"),
        Column("value", "Value", True, True),
        Column("observed", "Observed part", True),
        Column("expected", "Expected part", True),
        Column("items", "Expressions", True),
        Column("note", "Note"),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.measure, 90),
            grid.estimate(r.value, r.low, r.high),
            grid.real(r.observed),
            grid.real(r.expected),
            grid.quantity(r.items),
            grid.words(r.note),
        )

    return _table("agreement", "Agreement on mentions, pairs and chains", columns,
                  found.agreement, row)  # fmt: skip


def texts(found: CorefData) -> Table | None:
    """Kappa of each text, the lowest first."""
    if found.posterior is None:
        return None
    frame = found.posterior.table(found.prob).sort_values("kappa", kind="stable")
    columns = (
        Column("document", "Text"),
        Column("genre", "Text type"),
        Column("kappa", "Kappa on pairs", True, True),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.document),
            grid.name(r.genre or ""),
            grid.estimate(r.kappa, r.low, r.high, bar=True),
        )

    return _table("texts", "Kappa on coreferent pairs, the lowest text first", columns, frame, row)


def genres(found: CorefData) -> Table | None:
    """Give the three quantities for each text type, where there are several."""
    import pandas as pd

    if found.posterior is None or len(set(found.posterior.genres)) < 2:
        return None
    frame = pd.concat(
        [
            part.summary(found.prob).set_index("quantity").assign(genre=genre)
            for genre, part in found.posterior.by_genre().items()
        ]
    )
    columns = (
        Column("genre", "Text type"),
        Column("texts", "Texts", True),
        Column("these_texts", "These texts", True, True),
        Column("mean_over_texts", "Texts like these", True, True),
        Column("new_text", "One further text", True, True),
    )
    wide = [
        {"genre": genre, "texts": int(own["texts"].iloc[0]), "rows": own}
        for genre, own in frame.groupby("genre", sort=True)
    ]

    def row(r: Any) -> tuple[Cell, ...]:
        parts = (r.rows.loc[name] for name in ("these_texts", "mean_over_texts", "new_text"))
        cells = tuple(grid.estimate(p["kappa"], p["low"], p["high"]) for p in parts)
        return (grid.name(r.genre), grid.integer(r.texts), *cells)

    title = "Kappa on coreferent pairs by text type; types learn from each other"
    return _table("genres", title, columns, pd.DataFrame(wide), row)


def coders(found: CorefData) -> Table:
    """Coders, the least like the others first."""
    columns = (
        Column("coder", "Coder"),
        Column("texts", "Texts", True),
        Column("mentions", "Mentions", True),
        Column("with_others", "Kappa with the others", True, True),
        Column("others", "Kappa of the others", True),
        Column("difference", "Difference", True, True),
        Column("p_below", "P(below 0)", True),
        Column("alone", "Alone against all", True),
        Column("places", "of places", True),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.coder),
            grid.integer(r.texts),
            grid.integer(r.mentions),
            grid.estimate(r.with_others, r.low, r.high, bar=True),
            grid.real(r.others),
            grid.estimate(r.difference, r.difference_low, r.difference_high),
            grid.chance(r.p_below),
            grid.integer(r.alone),
            grid.integer(r.places),
        )

    title = "Coders, the least like the others first"
    return _table("coders", title, columns, found.coders, row)


def rates(found: CorefData) -> Table | None:
    """Sensitivity and specificity, or accuracy, of each coder as the model sees them."""
    if found.fit is None:
        return None
    frame = found.fit.coders(found.prob).table.sort_values("mean", kind="stable")
    columns = (
        Column("coder", "Coder"),
        Column("class", "Class"),
        Column("quantity", "Quantity"),
        Column("mean", "Mean", True, True),
        Column("judgments", "Judgments", True),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.coder),
            grid.name(r.kind),
            grid.words(r.quantity),
            grid.estimate(r.mean, r.low, r.high, bar=True),
            grid.integer(r.judgments),
        )

    title = "What the model believes of the coders, the lowest first"
    return _table("rates", title, columns, frame.rename(columns={"class": "kind"}), row)


def silver(found: CorefData) -> Table | None:
    """Silver chains, those with the weakest link first."""
    import pandas as pd

    if found.fit is None:
        return None
    p_next = _chance_of_links(found, found.fit)
    rows = []
    for document in found.fit.silver(found.documents, found.at_least):
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
    return _table("silver", title, columns, frame, row)


def _chance_of_links(found: CorefData, fit: PairFit) -> dict[tuple[str, Span], float]:
    """Chance that one more reader makes the link of each mention, by document and span."""
    table = fit.links(0.0).table
    pairs = zip(table["antecedent"], table["p_next"], strict=True)
    return link_probabilities(found.documents, dict(zip(table["item"], pairs, strict=True)))


def _table(
    key: str,
    caption: str,
    columns: Sequence[Column],
    frame: pd.DataFrame,
    row: Callable[[Any], tuple[Cell, ...]],
) -> Table:
    rows = tuple(row(r) for r in frame.head(MOST).itertuples())
    return Table(key, caption, tuple(columns), rows, len(frame))
