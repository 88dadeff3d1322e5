"""Work of one coder on one document: markables, judgments, clusters and links."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from annomodels.data.expressions import Key, Markable
from annomodels.errors import AnnotationError, Problem

PHRASE = "phrase"


@dataclass(frozen=True, slots=True)
class Judgment:
    """Judgment of one coder about a markable.

    Parameters
    ----------
    markable
        Id of the markable.
    category
        Such as "phrase", "segment", "place" or "none" (Poesio and Artstein 2005) or "DN", "DO",
        "NR" and "PR" (Phrase Detectives); None if only clusters or pointers were coded.
    readings
        The coder's readings, each a set of ids of antecedents. With two or more readings, the
        markable is ambiguous; a reading with two or more ids is plural. A single id means the
        reading with this antecedent only.

    Examples
    --------
    >>> Judgment("it", "phrase", ("engine", "boxcar")).is_ambiguous
    True
    """

    markable: str
    category: str | None = None
    readings: tuple[frozenset[str] | str, ...] = ()

    def __post_init__(self) -> None:
        readings = [frozenset([r]) if isinstance(r, str) else frozenset(r) for r in self.readings]
        object.__setattr__(self, "readings", tuple(dict.fromkeys(readings)))

    @property
    def is_ambiguous(self) -> bool:
        """Return True if the coder saw two readings or more."""
        return len(self.readings) > 1

    @property
    def antecedents(self) -> frozenset[str]:
        """Antecedents of all readings together, as in Poesio and Artstein (2005)."""
        return frozenset().union(*self.readings)


@dataclass(frozen=True)
class Layer:
    """All annotations of one coder in one document.

    Parameters
    ----------
    coder
        Name of the coder.
    markables
        Markables by id.
    judgments
        Judgments by id of the markable.
    clusters
        Disjoint sets of ids that corefer; every other mention is a separate cluster. None derives
        them from the judgments.
    near_identity
        Pairs of ids that are nearly the same (Recasens, Hovy and Martí 2010).
    dominating
        The dominating expression of a cluster, as text (Kopeć and Ogrodniczuk 2014).
    notes
        What reading found worth saying.

    Raises
    ------
    AnnotationError
        If an id is unknown, clusters overlap, clusters are combined with ambiguous judgments, or
        two markables have the same words; lists all problems.

    Examples
    --------
    >>> from annomodels.data.expressions import Span
    >>> a, b = Markable("a", Span((0,))), Markable("b", Span((2,)))
    >>> layer = Layer("ana", {"a": a, "b": b}, {"b": Judgment("b", "phrase", ("a",))})
    >>> [len(cluster) for cluster in layer.groups]
    [2]
    """

    coder: str
    markables: Mapping[str, Markable]
    judgments: Mapping[str, Judgment] = field(default_factory=dict)
    clusters: tuple[frozenset[str], ...] | None = None
    near_identity: frozenset[frozenset[str]] = frozenset()
    dominating: Mapping[frozenset[str], str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        setattr_ = object.__setattr__
        setattr_(self, "markables", dict(self.markables))
        setattr_(self, "judgments", dict(self.judgments))
        if self.clusters is not None:
            setattr_(self, "clusters", tuple(frozenset(c) for c in self.clusters if c))
        setattr_(self, "near_identity", frozenset(frozenset(pair) for pair in self.near_identity))
        setattr_(self, "dominating", {frozenset(c): text for c, text in self.dominating.items()})
        problems = list(_problems(self))
        if problems:
            raise AnnotationError(problems)

    @cached_property
    def mentions(self) -> dict[str, Key]:
        """Ids and keys of the markables that can corefer, in the order of the text.

        Markables on a level other than "phrase" are mentions only if they were judged or are in a
        given cluster.
        """
        named = set().union(*self.clusters) if self.clusters else set()
        chosen = [
            m
            for m in self.markables.values()
            if m.level == PHRASE or m.id in self.judgments or m.id in named
        ]
        return {m.id: m.key for m in sorted(chosen, key=lambda m: (m.span, m.level, m.id))}

    @cached_property
    def groups(self) -> tuple[frozenset[Key], ...]:
        """Partition of the mentions into clusters, including those of one mention.

        Without given clusters, mentions are joined by judgments with one reading and one
        antecedent: an ambiguous or plural mention does not join its antecedents.
        """
        if self.clusters is not None:
            covered = set().union(*self.clusters) if self.clusters else set()
            rest = [frozenset([one]) for one in self.mentions if one not in covered]
            sets: Iterable[frozenset[str]] = (*self.clusters, *rest)
        else:
            links = [
                (one, next(iter(judgment.readings[0])))
                for one, judgment in self.judgments.items()
                if len(judgment.readings) == 1 and len(judgment.readings[0]) == 1
            ]
            sets = components(self.markables, links)
        keys = (frozenset(self.mentions[m] for m in s if m in self.mentions) for s in sets)
        return tuple(
            sorted((k for k in keys if k), key=lambda k: min((key[1], key[0]) for key in k))
        )

    @cached_property
    def cluster_of(self) -> dict[Key, int]:
        """Number of the cluster of each mention, an index into :attr:`groups`."""
        return {key: n for n, group in enumerate(self.groups) for key in group}

    @cached_property
    def heads(self) -> dict[Key, int | None]:
        """Head word of each mention; that of a single word is the word."""
        return {
            m.key: m.head if m.head is not None or len(m.span) > 1 else m.span.start
            for m in (self.markables[one] for one in self.mentions)
        }

    def antecedent_keys(self, one: str) -> tuple[frozenset[Key], ...]:
        """Return the readings of a markable as sets of keys."""
        judgment = self.judgments.get(one)
        readings = judgment.readings if judgment is not None else ()
        return tuple(frozenset(self.markables[m].key for m in reading) for reading in readings)


def _problems(layer: Layer) -> Iterable[Problem]:
    known = layer.markables
    where = f"coder {layer.coder}"

    def unknown(ids: Iterable[str], what: str) -> Iterable[Problem]:
        for one in sorted(set(ids) - set(known)):
            remedy = "Add the markable, or drop what refers to it."
            yield Problem(f"{what} {one!r}, but there is no such markable.", where, remedy)

    for name, markable in known.items():
        if name != markable.id:
            remedy = "Give the markables by their ids."
            yield Problem(f"The markable {markable.id!r} is filed under {name!r}.", where, remedy)
    first: dict[Key, str] = {}
    for markable in known.values():
        other = first.setdefault(markable.key, markable.id)
        if other != markable.id:
            what = f"The markables {other!r} and {markable.id!r} have the same words and level."
            yield Problem(what, where, "Keep one of them and let everything refer to it.")
    for name, judgment in layer.judgments.items():
        if name != judgment.markable:
            remedy = "Give the judgments by the ids of their markables."
            what = f"The judgment on {judgment.markable!r} is filed under {name!r}."
            yield Problem(what, where, remedy)
        yield from unknown([judgment.markable], "A judgment is about")
        yield from unknown(judgment.antecedents, f"{name!r} points at")
        if frozenset() in judgment.readings:
            remedy = "Give each reading at least one antecedent."
            yield Problem(f"A reading of {name!r} has no antecedent.", where, remedy)
        if layer.clusters is not None and judgment.is_ambiguous:
            what = f"{name!r} has {len(judgment.readings)} readings, but clusters are given too."
            yield Problem(what, where, "Give clusters=None where a mention may be ambiguous.")
    owner: dict[str, int] = {}
    for n, cluster in enumerate(layer.clusters or ()):
        yield from unknown(cluster, "A cluster holds")
        twice = sorted(one for one in cluster if owner.setdefault(one, n) != n)
        if twice:
            what = f"{twice[0]!r} is in two clusters."
            yield Problem(what, where, "Merge the clusters, or remove it from one of them.")
    for pair in layer.near_identity:
        yield from unknown(pair, "A near-identity link names")
        if len(pair) != 2:
            what = f"A near-identity link joins {len(pair)} markables: {sorted(pair)}."
            yield Problem(what, where, "A link joins two different markables.")
    for cluster in layer.dominating:
        yield from unknown(cluster, "A dominating expression names")


def components[T: Hashable](nodes: Iterable[T], links: Iterable[tuple[T, T]]) -> list[frozenset[T]]:
    """Find the sets of nodes that are joined by links in either direction.

    >>> sorted(map(sorted, components("abcd", [("a", "b"), ("d", "b")])))
    [['a', 'b', 'd'], ['c']]
    """
    parent = {node: node for node in nodes}

    def root(node: T) -> T:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for one, other in links:
        parent[root(one)] = root(other)
    found: dict[T, set[T]] = {}
    for node in parent:
        found.setdefault(root(node), set()).add(node)
    return [frozenset(members) for members in found.values()]
