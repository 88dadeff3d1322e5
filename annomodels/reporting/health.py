"""What is in the data and what looks odd in it: counts for the page, sentences for the check."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from annomodels.data.alike import components
from annomodels.data.annotations import Annotations
from annomodels.data.columns import percent
from annomodels.data.names import label_text
from annomodels.data.validation import counted, rated, some, variants
from annomodels.limits import CODER_THIN
from annomodels.types import Ints

_SHOWN = 8
_BY_CHANCE = "Coders agree no more than by chance: these labels may not depend on any truth."


@dataclass(frozen=True)
class Spread:
    """How counts are spread."""

    least: int
    quarter: float
    median: float
    three_quarters: float
    most: int
    mean: float

    @classmethod
    def of(cls, counts: Ints) -> Spread:
        """Summarise counts, shape [unit]."""
        q1, q2, q3 = np.quantile(counts, [0.25, 0.5, 0.75])
        ends = int(counts.min()), int(counts.max())
        return cls(ends[0], float(q1), float(q2), float(q3), ends[1], float(counts.mean()))

    @classmethod
    def counted(cls, units: Ints) -> Spread:
        """Summarise counts of which is known how many are 0, 1, 2, ..., shape [count].

        Examples
        --------
        >>> counts = np.array([1, 2, 2, 3, 7])
        >>> Spread.counted(np.bincount(counts)) == Spread.of(counts)
        True
        """
        ends = np.cumsum(units)
        n, values = int(ends[-1]), np.arange(len(units))

        def at(share: float) -> float:
            place = share * (n - 1)
            low, high = (
                int(np.searchsorted(ends, end, side="right"))
                for end in (np.floor(place), np.ceil(place))
            )
            return float(low + (place - np.floor(place)) * (high - low))

        used = np.flatnonzero(units)
        mean = float(units @ values / n)
        return cls(int(used[0]), at(0.25), at(0.5), at(0.75), int(used[-1]), mean)

    def told(self, *, middle: bool = False) -> str:
        """Return the ends and the median as text, with the middle half if wished.

        >>> Spread.of(np.array([1, 2])).told(), Spread.of(np.array([3, 3])).told()
        ('1 to 2, median 1.5', '3')
        """
        if self.least == self.most:
            return f"{self.least:,}"
        low, middle_one, high = (
            f"{value:,.1f}".removesuffix(".0")
            for value in (self.quarter, self.median, self.three_quarters)
        )
        half = f", middle half {low} to {high}" * middle
        return f"{self.least:,} to {self.most:,}, median {middle_one}{half}"


@dataclass(frozen=True)
class Counts:
    """Facts about the data that follow from counts, also where the labels are on disk."""

    per_item: Spread  # spread of the number of labels
    per_coder: Spread
    label_counts: tuple[int, ...]  # how often each label was given
    unused: tuple[Hashable, ...]  # declared labels that nobody gave
    repeats: int  # further labels of a coder on the same item; empty cells
    skips: int
    few: tuple[Hashable, ...]  # coders with fewer than ten labels
    single: int  # items with one label only


@dataclass(frozen=True)
class Health(Counts):
    """Facts about the data that a reader should know before the results."""

    # sizes, in items, of the parts of the data that share no coder, largest first
    components: tuple[int, ...]
    # coders with ten labels or more who gave one and the same label always
    constant: tuple[Hashable, ...]


def health(data: Annotations) -> Health:
    """Look the data over.

    Examples
    --------
    >>> rows = [("t1", "ana", "pos"), ("t1", "ben", "neg"), ("t2", "cem", "pos")]
    >>> found = health(Annotations.from_records(rows))
    >>> found.components, found.single, len(found.few)
    ((1, 1), 1, 3)
    """
    per_item = np.diff(data.starts)
    per_coder = np.bincount(data.coder, minlength=data.n_coders)
    labels = np.bincount(data.label, minlength=data.n_labels)
    kinds = np.unique(data.coder.astype(np.int64) * data.n_labels + data.label) // data.n_labels
    constant = (np.bincount(kinds, minlength=data.n_coders) == 1) & (per_coder >= CODER_THIN)
    return Health(
        per_item=Spread.of(per_item),
        per_coder=Spread.of(per_coder),
        label_counts=tuple(int(n) for n in labels),
        unused=tuple(data.labels[k] for k in np.flatnonzero(labels == 0)),
        repeats=data.repeats,
        skips=data.skips,
        components=_components(data),
        few=tuple(data.coders[j] for j in np.flatnonzero(per_coder < CODER_THIN)),
        single=int((per_item == 1).sum()),
        constant=tuple(data.coders[j] for j in np.flatnonzero(constant)),
    )


def _components(data: Annotations) -> tuple[int, ...]:
    some = np.diff(data.starts) > 0
    first = data.coder[data.starts[:-1][some]]
    sizes = np.bincount(components(data.item, data.coder)[first])
    alone = np.ones(int((~some).sum()), dtype=np.int64)  # items without a label
    return tuple(int(n) for n in -np.sort(-np.concatenate([sizes[sizes > 0], alone])))


class Counted(NamedTuple):
    """One line of ``annomodels check``."""

    check: str
    value: Any  # number or text
    remark: str = ""  # what it means or what to do about it; empty when all is well
    names: tuple[str, ...] = ()  # labels or coders concerned


def findings(data: Annotations) -> list[Counted]:
    """Give what ``annomodels check`` counts, in its order; ``data.notes`` say more in words."""
    facts = health(data)
    known = 0 if data.gold is None else int((data.gold >= 0).sum())
    return [
        Counted("items", data.n_items),
        Counted("coders", data.n_coders),
        Counted("labels given", data.n_annotations),
        *_labels(data, facts),
        Counted("labels per item", facts.per_item.told()),
        _single(facts),
        Counted("labels per coder", facts.per_coder.told()),
        *_coders(facts),
        _overlap(facts),
        Counted("beyond chance", *(("no", _BY_CHANCE) if data.by_chance else ("yes",))),
        Counted("repeated labels", data.repeats),
        Counted("skipped cells", data.skips),
        Counted("items with known truth", known),
        Counted("documents", len(data.groups)),
        Counted("scale", data.scale, rated(data.labels, data.scale)),
        Counted("fingerprint", data.fingerprint),
    ]


def _labels(data: Annotations, facts: Health) -> list[Counted]:
    counts = np.array(facts.label_counts)
    order = np.argsort(-counts, kind="stable")
    shown = [
        f"{_some([data.labels[k]])} {percent(counts[k] / counts.sum(), 1)}" for k in order[:_SHOWN]
    ]
    more = f" and {data.n_labels - _SHOWN} more" if data.n_labels > _SHOWN else ""
    alike = len(variants(data.labels, "label")) + len(variants(data.coders, "coder"))
    unused = f"Declared but never given: {_some(facts.unused)}." if facts.unused else ""
    return [
        Counted("different labels", data.n_labels),
        Counted("label shares", ", ".join(shown) + more),
        Counted("unused labels", len(facts.unused), unused, _texts(facts.unused)),
        Counted("spelling variants", alike),
    ]


def _single(facts: Health) -> Counted:
    n = facts.single
    remark = f"{counted(n, 'item')} with one label: they say nothing about agreement." if n else ""
    return Counted("items with one label", n, remark)


def _coders(facts: Health) -> list[Counted]:
    few = f"There is too little data on {_some(facts.few)}." if facts.few else ""
    same = f"They always gave the same label: {_some(facts.constant)}."
    return [
        Counted(f"coders below {CODER_THIN} labels", len(facts.few), few, _texts(facts.few)),
        Counted(
            "constant coders",
            len(facts.constant),
            same if facts.constant else "",
            _texts(facts.constant),
        ),
    ]


def _overlap(facts: Health) -> Counted:
    n = len(facts.components)
    if n == 1:
        return Counted("overlap groups", n)
    sizes = ", ".join(str(size) for size in facts.components[:_SHOWN])
    more = ", ..." if n > _SHOWN else ""
    return Counted("overlap groups", n, f"They have {sizes}{more} items and no coder in common.")


def _texts(names: Sequence[Any]) -> tuple[str, ...]:
    return tuple(label_text(name) for name in names)


def _some(names: Sequence[Any]) -> str:
    return some(names, label_text, _SHOWN)
