"""Contents and problems of the data: counts for the page, sentences for the check."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from annomodels.data.alike import components
from annomodels.data.annotations import Annotations
from annomodels.data.columns import percent
from annomodels.data.names import label_text
from annomodels.data.validation import rated, some, variants
from annomodels.limits import CODER_THIN
from annomodels.types import Ints

if TYPE_CHECKING:
    from annomodels.scale.scanned import Scanned

_SHOWN = 8
_BY_CHANCE = "Coders agree no more than by chance: these labels may not depend on any truth."


@dataclass(frozen=True)
class Spread:
    least: int
    quarter: float
    median: float
    three_quarters: float
    most: int

    @classmethod
    def of(cls, units: Ints) -> Spread:
        """Summarize counts from the frequencies of 0, 1, 2, ..., shape [count].

        >>> Spread.of(np.bincount([1, 2, 2, 3, 7]))
        Spread(least=1, quarter=2.0, median=2.0, three_quarters=3.0, most=7)
        """
        ends = np.cumsum(units)

        def at(share: float) -> float:
            place = share * (int(ends[-1]) - 1)
            low, high = (
                int(np.searchsorted(ends, end, side="right"))
                for end in (np.floor(place), np.ceil(place))
            )
            return float(low + (place - np.floor(place)) * (high - low))

        used = np.flatnonzero(units)
        return cls(int(used[0]), at(0.25), at(0.5), at(0.75), int(used[-1]))

    def told(self, *, middle: bool = False) -> str:
        """Return range and median as text, with the middle half on request.

        >>> Spread.of(np.bincount([1, 2])).told(), Spread.of(np.bincount([3, 3])).told()
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


@dataclass(frozen=True, eq=False)
class Health:
    """Facts about the data that a reader should know before the results."""

    per_item: Spread  # spread of the number of labels
    per_coder: Spread
    label_counts: Ints  # number of uses of each label
    single: int  # items with one label only
    # parts of the data that share no coder: number, and sizes in items, largest first, if the
    # labels are in memory
    n_parts: int
    parts: tuple[int, ...]
    unused: tuple[Hashable, ...]  # declared labels that nobody gave
    few: tuple[Hashable, ...]  # coders with fewer than ten labels
    # coders with at least ten labels, all of them the same
    constant: tuple[Hashable, ...]


def health(data: Annotations | Scanned, units: Ints | None = None) -> Health:
    """Summarize the data; for streamed data, `units` counts items with 0, 1, 2, ... labels.

    >>> rows = [("t1", "ana", "pos"), ("t1", "ben", "neg"), ("t2", "cem", "pos")]
    >>> found = health(Annotations.from_records(rows))
    >>> found.parts, found.single, len(found.few)
    ((1, 1), 1, 3)
    """
    per_coder, constant = data.per_coder, np.zeros(data.n_coders, dtype=bool)
    parts: tuple[int, ...] = ()
    if isinstance(data, Annotations):
        units = np.bincount(np.diff(data.starts), minlength=2)
        counts = np.bincount(data.label, minlength=data.n_labels)
        pairs = np.unique(data.coder.astype(np.int64) * data.n_labels + data.label)
        kinds = np.bincount(pairs // data.n_labels, minlength=data.n_coders)
        constant, parts = (kinds == 1) & (per_coder >= CODER_THIN), _parts(data)
        n_parts = len(parts)
    else:
        assert units is not None
        counts, n_parts = data.per_label, data.components
    return Health(
        per_item=Spread.of(units),
        per_coder=Spread.of(np.bincount(per_coder)),
        label_counts=counts,
        single=int(units[1]),
        n_parts=n_parts,
        parts=parts,
        unused=tuple(data.labels[k] for k in np.flatnonzero(counts == 0)),
        few=tuple(data.coders[j] for j in np.flatnonzero(per_coder < CODER_THIN)),
        constant=tuple(data.coders[j] for j in np.flatnonzero(constant)),
    )


def _parts(data: Annotations) -> tuple[int, ...]:
    labeled = np.diff(data.starts) > 0
    first = data.coder[data.starts[:-1][labeled]]
    sizes = np.bincount(components(data.item, data.coder)[first])
    alone = np.ones(int((~labeled).sum()), dtype=np.int64)  # items without a label
    return tuple(int(n) for n in -np.sort(-np.concatenate([sizes[sizes > 0], alone])))


class Counted(NamedTuple):
    """One line of ``annomodels check``."""

    check: str
    value: Any  # number or text
    remark: str = ""  # meaning or remedy; empty without a problem
    names: tuple[str, ...] = ()  # labels or coders concerned


def findings(data: Annotations) -> list[Counted]:
    """Return the counts of ``annomodels check`` in order; ``data.notes`` has details."""
    facts = health(data)
    counts = facts.label_counts
    order = np.argsort(-counts, kind="stable")
    shares = [
        f"{_some([data.labels[k]])} {percent(counts[k] / counts.sum(), 1)}" for k in order[:_SHOWN]
    ]
    more = f" and {data.n_labels - _SHOWN} more" * (data.n_labels > _SHOWN)
    sizes = ", ".join(map(str, facts.parts[:_SHOWN])) + ", ..." * (facts.n_parts > _SHOWN)
    alone = "They carry no information about agreement."
    apart = f"They have {sizes} items and no coder in common."
    return [
        Counted("items", data.n_items),
        Counted("coders", data.n_coders),
        Counted("labels given", data.n_annotations),
        Counted("different labels", data.n_labels),
        Counted("label shares", ", ".join(shares) + more),
        _named("unused labels", facts.unused, "In the label set, but given by no coder: {}."),
        Counted(
            "spelling variants",
            len(variants(data.labels, "label")) + len(variants(data.coders, "coder")),
        ),
        Counted("labels per item", facts.per_item.told()),
        Counted("items with one label", facts.single, alone * bool(facts.single)),
        Counted("labels per coder", facts.per_coder.told()),
        _named(f"coders below {CODER_THIN} labels", facts.few, "Too few labels by {}."),
        _named("constant coders", facts.constant, "They always gave the same label: {}."),
        Counted("overlap groups", facts.n_parts, apart * (facts.n_parts != 1)),
        Counted("beyond chance", *(("no", _BY_CHANCE) if data.by_chance else ("yes",))),
        Counted("repeated labels", data.repeats),
        Counted("skipped cells", data.skips),
        Counted("items with known truth", int((data.known >= 0).sum())),
        Counted("documents", len(data.groups)),
        Counted("scale", data.scale, rated(data.labels, data.scale)),
        Counted("fingerprint", data.fingerprint),
    ]


def _named(check: str, names: Sequence[Hashable], remark: str) -> Counted:
    """Count labels or coders, and name them in a remark if there are any."""
    said = remark.format(_some(names)) if names else ""
    return Counted(check, len(names), said, tuple(map(label_text, names)))


def _some(names: Sequence[Hashable]) -> str:
    return some(names, label_text, _SHOWN)
