"""What a diagnosis comes out as: sentences, and the tables they rest on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["Diagnosis"]

SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """Where disagreement comes from.

    In every table share is the part of the observed disagreement, by_chance the part that chance
    would give, ratio the one over the other, low and high ends of 95 % intervals, and p_more the
    probability that the ratio exceeds 1.

    Parameters
    ----------
    title
        What was diagnosed.
    sentences
        What the tables say, where they say it with a probability of .95 or more.
    agreement
        The coefficient asked for, with observed agreement, S and AC1 where labels are nominal.
    label_pairs
        Pairs of different labels, those with most disagreement first.
    labels
        Agreement on each label against the rest, as ``breakdown(data, "label")``; None where the
        distance is not nominal.
    items
        Items with two labels or more, those with most disagreement first.
    coders
        Coders, with their coefficient against the rest, what leaving them out would do, and what
        label they give more often than others do on the same items.
    groups
        Documents or batches; None where there are none or items are drawn one by one.
    components
        Coders, items and labels of each component of the graph of who labelled what.
    draws
        Draws of the shares.
    notes
        What else a reader should know.
    """

    title: str
    sentences: tuple[str, ...]
    agreement: pd.DataFrame
    label_pairs: pd.DataFrame
    labels: pd.DataFrame | None
    items: pd.DataFrame
    coders: pd.DataFrame
    groups: pd.DataFrame | None
    components: pd.DataFrame
    draws: xr.Dataset
    notes: tuple[str, ...] = ()

    def tables(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Names of the parts with their tables, as far as there are any."""
        names = ("agreement", "label_pairs", "labels", "items", "coders", "groups", "components")
        for name in names:
            table = getattr(self, name)
            if table is not None and len(table):
                yield name, table

    def __repr__(self) -> str:
        lines = [self.title, "", *(f"* {sentence}" for sentence in self.sentences)]
        for name, table in self.tables():
            shown = table.head(SHOWN).to_string(
                index=False, float_format=lambda x: f"{x:.3f}", na_rep=""
            )
            more = f" (first {SHOWN} of {len(table):,})" if len(table) > SHOWN else ""
            lines += ["", f".{name}{more}", shown]
        return "\n".join([*lines, "", *self.notes])

    def _repr_html_(self) -> str:
        from html import escape

        parts = [f"<p><strong>{escape(self.title)}</strong></p><ul>"]
        parts += [f"<li>{escape(sentence)}</li>" for sentence in self.sentences]
        parts.append("</ul>")
        for name, table in self.tables():
            body = table.to_html(index=False, max_rows=10, float_format="{:.3f}".format, na_rep="")
            parts.append(f"<p>{name}</p>{body}")
        parts += [f"<p>{escape(note)}</p>" for note in self.notes]
        return "".join(parts)
