"""Tables of an estimate on slices of the items, and on systems that items compare."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.auditing.rows import WRONG, Slice, named_codes, three, units_of
from annomodels.auditing.tables import Tables
from annomodels.data.names import label_text
from annomodels.data.validation import some
from annomodels.errors import NotApplicable, Option
from annomodels.types import Floats

if TYPE_CHECKING:
    import pandas as pd

# slices that are compared each with each
MOST_COMPARED = 12


def slices(t: Tables, by: Mapping[str, Slice]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tabulate accuracy and prevalence of each slice, and the differences between slices."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    between: list[dict[str, Any]] = []
    for number, (name, (member, names)) in enumerate(by.items()):
        item, group = units_of(member, t.estimator.inside)
        n = np.bincount(group, minlength=len(names))
        judged = np.bincount(group[np.isin(item, t.seen.item)], minlength=len(names))
        share: Floats = np.empty(0)
        for label in (WRONG, *range(t.data.n_labels)):
            if label == 1 and t.data.n_labels == 2:
                share = 1 - share  # what is not the first label is the second
            else:
                shares = t.some(label, len(names))
                rng = np.random.default_rng([t.seed, 1_000_004, number, label + 1])
                found = t.estimator.groups(label, t.seen, shares, (item, group), len(names), rng)
                with np.errstate(invalid="ignore", divide="ignore"):
                    share = np.where(n > 0, found / n, np.nan)
            what: dict[str, Any] = {"quantity": "accuracy", "label": ""}
            if label == WRONG:
                share = 1 - share
            else:
                what = {"quantity": "prevalence", "label": t.data.labels[label]}
            rows += [
                {"by": name, "slice": each, **what, "n": int(n[at]), "audited": int(judged[at])}
                | three("value", share[:, at], bare=True)
                for at, each in enumerate(names)
            ]
            if len(names) <= MOST_COMPARED:
                between += [
                    {"by": name, "first": names[a], "second": names[b], **what}
                    | three("difference", share[:, a] - share[:, b], bare=True)
                    | {"p_higher": float((share[:, a] > share[:, b]).mean())}
                    for a, b in combinations(range(len(names)), 2)
                ]
    return pd.DataFrame(rows), pd.DataFrame(between)


def systems(
    t: Tables,
    pairs: Mapping[Any, tuple[Hashable, Hashable]] | None,
    wins: tuple[Hashable, Hashable] | None,
) -> pd.DataFrame:
    """Tabulate the share of comparisons that each system won; a tie counts one half."""
    import pandas as pd

    if pairs is None:
        return pd.DataFrame()
    won_by = _wins(t, wins)
    sides = [named_codes(t.fit, {i: pair[side] for i, pair in pairs.items()}) for side in (0, 1)]
    names = tuple(dict.fromkeys([*sides[0][1], *sides[1][1]]))
    place = {name: n for n, name in enumerate(names)}
    won: Floats = np.zeros((1, len(names)))
    n, judged = (np.zeros(len(names)) for _ in range(2))
    for side, (member, own) in enumerate(sides):
        item, group = units_of(member, t.estimator.inside)
        group = np.array([place[name] for name in own])[group]
        n += np.bincount(group, minlength=len(names))
        judged += np.bincount(group[np.isin(item, t.seen.item)], minlength=len(names))
        for label in range(t.data.n_labels):
            if label == won_by[1 - side]:
                continue
            worth = 1.0 if label == won_by[side] else 0.5
            rng = np.random.default_rng([t.seed, 1_000_005, side, label])
            shares = t.some(label, len(names))
            found = t.estimator.groups(label, t.seen, shares, (item, group), len(names), rng)
            won = won + worth * found
    share = won / np.maximum(n, 1)
    rows = [
        {"system": name, "n": int(n[at]), "audited": int(judged[at])}
        | three("win_rate", share[:, at])
        for at, name in enumerate(names)
    ]
    return pd.DataFrame(rows).sort_values("win_rate", ascending=False, ignore_index=True)


def _wins(t: Tables, wins: tuple[Hashable, Hashable] | None) -> tuple[int, int]:
    """Return the codes of the labels by which the first and the second system wins."""
    place = {label_text(label): n for n, label in enumerate(t.data.labels)}
    if t.data.n_labels < 2:
        raise NotApplicable("Pairs need two labels: which of the two systems won.")
    if wins is None:
        return 0, 1
    texts = [label_text(label) for label in wins]
    if len(texts) != 2 or texts[0] == texts[1] or not set(texts) <= set(place):
        raise NotApplicable(
            f"{Option('wins', wins)}: name the two labels that say which system won, of "
            f"{some(t.data.labels)}."
        )
    return place[texts[0]], place[texts[1]]
