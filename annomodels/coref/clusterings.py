"""Overlap counts of two clusterings of mentions, in any notation."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from annomodels.data.layers import Layer
from annomodels.data.validation import counted, is_missing, some
from annomodels.errors import AnnotationError, DataWarning
from annomodels.types import Ints

Clusters = Iterable[Iterable[Any]] | Mapping[Any, Any] | Layer
Missing = Literal["error", "singleton", "drop"]


def groups_of(clusters: Clusters, name: str, *, keep_first: bool = False) -> list[list[Hashable]]:
    """Return disjoint lists of mentions from sets of mentions or from {mention: cluster}."""
    # A cluster of None is a separate one. A mention given as a list, as in JSON, is a tuple.
    if isinstance(clusters, Layer):
        return [list(group) for group in clusters.groups]
    found: list[list[Hashable]] = []
    owner: dict[Hashable, int] = {}
    twice: list[Hashable] = []
    for n, cluster in enumerate(_sets(clusters, name)):
        members = []
        for raw in cluster:
            mention = _hashable(raw, name)
            first = owner.setdefault(mention, n)
            if first != n:
                twice.append(mention)
            else:
                members.append(mention)
        found.append(list(dict.fromkeys(members)))
    if twice:
        names = some(dict.fromkeys(map(str, twice)))
        what = f"In two clusters: {counted(len(set(twice)), 'mention')} ({names})."
        if not keep_first:
            remedy = "A mention belongs to one cluster; merge the clusters or choose one."
            raise AnnotationError(what, name, remedy)
        warnings.warn(f"{name}: {what} The first copy is kept.", DataWarning, stacklevel=3)
    return [members for members in found if members]


def _sets(clusters: Iterable[Any] | Mapping[Any, Any], name: str) -> list[list[Any]]:
    if isinstance(clusters, Mapping):
        if clusters and all(isinstance(v, (set, frozenset, list)) for v in clusters.values()):
            return [list(members) for members in clusters.values()]
        found: dict[Any, list[Any]] = {}
        for mention, cluster in clusters.items():
            own = ("alone", mention) if is_missing(cluster) else ("named", cluster)
            found.setdefault(own, []).append(mention)
        return list(found.values())
    remedy = 'Give clusters such as [{"a", "b"}, {"c"}], or {"a": 1, "b": 1, "c": 2}.'
    if isinstance(clusters, (str, bytes)) or not isinstance(clusters, Iterable):
        raise AnnotationError(f"{clusters!r} is not a clustering.", name, remedy)
    out = []
    for cluster in clusters:
        if isinstance(cluster, (str, bytes)) or not isinstance(cluster, Iterable):
            what = f"{cluster!r} is not a cluster, that is, not a set of mentions."
            raise AnnotationError(what, name, remedy)
        out.append(list(cluster))
    return out


def _hashable(mention: Any, name: str) -> Hashable:
    if isinstance(mention, list):
        return tuple(_hashable(part, name) for part in mention)
    try:
        hash(mention)
    except TypeError as error:
        what = f"{mention!r} cannot name a mention."
        raise AnnotationError(what, name, "Use texts, numbers or tuples.") from error
    return mention  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Overlap:
    """Overlap of two clusterings, the input of link and cluster measures."""

    # number of mentions in cluster `row` of the first and `column` of the second clustering,
    # for pairs of clusters that share any [pair]
    both: Ints
    row: Ints  # cluster codes [pair]
    column: Ints
    x_sizes: Ints  # sizes of the clusters, mentions of one coder only included [cluster]
    y_sizes: Ints
    mention_x: Ints  # cluster codes of the mentions that both have [mention]
    mention_y: Ints

    @cached_property
    def n(self) -> int:
        return int(self.both.sum())

    def swapped(self) -> Overlap:
        x, y = (self.row, self.x_sizes, self.mention_x), (self.column, self.y_sizes, self.mention_y)
        return Overlap(self.both, y[0], x[0], y[1], x[1], y[2], x[2])


def overlap(
    x: list[list[Hashable]], y: list[list[Hashable]], missing: Missing | None = None
) -> Overlap:
    """Count the mentions that clusters share; n log n in the number of mentions."""
    where_x = {m: n for n, group in enumerate(x) for m in group}
    where_y = {m: n for n, group in enumerate(y) for m in group}
    only_x = [m for m in where_x if m not in where_y]
    only_y = [m for m in where_y if m not in where_x]
    if missing == "error" and (only_x or only_y):
        parts = [
            f"{counted(len(rest), 'mention')} only in the {side}: {some(map(str, rest))}"
            for side, rest in (("first", only_x), ("second", only_y))
            if rest
        ]
        what = f"The two clusterings are not about the same mentions: {'; '.join(parts)}."
        remedy = (
            'Use missing="singleton" if such a mention is a singleton for the other coder, or '
            'missing="drop" to compare only the shared mentions.'
        )
        raise AnnotationError(what, remedy=remedy)
    if missing == "singleton":
        for rest, where in ((only_y, where_x), (only_x, where_y)):
            start = len(x) if where is where_x else len(y)
            where.update({m: start + n for n, m in enumerate(rest)})
    shared = [m for m in where_x if m in where_y]
    mention_x = np.fromiter((where_x[m] for m in shared), np.int64, len(shared))
    mention_y = np.fromiter((where_y[m] for m in shared), np.int64, len(shared))
    wide = max(where_y.values(), default=0) + 1
    cells, both = np.unique(mention_x * wide + mention_y, return_counts=True)
    row, column = np.divmod(cells, wide)
    every_x = mention_x if missing == "drop" else np.fromiter(where_x.values(), np.int64)
    every_y = mention_y if missing == "drop" else np.fromiter(where_y.values(), np.int64)
    return Overlap(
        both.astype(np.int64),
        row,
        column,
        np.bincount(every_x, minlength=max(where_x.values(), default=-1) + 1),
        np.bincount(every_y, minlength=wide if where_y else 0),
        mention_x,
        mention_y,
    )
