"""Scores of a response against a key: MUC, B-cubed, CEAF, BLANC and LEA.

They measure the quality of a response, not the reliability of coding, and are not corrected for
chance.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from annomodels.coref.clusterings import Clusters, Overlap, groups_of, overlap
from annomodels.coref.mentions import Match, renamed
from annomodels.coref.tables import harmonic, share
from annomodels.types import Floats, Ints


class Score(NamedTuple):
    """Recall, precision and their harmonic mean.

    Parameters
    ----------
    recall, precision, f1
        Shares between 0 and 1; 0 if the denominator is 0.
    """

    recall: float
    precision: float
    f1: float


def score(key: Clusters, response: Clusters, *, match: Match = "exact") -> dict[str, Score]:
    r"""Score a clustering against a key.

    ==========  =================================================================================
    name        recall (precision with key and response exchanged)
    ==========  =================================================================================
    ``muc``     :math:`\sum (|K| - |p(K)|) / \sum (|K| - 1)`, Vilain et al. (1995),
                doi:10.3115/1072399.1072405
    ``b3``      :math:`\sum |K \cap R|^2 / |K|` over the mentions of the key, Bagga and Baldwin
                (1998)
    ``ceaf_m``  best one-to-one match by :math:`|K \cap R|`, over mentions, Luo (2005),
                doi:10.3115/1220575.1220579
    ``ceaf_e``  the same by :math:`2 |K \cap R| / (|K| + |R|)`, over clusters
    ``blanc``   mean over coreferent and other links, Recasens and Hovy (2011),
                doi:10.1017/S135132491000029X, with mentions of one side as in Luo et al. (2014),
                doi:10.3115/v1/P14-2005
    ``lea``     resolved links weighted by cluster size, Moosavi and Strube (2016),
                doi:10.18653/v1/P16-1060
    ==========  =================================================================================

    Parameters
    ----------
    key, response
        Sets of hashable mentions, or mappings from mention to cluster; they need not have the
        same mentions. A mention in two clusters stays in the first, with a warning, as in the
        reference scorer. Clusters of one mention count unchanged.
    match
        "exact", or "head" or "partial" for mentions with words and heads, see
        :func:`match_mentions`.

    Returns
    -------
    dict
        Name -> (recall, precision, f1).

    Raises
    ------
    AnnotationError
        If a cluster is not a set of mentions.

    Examples
    --------
    >>> key = [{"a"}, {"b", "c"}, {"d", "e", "f"}]
    >>> found = score(key, [{"a"}, {"b", "c", "x"}, {"d", "e", "f", "y"}, {"z"}])
    >>> found["muc"].recall, found["muc"].precision, round(found["muc"].f1, 4)
    (1.0, 0.6, 0.75)
    """
    if match != "exact":
        response = renamed(key, response, match)
    shared = overlap(
        groups_of(key, "key", keep_first=True), groups_of(response, "response", keep_first=True)
    )
    every = shared.x_sizes, shared.y_sizes
    mentions = _matched(shared, shared.both.astype(float))
    sizes = shared.x_sizes[shared.row] + shared.y_sizes[shared.column]
    clusters = _matched(shared, 2 * shared.both / sizes)
    muc, b_cubed, lea = (
        [recall(side) for side in (shared, shared.swapped())] for recall in (_muc, _b_cubed, _lea)
    )
    found: dict[str, Iterable[float]] = {
        "muc": muc,
        "b3": b_cubed,
        "ceaf_m": [share(mentions, int(size.sum())) for size in every],
        "ceaf_e": [share(clusters, len(size)) for size in every],
        "blanc": _blanc(shared),
        "lea": lea,
    }
    out = {}
    for name, (recall, precision, *rest) in found.items():
        out[name] = Score(recall, precision, rest[0] if rest else harmonic(recall, precision))
    return out


def _muc(shared: Overlap) -> float:
    """Compute MUC; pieces are the other side's overlapping clusters and unshared mentions."""
    met = np.bincount(shared.row, minlength=len(shared.x_sizes))
    found = np.bincount(shared.row, shared.both, minlength=len(shared.x_sizes))
    return share(float((found - met).sum()), float((shared.x_sizes - 1).sum()))


def _b_cubed(shared: Overlap) -> float:
    resolved = float((shared.both**2 / shared.x_sizes[shared.row]).sum())
    return share(resolved, float(shared.x_sizes.sum()))


def _lea(shared: Overlap) -> float:
    sizes = shared.x_sizes
    links = shared.both * (shared.both - 1) / 2
    alone = sizes[shared.row] == 1
    # The only link of a single mention is to itself; it takes a single mention to resolve it.
    links[alone] = (shared.y_sizes[shared.column] == 1)[alone]
    every = np.maximum(sizes * (sizes - 1) / 2, 1)
    resolved = np.bincount(shared.row, links, minlength=len(sizes))
    return share(float((sizes * resolved / every).sum()), float(sizes.sum()))


def _matched(shared: Overlap, similarity: Floats) -> float:
    """Sum the similarities of the best one-to-one match of clusters."""
    # Clusters in different components do not compete: one match per component.
    if not len(similarity):
        return 0.0
    rows, columns = len(shared.x_sizes), len(shared.y_sizes)
    graph = sparse.coo_array(
        (np.ones(len(similarity)), (shared.row, shared.column + rows)),
        shape=(rows + columns, rows + columns),
    )
    part = connected_components(graph, directed=False)[1][shared.row]
    order = np.argsort(part, kind="stable")
    total = 0.0
    for chosen in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        own, row = np.unique(shared.row[chosen], return_inverse=True)
        others, column = np.unique(shared.column[chosen], return_inverse=True)
        table = np.zeros((len(own), len(others)))
        table[row, column] = similarity[chosen]
        total += float(table[linear_sum_assignment(table, maximize=True)].sum())
    return total


def _links(sizes: Ints) -> tuple[int, int]:
    n = int(sizes.sum())
    together = int((sizes * (sizes - 1) // 2).sum())
    return together, n * (n - 1) // 2 - together


def _blanc(shared: Overlap) -> tuple[float, ...]:
    key, response = _links(shared.x_sizes), _links(shared.y_sizes)
    row = np.bincount(shared.row, shared.both, minlength=1).astype(np.int64)
    column = np.bincount(shared.column, shared.both, minlength=1).astype(np.int64)
    same = _links(shared.both)[0]
    every = shared.n * (shared.n - 1) // 2
    neither = every - _links(row)[0] - _links(column)[0] + same
    if not sum(key):
        alike = shared.n == int(shared.x_sizes.sum()) == int(shared.y_sizes.sum())
        value = float(alike and shared.n > 0)
        return value, value, value
    kinds = []
    for found, own, other in zip((same, neither), key, response, strict=True):
        if own:
            recall, precision = share(found, own), share(found, other)
            kinds.append((recall, precision, harmonic(recall, precision)))
    return tuple(float(np.mean(values)) for values in zip(*kinds, strict=True))
