"""Annotations as frozen integer codes, and statistics of the codes."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from annomodels.data.names import label_text
from annomodels.data.validation import counted, per_item
from annomodels.errors import AnnotationError, Problem
from annomodels.limits import UNANIMOUS
from annomodels.types import AnyArray

if TYPE_CHECKING:
    import pandas as pd


Scale = Literal["nominal", "ordinal", "interval", "ratio"]
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval", "ratio")
Ints = NDArray[np.int32]


def agreed_labels(item: AnyArray, coder: AnyArray, label: AnyArray) -> int | None:
    """Count the labels of items that two coders share; None if an item has two different ones.

    Rows are sorted by item.
    """
    same = item[1:] == item[:-1]
    if (same & (label[1:] != label[:-1])).any():
        return None
    shared = np.unique(item[1:][same & (coder[1:] != coder[:-1])])
    return int(np.isin(item, shared).sum())


def different_pairs(item: AnyArray, label: AnyArray, n_labels: int) -> NDArray[np.float64]:
    """Count pairs of different labels of one item [label, label]; n labels weigh 1 / (n - 1)."""
    first = np.cumsum(np.diff(item, prepend=item[:1]) != 0)
    counts = np.bincount(first * n_labels + label, minlength=first[-1:].sum() * n_labels + n_labels)
    votes = counts.reshape(-1, n_labels)
    n = votes.sum(axis=1)
    pairs = (votes[n > 1] / (n[n > 1] - 1)[:, None]).T @ votes[n > 1]
    np.fill_diagonal(pairs, 0.0)
    return np.asarray(pairs)


@dataclass(frozen=True, eq=False, repr=False)
class Coded:
    """Fields of :class:`annomodels.Annotations` (described there), sizes and counts."""

    # fields that are arrays, with the dimensions that a tree of results keeps them along
    dims: ClassVar[dict[str, tuple[str, ...]]] = {
        **dict.fromkeys(("item", "coder", "label"), ("annotation",)),
        **dict.fromkeys(("gold", "group"), ("item_index",)),
        "unanswered": ("time", "part"),
    }

    item: Ints
    coder: Ints
    label: Ints
    items: tuple[Hashable, ...]
    coders: tuple[Hashable, ...]
    labels: tuple[Hashable, ...]
    scale: Scale = "nominal"
    declared: bool = False
    gold: Ints | None = None
    group: Ints | None = None
    groups: tuple[Hashable, ...] = ()
    texts: tuple[str, ...] | None = None
    skips: int = 0
    source: str = ""
    notes: tuple[str, ...] = ()
    dont_know: tuple[Hashable, ...] = ()
    unanswered: Ints | None = None

    def __post_init__(self) -> None:
        for name in self.dims:
            value = getattr(self, name)
            if value is not None:
                array = np.ascontiguousarray(value, dtype=np.int32)
                array.setflags(write=False)
                object.__setattr__(self, name, array)
        if self.scale not in SCALES:
            raise AnnotationError(
                Problem(
                    f"{self.scale!r} is not a scale.",
                    remedy=f"Use one of {', '.join(SCALES)}.",
                )
            )

    def __len__(self) -> int:
        return len(self.item)

    @property
    def n_annotations(self) -> int:
        """Number of labels given."""
        return len(self.item)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    @property
    def n_coders(self) -> int:
        """Number of coders."""
        return len(self.coders)

    @property
    def n_labels(self) -> int:
        """Size of the label set, declared labels that nobody used included."""
        return len(self.labels)

    @cached_property
    def known(self) -> Ints:
        """Code of the known true label of each item, -1 without one, shape [item]."""
        return np.full(self.n_items, -1, np.int32) if self.gold is None else self.gold

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First row of each item, shape [item + 1]."""
        counts = np.bincount(self.item, minlength=self.n_items)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    @cached_property
    def repeats(self) -> int:
        """Number of labels that repeat the same coder on the same item."""
        same = (self.item[1:] == self.item[:-1]) & (self.coder[1:] == self.coder[:-1])
        return int(same.sum())

    @cached_property
    def by_chance(self) -> bool:
        """Return True if labels cannot be told from chance, see :mod:`annomodels.data.chance`."""
        from annomodels.data.chance import by_chance

        return by_chance(self.coder, self.label, self.starts, self.n_coders, self.n_labels)

    @cached_property
    def unanimous(self) -> int:
        """Labels of shared items if no item has two different ones; 0 if there are few."""
        number = agreed_labels(self.item, self.coder, self.label) or 0
        return number if number >= UNANIMOUS and (self.label != self.label[0]).any() else 0

    @property
    def is_shared(self) -> bool:
        """Return True if two coders labeled one item."""
        same = self.item[1:] == self.item[:-1]
        return bool((same & (self.coder[1:] != self.coder[:-1])).any())

    @property
    def per_coder(self) -> NDArray[np.int64]:
        """Number of labels that each coder gave, shape [coder]."""
        return np.bincount(self.coder, minlength=self.n_coders)

    @property
    def repeats_by_coder(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of labels that each coder gave to one item, and how many are equal, [coder]."""
        key = self.item.astype(np.int64) * self.n_coders + self.coder
        cell, n = np.unique(key, return_counts=True)
        equal, times = np.unique(key * self.n_labels + self.label, return_counts=True)
        same, pairs = np.zeros((2, self.n_coders), dtype=np.int64)
        np.add.at(same, equal // self.n_labels % self.n_coders, times * (times - 1) // 2)
        np.add.at(pairs, cell % self.n_coders, n * (n - 1) // 2)
        return pairs, same

    @property
    def is_complete(self) -> bool:
        """Return True if every coder labeled every item."""
        return len(self) - self.repeats == self.n_items * self.n_coders

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Numeric value of each label, NaN for labels that are no numbers, shape [label]."""
        out = np.full(self.n_labels, np.nan)
        for k, name in enumerate(self.labels):
            try:
                out[k] = float(name)  # type: ignore[arg-type]
            except (TypeError, ValueError):
                continue
        return out

    @cached_property
    def votes(self) -> NDArray[np.int64]:
        """Number of labels of each kind on each item, shape [item, label]."""
        flat = self.item.astype(np.int64) * self.n_labels + self.label
        size = self.n_items * self.n_labels
        return np.bincount(flat, minlength=size).reshape(self.n_items, self.n_labels)

    @cached_property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that change when the data change."""
        digest = hashlib.sha256()
        for names in (self.items, self.coders, self.labels):
            digest.update(repr([label_text(name) for name in names]).encode())
        for codes in (self.item, self.coder, self.label, self.gold):
            digest.update(b"-" if codes is None else codes.tobytes())
        if self.unanswered is not None:
            digest.update(repr([label_text(name) for name in self.dont_know]).encode())
            digest.update(self.unanswered.tobytes())
        return digest.hexdigest()[:12]

    @property
    def coords(self) -> dict[str, list[str]]:
        """Names as texts along the dimensions of a result, by dimension."""
        labels = [label_text(name) for name in self.labels]
        return {
            "item": [label_text(name) for name in self.items],
            "coder": [label_text(name) for name in self.coders],
            "truth": labels,
            "label": labels,
            "dont_know": [label_text(name) for name in self.dont_know],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a long pandas table with the columns item, coder, label."""
        import pandas as pd

        columns = (
            ("item", self.items, self.item),
            ("coder", self.coders, self.coder),
            ("label", self.labels, self.label),
        )
        return pd.DataFrame({word: [names[c] for c in codes] for word, names, codes in columns})

    def __repr__(self) -> str:
        sizes = (self.n_items, "item"), (self.n_coders, "coder"), (self.n_labels, "label")
        parts = [" × ".join(counted(*size) for size in sizes), counted(len(self), "annotation")]
        if self.is_complete:
            parts.append("complete")
        else:
            sizes_of_items = np.diff(self.starts)
            parts.append(per_item(int(sizes_of_items.min()), int(sizes_of_items.max())))
        if self.repeats:
            parts.append(counted(self.repeats, "repeat"))
        if self.scale != "nominal":
            parts.append(self.scale)
        if self.unanswered is not None:
            kinds = "/".join(map(label_text, self.dont_know))
            parts.append(f"{len(self.unanswered):,} times {kinds}")
        if self.gold is not None:
            parts.append(f"{int((self.gold >= 0).sum()):,} known gold")
        return " · ".join(parts)

    def _repr_html_(self) -> str:
        """Show sizes and notes in a notebook."""
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        listed = f"<ul>{notes}</ul>" if notes else ""
        return f"<p><b>{escape(self.source or 'Annotations')}</b>: {escape(repr(self))}</p>{listed}"
