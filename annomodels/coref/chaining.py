"""Pointers to chains: up along the pointers, then back down, never up again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping


def tops[T: Hashable](pointers: Mapping[T, Iterable[T]]) -> dict[T, frozenset[T]]:
    """Where each node's pointers end: the nodes without pointers that can be reached from it.

    A circle of pointers that nothing leaves counts as one top, named by one of its nodes. The work
    is linear in the pointers, times the number of tops of an ambiguous node.

    Examples
    --------
    >>> found = tops({"b": ["a"], "d": ["c"], "e": ["a", "c"]})
    >>> sorted(found["e"]), sorted(found["b"])
    (['a', 'c'], ['a'])
    """
    out: dict[T, frozenset[T]] = {}
    number: dict[T, int] = {}
    low: dict[T, int] = {}
    open_: list[T] = []
    for start in pointers:
        if start in number:
            continue
        # Tarjan's strongly connected components, with a stack of our own: chains can be long.
        work = [(start, iter(tuple(pointers[start])))]
        number[start] = low[start] = len(number)
        open_.append(start)
        while work:
            node, rest = work[-1]
            target = next(rest, None)
            if target is not None:
                if target not in number:
                    number[target] = low[target] = len(number)
                    open_.append(target)
                    work.append((target, iter(tuple(pointers.get(target, ())))))
                elif target not in out:
                    low[node] = min(low[node], number[target])
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == number[node]:
                circle = [open_.pop()]
                while circle[-1] != node:
                    circle.append(open_.pop())
                inside = set(circle)
                leaving = {t for m in circle for t in pointers.get(m, ()) if t not in inside}
                reached = frozenset().union(*(out[t] for t in leaving)) if leaving else None
                for member in circle:
                    out[member] = frozenset([node]) if reached is None else reached
    return out


def chains[T: Hashable](pointers: Mapping[T, Iterable[T]]) -> dict[T, frozenset[T]]:
    r"""Full chain of each node: :math:`\{x : x \to^* y, m \to^* y\}` for some y.

    Follow the pointers from m as far as they lead, then take everything that leads to what was
    reached. Nodes that share their tops share one set, so that the whole is linear in the number
    of nodes where nothing is ambiguous.

    Parameters
    ----------
    pointers
        Antecedents of each node; nodes that are only pointed at may be left out.

    Examples
    --------
    >>> full = chains({"B": ["A"], "D": ["C"], "E": ["A", "C"]})
    >>> "".join(sorted(full["E"])), "".join(sorted(full["A"])), "".join(sorted(full["D"]))
    ('ABCDE', 'ABE', 'CDE')
    """
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
