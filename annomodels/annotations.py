"""The data: who labelled which item how, coded once and frozen."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from annomodels.coding import code, from_rows
from annomodels.errors import AnnotationError, Problem

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SCALES", "Annotations", "Scale"]

Scale = Literal["nominal", "ordinal", "interval", "ratio"]
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval", "ratio")
Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Annotations:
    """Labels that coders gave to items, as integer codes with their names kept.

    Rows are sorted by item, then coder; labels that one coder gave to one item more than once keep
    their order. Items, coders and undeclared labels are sorted by name (numbers by value), so
    nothing depends on the order of the rows. Build it with :func:`annomodels.read`,
    :meth:`from_records` or :meth:`from_frame`.

    Parameters
    ----------
    item, coder, label
        Integer codes, shape [annotation].
    items, coders, labels
        Names; code i stands for the i-th of them.
    scale
        Scale of the labels.
    declared
        Whether the label set was declared (it may then hold labels nobody used).
    gold
        Known truth as label codes, -1 where unknown, shape [item].
    group
        Document or batch of each item as codes into `groups`, shape [item]; None without any.
    groups
        Names of the documents.
    texts
        Text of each item, or None.
    skips
        Number of cells or rows without a label.
    source
        Name of the file they were read from.
    notes
        What reading found worth saying.

    Examples
    --------
    >>> import annomodels as am
    >>> data = am.Annotations.from_records([("t1", "ana", "pos"), ("t1", "ben", "neg")])
    >>> data
    1 item × 2 coders × 2 labels · 2 annotations · complete
    """

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

    def __post_init__(self) -> None:
        for name in ("item", "coder", "label", "gold", "group"):
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

    # -- constructors ---------------------------------------------------------------------------

    @classmethod
    def from_records(
        cls,
        rows: Iterable[Sequence[Any]],
        labels: Sequence[Hashable] | None = None,
        scale: Scale = "nominal",
        *,
        gold: Mapping[Any, Any] | None = None,
        source: str = "",
    ) -> Annotations:
        """Code rows of (item, coder, label).

        Parameters
        ----------
        rows
            Triples; a label of None or NaN counts as skipped.
        labels
            The label set in its order; without it, the labels that occur, sorted.
        scale
            Scale of the labels. An ordinal scale needs `labels` unless all labels are numbers.
        gold
            Known truth by item.
        source
            Where the rows come from, for messages.

        Raises
        ------
        AnnotationError
            With all problems at once: no rows, rows that are not triples, missing items or
            coders, labels outside the declared set, an order that is missing.

        Examples
        --------
        >>> rows = [(1, "X", "A"), (1, "Y", "B"), (2, "X", "A"), (2, "Y", None)]
        >>> data = Annotations.from_records(rows, labels=["A", "B", "C"])
        >>> data.n_labels, data.skips
        (3, 1)
        """
        items, coders, values, skips = from_rows(rows, source)
        return cls._from_columns(
            items, coders, values, labels=labels, scale=scale, gold=gold, skips=skips, source=source
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        item: str | None = None,
        coder: str | None = None,
        label: str | None = None,
        labels: Sequence[Hashable] | None = None,
        scale: Scale = "nominal",
        gold: str | Mapping[Any, Any] | None = None,
        group: str | None = None,
        text: str | None = None,
    ) -> Annotations:
        """Code a long data frame of pandas, polars, pyarrow or anything else narwhals reads.

        Parameters
        ----------
        frame
            One row per annotation.
        item, coder, label
            Names of the columns; without them, known aliases are looked for
            (task/worker/label, item/rater/rating, unit/annotator/annotation, ...).
        labels, scale
            As in :meth:`from_records`.
        gold
            A column with the known truth, or a mapping from item to truth.
        group
            A column with the document or batch of each item.
        text
            A column with the text of each item.

        Raises
        ------
        AnnotationError
            With all problems at once.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"task": ["a", "a"], "worker": ["x", "y"], "label": ["n", "p"]})
        >>> Annotations.from_frame(frame)
        1 item × 2 coders × 2 labels · 2 annotations · complete
        """
        from annomodels.io.frames import columns_of

        columns = columns_of(
            frame, item=item, coder=coder, label=label, gold=gold, group=group, text=text
        )
        return cls._from_columns(
            columns.items,
            columns.coders,
            columns.labels,
            labels=labels,
            scale=scale,
            gold=columns.gold,
            group=columns.group,
            texts=columns.texts,
            skips=columns.skips,
            source="data frame",
        )

    @classmethod
    def _from_columns(
        cls,
        items: Sequence[Any] | NDArray[Any],
        coders: Sequence[Any] | NDArray[Any],
        values: Sequence[Any] | NDArray[Any],
        *,
        labels: Sequence[Hashable] | None = None,
        scale: Scale = "nominal",
        gold: Mapping[Any, Any] | None = None,
        group: Mapping[Any, Any] | None = None,
        texts: Mapping[Any, str] | None = None,
        skips: int = 0,
        source: str = "",
        notes: Sequence[str] = (),
        rows: Sequence[int] | NDArray[Any] | None = None,
    ) -> Annotations:
        """Code columns without missing cells; `rows` are their row numbers in the file."""
        fields = code(
            items,
            coders,
            values,
            labels=labels,
            scale=scale,
            gold=gold,
            group=group,
            texts=texts,
            source=source,
            rows=rows,
        )
        all_notes = (*notes, *fields.pop("notes"))
        return cls(**fields, scale=scale, skips=skips, source=source, notes=all_notes)

    # -- sizes ----------------------------------------------------------------------------------

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
    def starts(self) -> NDArray[np.int64]:
        """Where each item's rows begin, shape [item + 1]."""
        counts = np.bincount(self.item, minlength=self.n_items)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    @cached_property
    def repeats(self) -> int:
        """How many labels are a further label of the same coder on the same item."""
        same = (self.item[1:] == self.item[:-1]) & (self.coder[1:] == self.coder[:-1])
        return int(same.sum())

    @property
    def is_complete(self) -> bool:
        """Whether every coder labelled every item."""
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
            digest.update(repr([str(name) for name in names]).encode())
        for codes in (self.item, self.coder, self.label, self.gold):
            digest.update(b"-" if codes is None else codes.tobytes())
        return digest.hexdigest()[:12]

    # -- changes, each a copy -------------------------------------------------------------------

    def replace(self, **changes: Any) -> Annotations:
        """Copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def without_repeats(self, keep: Literal["first", "last"] = "first") -> Annotations:
        """Copy with one label per coder and item.

        Parameters
        ----------
        keep
            Which of a coder's labels of an item to keep.
        """
        if not self.repeats:
            return self
        same = (self.item[1:] == self.item[:-1]) & (self.coder[1:] == self.coder[:-1])
        again = np.concatenate([[False], same] if keep == "first" else [same, [False]])
        return self.replace(
            item=self.item[~again], coder=self.coder[~again], label=self.label[~again]
        )

    def with_gold(self, gold: Mapping[Any, Any]) -> Annotations:
        """Copy with the known truth of some items.

        Parameters
        ----------
        gold
            Truth by item name; items that are not in the data are passed over.

        Raises
        ------
        AnnotationError
            When a truth is not in the label set.
        """
        from annomodels.coding import code_gold

        return self.replace(gold=code_gold(gold, self.items, self.labels))

    def select(
        self,
        items: Iterable[Hashable] | None = None,
        coders: Iterable[Hashable] | None = None,
    ) -> Annotations:
        """Copy with some items or coders only; the label set stays.

        Parameters
        ----------
        items, coders
            Names to keep; None keeps all. Items and coders left without a label are dropped.

        Raises
        ------
        AnnotationError
            When nothing is left.
        """
        keep = np.ones(len(self), dtype=bool)
        for wanted, names, codes in (
            (items, self.items, self.item),
            (coders, self.coders, self.coder),
        ):
            if wanted is not None:
                chosen = set(wanted)
                keep &= np.array([name in chosen for name in names], dtype=bool)[codes]
        if not keep.any():
            raise AnnotationError("No annotation is left by this selection.")
        kept_items, item = np.unique(self.item[keep], return_inverse=True)
        kept_coders, coder = np.unique(self.coder[keep], return_inverse=True)
        return self.replace(
            item=item,
            coder=coder,
            label=self.label[keep],
            items=tuple(self.items[i] for i in kept_items),
            coders=tuple(self.coders[j] for j in kept_coders),
            declared=True,
            gold=None if self.gold is None else self.gold[kept_items],
            group=None if self.group is None else self.group[kept_items],
            texts=None if self.texts is None else tuple(self.texts[i] for i in kept_items),
        )

    def to_frame(self) -> pd.DataFrame:
        """Long pandas table with the columns item, coder, label."""
        import pandas as pd

        def named(names: tuple[Hashable, ...], codes: Ints) -> list[Hashable]:
            return [names[c] for c in codes]

        return pd.DataFrame(
            {
                "item": named(self.items, self.item),
                "coder": named(self.coders, self.coder),
                "label": named(self.labels, self.label),
            }
        )

    def __repr__(self) -> str:
        def count(n: int, word: str) -> str:
            return f"{n:,} {word}" + ("" if n == 1 else "s")

        sizes = " × ".join(
            [
                count(self.n_items, "item"),
                count(self.n_coders, "coder"),
                count(self.n_labels, "label"),
            ]
        )
        parts = [sizes, count(len(self), "annotation")]
        if self.is_complete:
            parts.append("complete")
        else:
            per_item = np.diff(self.starts)
            parts.append(f"{per_item.min()}–{per_item.max()} labels per item")
        if self.repeats:
            parts.append(count(self.repeats, "repeat"))
        if self.scale != "nominal":
            parts.append(self.scale)
        if self.gold is not None:
            parts.append(f"{int((self.gold >= 0).sum()):,} known gold")
        return " · ".join(parts)
