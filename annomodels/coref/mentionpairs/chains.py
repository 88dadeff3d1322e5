"""Silver chains: every mention goes to its most probable antecedent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.data.candidates import Candidates, antecedents_of
from annomodels.errors import NotApplicable
from annomodels.types import Floats

if TYPE_CHECKING:
    from annomodels.summaries.summary import Summary


SPLIT = "{n} mentions have an antecedent of several parts; they are not joined to any."


def best_candidates(codes: Candidates, p: Floats) -> NDArray[np.int64]:
    """Most probable candidate of each mention; of equals that with most votes, then the first."""
    order = np.lexsort((-np.arange(len(p)), codes.votes, p, codes.mention))
    return np.asarray(order[codes.firsts[1:] - 1])


def _linked(
    codes: Candidates, p: Floats, at_least: float
) -> tuple[list[tuple[str, str, float]], int]:
    """Give item, antecedent and probability of links, and how many antecedents have parts."""
    if not 0 <= at_least <= 1:
        raise NotApplicable(f"at_least={at_least!r} should be between 0 and 1.")
    found, split = [], 0
    for item, m in zip(codes.items, best_candidates(codes, p), strict=True):
        names = antecedents_of(codes.labels[m])
        split += len(names) > 1
        if len(names) == 1 and p[m] >= at_least:
            text, mark, _ = item.rpartition("#")
            found.append((item, f"{text}{mark}{names[0]}", float(p[m])))
    return found, split


def _notes(split: int) -> tuple[str, ...]:
    return (SPLIT.format(n=split),) if split else ()


def links(codes: Candidates, p: Floats, at_least: float, p_next: Floats) -> Summary:
    """Each mention with its most probable antecedent."""
    import pandas as pd
    import xarray as xr

    from annomodels.summaries.summary import Summary

    found, split = _linked(codes, p, at_least)
    table = pd.DataFrame(found, columns=["item", "antecedent", "p_link"])
    again = dict(zip(codes.items, p_next[best_candidates(codes, p)].tolist(), strict=True))
    table["p_next"] = [again[item] for item in table["item"]]
    return Summary("Silver links", table, xr.Dataset({"p_true": ("candidate", p)}), _notes(split))


def chains(codes: Candidates, p: Floats, at_least: float) -> Summary:
    """Mentions joined by their links; a chain has the name of its first mention."""
    import pandas as pd
    import xarray as xr

    from annomodels.summaries.summary import Summary

    found, split = _linked(codes, p, at_least)
    root: dict[str, str] = {}

    def top(name: str) -> str:
        while root.setdefault(name, name) != name:
            root[name] = root[root[name]]
            name = root[name]
        return name

    for item, antecedent, _ in found:
        root[top(item)] = top(antecedent)
    probability = {item: p_link for item, _, p_link in found}
    weakest: dict[str, float] = {}
    for item, value in probability.items():
        weakest[top(item)] = min(value, weakest.get(top(item), 1.0))
    rows = [
        (top(name), name, probability.get(name, float("nan")), weakest[top(name)])
        for name in sorted(root, key=lambda name: (top(name), name))
    ]
    table = pd.DataFrame(rows, columns=["chain", "item", "p_link", "p_weakest"])
    return Summary("Silver chains", table, xr.Dataset({"p_true": ("candidate", p)}), _notes(split))
