"""Known truth among the columns of a long table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annomodels.errors import Option, Problem
from annomodels.io.tables.keys import Key
from annomodels.io.tables.options import Options
from annomodels.io.tables.table import Table

_FEWEST_ITEMS, _DIFFER = 10, 0.05  # items compared, and the share of them where coders differ


def truth_as_label(table: Table, names: Mapping[str, str], options: Options) -> list[Problem]:
    """Refuse labels that are the known truth: they never differ, and another column does."""
    item, label = names["item"], names["label"]
    if isinstance(item, Key):
        return []
    rows: dict[object, list[int]] = {}
    for n, name in enumerate(table.columns[item]):
        rows.setdefault(name, []).append(n)
    several = [places for places in rows.values() if len(places) > 1]
    if len(several) < _FEWEST_ITEMS or _differ(table.columns[label], several):
        return []
    known = set(map(str, table.columns[label]))
    for name in table.header:
        cells = table.columns[name]
        if name in (*names.values(), *options.taken) or not known & set(map(str, cells)):
            continue
        alike = len(known | set(map(str, cells)) - {""}) <= len(known) + 1
        if alike and len(known) > 1 and _differ(cells, several) > _DIFFER * len(several):
            what = (
                f"Column {label!r} never differs within an item, so it seems to be the known "
                f"truth; {name!r} has the same labels and differs."
            )
            remedy = f"Read it so: {Option('label', name)} and {Option('truth', label)}."
            otherwise = f" If {label!r} has the labels of the coders: {Option('label', label)}."
            where = f"{table.source}, columns {label!r} and {name!r}"
            said = (("label", name), ("truth", label))
            return [Problem(what, where, remedy + otherwise, options=said)]
    return []


def _differ(cells: Sequence[object], several: Sequence[Sequence[int]]) -> int:
    """Count items whose cells differ."""
    return sum(len({str(cells[n]) for n in places}) > 1 for places in several)
