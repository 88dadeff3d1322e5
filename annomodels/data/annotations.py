"""Annotations: items, coders and labels, coded once and frozen."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from annomodels.data.coded import SCALES, Coded, Ints, Scale
from annomodels.data.coding import code, code_gold, subset
from annomodels.data.names import places_of, plain_cells, plain_mapping, plain_names
from annomodels.data.setting_aside import SetAside
from annomodels.data.validation import from_rows, gold_remarks, remarks
from annomodels.errors import AnnotationError
from annomodels.types import AnyArray

__all__ = ["SCALES", "Annotations", "Scale"]


@dataclass(frozen=True, eq=False, repr=False)
class Annotations(Coded):
    """Labels that coders gave to items, as integer codes with names.

    Rows are sorted by item, then by coder; repeated labels by a coder for an item keep their order.
    Items, coders and undeclared labels are sorted by name (numbers by value), so results do not
    depend on the order of the rows. Build it with :func:`annomodels.read`,
    :meth:`from_records` or :meth:`from_frame`.

    Names are strings, numbers, booleans and frozensets of these. Other values are converted: NumPy
    scalars to Python scalars, Decimal and Fraction to an integer or the nearest float, dates and
    times to ISO 8601 strings, durations to seconds, bytes to the UTF-8 text that they hold, Enum
    members to their name (or value, if the member is a string or a number), and tuples, paths and
    UUIDs to strings. Equal numbers are one name (1 and 1.0 are 1). A mix of True and 1, complex
    numbers and all other values are refused.

    Parameters
    ----------
    item, coder, label
        Integer codes, shape [annotation].
    items, coders, labels
        Names; code i is the i-th name.
    scale
        Scale of the labels.
    declared
        Whether the label set was declared; it may then include labels that nobody used.
    gold
        Known truth as label codes, -1 where unknown, shape [item].
    group
        Document or batch of each item, as indices into `groups`, shape [item]; None without groups.
    groups
        Names of the documents.
    texts
        Text of each item, or None.
    skips
        Number of cells or rows without a label.
    source
        Name of the file they were read from.
    notes
        Notes from reading.
    dont_know
        Labels that are not classes, such as "don't know"; they are not among `labels`.
    unanswered
        Who gave such a label to which item: codes of item and coder, and index in `dont_know`,
        shape [answer, 3]; None if there are none.

    Examples
    --------
    >>> import annomodels as am
    >>> data = am.Annotations.from_records([("t1", "ana", "pos"), ("t1", "ben", "neg")])
    >>> data
    1 item × 2 coders × 2 labels · 2 annotations · complete
    """

    # -- constructors ---------------------------------------------------------------------------

    @classmethod
    def from_records(
        cls,
        rows: Iterable[Sequence[object]],
        labels: Sequence[Hashable] | None = None,
        scale: Scale = "nominal",
        *,
        truth: Mapping[Any, Any] | None = None,
        source: str = "",
        dont_know: Sequence[Hashable] = (),
    ) -> Annotations:
        """Code rows of (item, coder, label).

        Parameters
        ----------
        rows
            Triples (item, coder, label); a label of None, NaN or "" counts as skipped.
        labels
            The label set in order [default: the labels that occur, sorted].
        scale
            Scale of the labels. An ordinal scale needs `labels` unless all labels are numbers.
        truth
            True labels by item.
        source
            Where the rows come from, for messages.
        dont_know
            Labels that are not classes, such as "don't know": coefficients count them as missing,
            and models learn from who gives them, see :class:`annomodels.models.Answering`.

        Raises
        ------
        AnnotationError
            If there are no rows, rows that are not triples, missing items or coders, labels outside
            the declared set, or no order of labels; lists all problems.

        Examples
        --------
        >>> rows = [(1, "X", "A"), (1, "Y", "B"), (2, "X", "A"), (2, "Y", None)]
        >>> data = Annotations.from_records(rows, labels=["A", "B", "C"])
        >>> data.n_labels, data.skips
        (3, 1)
        """
        items, coders, values, numbers, skips = from_rows(rows, source)
        return cls._from_columns(
            items,
            coders,
            values,
            labels=labels,
            scale=scale,
            gold=truth,
            skips=skips,
            source=source,
            rows=numbers,
            dont_know=dont_know,
        )

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        item: str | Sequence[str] | None = None,
        coder: str | None = None,
        label: str | None = None,
        labels: Sequence[Hashable] | None = None,
        scale: Scale = "nominal",
        truth: str | Mapping[Any, Any] | None = None,
        group: str | None = None,
        text: str | None = None,
        dont_know: Sequence[Hashable] = (),
        **reading: object,
    ) -> Annotations:
        """Code a data frame of pandas, polars, pyarrow or any other library that narwhals supports.

        Parameters
        ----------
        frame
            One row per annotation.
        item, coder, label
            Names of the columns [default: detected by known names, such as ``task``,
            ``worker``, ``label``].
        labels, scale
            As in :meth:`from_records`.
        truth
            A column with the true labels, or a mapping from item to truth.
        group
            A column with the document or batch of each item.
        text
            A column with the text of each item.
        dont_know
            As in :meth:`from_records`.
        **reading
            Other options of :func:`annomodels.read`, such as `coder_columns` and `question`.

        Raises
        ------
        AnnotationError
            If the data cannot be used; lists all problems.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"task": ["a", "a"], "worker": ["x", "y"], "label": ["n", "p"]})
        >>> Annotations.from_frame(frame)
        1 item × 2 coders × 2 labels · 2 annotations · complete
        """
        from annomodels.io.reading import read_frame

        reading |= {"item": item, "coder": coder, "label": label, "labels": labels, "truth": truth}
        more = {"scale": scale, "group": group, "text": text, "dont_know": dont_know}
        return read_frame(frame, {**reading, **more})

    @classmethod
    def _from_columns(
        cls,
        items: Sequence[object] | AnyArray,
        coders: Sequence[object] | AnyArray,
        values: Sequence[object] | AnyArray,
        *,
        labels: Sequence[Hashable] | None = None,
        scale: Scale = "nominal",
        gold: Mapping[Any, Any] | None = None,
        group: Mapping[Any, Any] | None = None,
        texts: Mapping[Any, str] | None = None,
        skips: int = 0,
        source: str = "",
        notes: Sequence[str] = (),
        rows: Sequence[int] | AnyArray | None = None,
        dont_know: Sequence[Hashable] = (),
    ) -> Annotations:
        """Code columns without missing cells; `rows` are their row numbers in the file."""
        items, problems = plain_cells(items, "item", source)
        coders, found = plain_cells(coders, "coder", source)
        values, wrong = plain_cells(values, "label", source)
        if problems or found or wrong:
            raise AnnotationError([*problems, *found, *wrong])
        labels = (
            labels if labels is None or isinstance(labels, str) else plain_names(labels, "label")
        )
        gold = None if gold is None else plain_mapping(gold, "item", "label")
        group = None if group is None else plain_mapping(group, "item", "group")
        texts = None if texts is None else plain_mapping(texts, "item")
        aside = SetAside(dont_know) if len(dont_know) else None
        if aside is not None:
            items, coders, values, rows = aside.split(items, coders, values, rows)
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
        said = remarks(fields["item"], fields["coder"], fields["label"])
        if fields.get("gold") is not None:
            said += gold_remarks(fields["item"], fields["label"], fields["gold"], fields["labels"])
        if aside is not None:
            fields |= aside.coded(fields["items"], fields["coders"])
            said += aside.notes
        all_notes = (*notes, *fields.pop("notes"), *said)
        return cls(**fields, scale=scale, skips=skips, source=source, notes=all_notes)

    # -- changes, each a copy -------------------------------------------------------------------

    def replace(self, **changes: Any) -> Annotations:
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def without_repeats(self, keep: Literal["first", "last"] = "first") -> Annotations:
        """Return a copy with one label per coder and item.

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

    def without_dont_know(self) -> Annotations:
        """Return a copy that treats labels that are not classes as missing, also for models."""
        return self.replace(dont_know=(), unanswered=None)

    def with_truth(self, truth: Any) -> Annotations:
        """Return a copy with true labels of some items.

        Parameters
        ----------
        truth
            True label by item name; items that are not in the data are ignored. Or the file
            ``decisions.csv`` of the report page, as a path or data frame.

        Raises
        ------
        AnnotationError
            If a true label is not in the label set. For a file, also if an item is unknown or has
            two different decisions, or if the file is about other labels.
        """
        if isinstance(truth, (str, os.PathLike)) or hasattr(truth, "columns"):
            from annomodels.io.mappings import decisions_of

            truth = decisions_of(truth, self)
        known = plain_mapping(truth, "item", "label")
        return self.replace(gold=code_gold(known, self.items, self.labels))

    def select(
        self,
        items: Iterable[Hashable] | None = None,
        coders: Iterable[Hashable] | None = None,
    ) -> Annotations:
        """Return a copy with only some items or coders; the label set does not change.

        Parameters
        ----------
        items, coders
            Names to keep; None keeps all. Items and coders without remaining labels are dropped.

        Raises
        ------
        AnnotationError
            If no label remains.
        NotApplicable
            If an item or coder is not in the data.
        """
        keep = np.ones(len(self), dtype=bool)
        if items is not None:
            keep &= np.isin(self.item, places_of(self.items, items, "item"))
        if coders is not None:
            keep &= np.isin(self.coder, places_of(self.coders, coders, "coder"))
        if not keep.any():
            raise AnnotationError("This selection leaves no annotations.")
        kept, kept_coders, item, coder = subset(keep, self.item, self.coder)
        return self.replace(
            item=item,
            coder=coder,
            label=self.label[keep],
            items=tuple(self.items[i] for i in kept),
            coders=tuple(self.coders[j] for j in kept_coders),
            declared=True,
            unanswered=_moved(self.unanswered, kept, kept_coders),
            gold=None if self.gold is None else self.gold[kept],
            group=None if self.group is None else self.group[kept],
            texts=None if self.texts is None else tuple(self.texts[i] for i in kept),
        )


def _moved(unanswered: Ints | None, items: Ints, coders: Ints) -> AnyArray | None:
    """Return the rows of kept items and coders with their new codes."""
    if unanswered is None:
        return None
    keep = np.isin(unanswered[:, 0], items) & np.isin(unanswered[:, 1], coders)
    item, coder, kind = unanswered[keep].T
    return np.column_stack([np.searchsorted(items, item), np.searchsorted(coders, coder), kind])


def as_annotations(data: object) -> Any:
    """Read a data frame, or the file at a path; give anything else back as it is."""
    if isinstance(data, Annotations) or not (_is_frame(data) or isinstance(data, _PATH)):
        return data
    from annomodels.io.reading import annotations_of

    return annotations_of(data)


def _is_frame(data: object) -> bool:
    """Return True for data frames, arrays, mappings of columns and lists of records."""
    records = isinstance(data, list) and bool(data) and isinstance(data[0], Mapping)
    plain = isinstance(data, (Mapping, np.ndarray)) and not hasattr(data, "children")
    return hasattr(data, "columns") or hasattr(data, "to_dataframe") or plain or records


_PATH = (str, os.PathLike)
