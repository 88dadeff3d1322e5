"""Chain conditions: the set of markables that labels an anaphoric expression.

Chains follow the pointers up, then back down, never up again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from annomodels.coref.alphas import Cut, LabelBuilder, SetLabels
from annomodels.data.document import Document
from annomodels.data.expressions import Key
from annomodels.data.layers import PHRASE, Judgment, Layer
from annomodels.errors import NotApplicable


def in_order(keys: Iterable[Key]) -> list[Key]:
    return sorted(keys, key=lambda key: (key[1], key[0]))


def judgments_of(document: Document) -> Iterator[tuple[str, str, Key, Judgment | None]]:
    """Yield coder, id, key and judgment of every mention."""
    for coder in document.coders:
        layer = document.layers[coder]
        for one, key in layer.mentions.items():
            yield coder, one, key, layer.judgments.get(one)


def tops[T: Hashable](pointers: Mapping[T, Iterable[T]]) -> dict[T, frozenset[T]]:
    """Find the nodes without pointers that can be reached from each node."""
    # A closed cycle of pointers is one top, represented by one of its nodes. Linear in the
    # pointers, times the number of tops of an ambiguous node.
    nodes = list(dict.fromkeys([*pointers, *(t for targets in pointers.values() for t in targets)]))
    code = {node: n for n, node in enumerate(nodes)}
    pairs = [(code[node], code[t]) for node, targets in pointers.items() for t in targets]
    row, column = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    graph = sparse.coo_array((np.ones(len(pairs)), (row, column)), (len(nodes), len(nodes)))
    circle = sparse.csgraph.connected_components(graph, connection="strong")[1].tolist()
    leaving: dict[int, set[int]] = {one: set() for one in circle}
    for node, target in pairs:
        if circle[node] != circle[target]:
            leaving[circle[node]].add(circle[target])
    name = dict(zip(circle[::-1], nodes[::-1], strict=True))
    reached: dict[int, frozenset[T]] = {}
    for one in TopologicalSorter(leaving).static_order():
        further = [reached[other] for other in leaving[one]]
        reached[one] = frozenset().union(*further) if further else frozenset([name[one]])
    return {node: reached[one] for node, one in zip(nodes, circle, strict=True)}


def chains[T: Hashable](pointers: Mapping[T, Iterable[T]]) -> dict[T, frozenset[T]]:
    """Return the full chain of each node: its tops, and all nodes that lead to them."""
    # Nodes with the same tops share one set: linear where nothing is ambiguous.
    ends = tops(pointers)
    below: dict[T, set[T]] = {}
    for node, reached in ends.items():
        for top in reached:
            below.setdefault(top, set()).add(node)
    made: dict[frozenset[T], frozenset[T]] = {}
    for reached in ends.values():
        if reached not in made:
            made[reached] = frozenset().union(*(below[top] for top in reached))
    return {node: made[reached] for node, reached in ends.items()}


NEEDS_POINTER = frozenset({"phrase", "segment", "DO"})
NO_POINTER = frozenset({"place", "none", "DN", "NR"})
NEW = "none"


class Condition(NamedTuple):
    name: str  # name given by the user
    title: str  # name in print
    chain: str  # "none" (immediate antecedents), "full" or "cluster"
    top: bool  # whether the first mention of a chain has the chain for a label, not its category
    # which part of the chain is the label in the expected and the observed disagreement
    expected: Cut
    observed: Cut


_WITHOUT: tuple[Cut, Cut] = ("without", "without")
_OBSERVED = "clusters, without the mention in the observed disagreement"
CONDITIONS: dict[str, Condition] = {
    c.name: c
    for c in (
        Condition("none", "immediate antecedents", "none", False, "whole", "whole"),
        Condition("partial", "partial chains", "full", False, "before", "before"),
        Condition("incl-", "inclusive chains [−top]", "full", False, "whole", "whole"),
        Condition("excl-", "exclusive chains [−top]", "full", False, "whole", "without"),
        Condition("incl+", "inclusive chains [+top]", "full", True, "whole", "whole"),
        Condition("excl+", "exclusive chains [+top]", "full", True, "whole", "without"),
        Condition("cluster", "clusters with the mention", "cluster", True, "whole", "whole"),
        Condition("cluster-own", "clusters without the mention", "cluster", True, *_WITHOUT),
        Condition("cluster-own-observed", _OBSERVED, "cluster", True, "whole", "without"),
    )
}
LONG = {"inclusive": "incl", "exclusive": "excl", "−": "-", "[": "", "]": "", "top": "", " ": ""}


def condition_named(name: str) -> Condition:
    """Look up a condition by name, also "incl-top" and "inclusive [-top]"."""
    short = name.lower()
    for long, brief in LONG.items():
        short = short.replace(long, brief)
    short = {"nochain": "none", "partialchain": "partial", "full": "incl-"}.get(short, short)
    if short not in CONDITIONS:
        raise NotApplicable(
            f"Unknown chain condition {name!r}. Use one of {', '.join(CONDITIONS)}."
        )
    return CONDITIONS[short]


def errors_of(document: Document) -> set[Key]:
    """Find markables that a coder left unfinished; all coders drop them."""
    # A markable of a coder who used categories needs one; "phrase", "segment" and "DO" need an
    # antecedent, while "place", "none", "DN" and "NR" exclude one.
    out = set()
    for layer in document.layers.values():
        if any(judgment.category for judgment in layer.judgments.values()):
            for one, key in layer.mentions.items():
                judgment = layer.judgments.get(one)
                category = None if judgment is None else judgment.category
                refused = NO_POINTER if judgment and judgment.readings else NEEDS_POINTER
                if category is None or category in refused:
                    out.add(key)
    return out


def labels_of(document: Document, condition: Condition, drop: Iterable[Key] = ()) -> SetLabels:
    dropped = {*drop, *errors_of(document)}
    every = {m.key for layer in document.layers.values() for m in layer.markables.values()}
    order = in_order(every)
    builder = LabelBuilder(order, (key for key in order if key[0] != PHRASE))
    shared = frozenset(document.shared())
    for coder in document.coders:
        layer = document.layers[coder]
        made = (
            _clusters(layer, shared) if condition.chain == "cluster" else _chains(layer, condition)
        )
        for key, label in made:
            if key not in dropped:
                builder.add((document.id, key), coder, label, own=key)
    return builder.build()


def _clusters(
    layer: Layer, shared: frozenset[Key]
) -> Iterator[tuple[Key, str | frozenset[Hashable]]]:
    """Yield clusters, restricted to mentions of all coders."""
    for group in layer.groups:
        common: frozenset[Hashable] = group & shared
        for key in in_order(group & shared):
            yield key, common


def _chains(layer: Layer, condition: Condition) -> Iterator[tuple[Key, str | frozenset[Hashable]]]:
    pointers, words = _pointers(layer)
    full = chains(pointers) if condition.chain == "full" else {}
    pointed_at = frozenset().union(*pointers.values()) if pointers else frozenset()
    for key in layer.mentions.values():
        if pointers.get(key):
            yield key, full[key] if full else pointers[key]
        elif condition.top and key in pointed_at:
            yield key, full[key]
        else:
            yield key, words[key]


def _pointers(layer: Layer) -> tuple[dict[Key, frozenset[Key]], dict[Key, str]]:
    """Return antecedents of all readings (for clusters the nearest mention), and categories."""
    if layer.clusters is not None:
        pointers: dict[Key, frozenset[Key]] = {}
        for group in layer.groups:
            ordered = in_order(group)
            pointers[ordered[0]] = frozenset()
            pointers |= {b: frozenset([a]) for a, b in pairwise(ordered)}
        return pointers, dict.fromkeys(pointers, NEW)
    pointers = {
        key: frozenset().union(*layer.antecedent_keys(one)) for one, key in layer.mentions.items()
    }
    words = {
        key: (layer.judgments[one].category if one in layer.judgments else None) or NEW
        for one, key in layer.mentions.items()
    }
    return pointers, words
