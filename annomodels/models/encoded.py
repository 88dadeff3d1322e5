"""Items in the format of kernels and PyMC: runs of (matrix row, label), equal items merged."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.errors import AnnotationError, Option, Problem

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Ints = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Encoded:
    """Patterns of labels with their multiplicity."""

    starts: Ints  # index of the first label of each pattern, shape [pattern + 1]
    # index of the confusion matrix (the coder, or 0 if all share one), shape [annotation]
    row: Ints
    # label codes, shape [annotation]: classes, then labels that are no classes
    label: Ints
    gold: Ints  # known truth, -1 where unknown, shape [pattern]
    weight: NDArray[np.float64]  # number of items with the pattern, shape [pattern]
    inverse: Ints  # pattern of each item, shape [item]
    n_rows: int  # number of confusion matrices and of classes
    n_labels: int
    n_codes: int  # number of label codes
    # kind of the items of each pattern, shape [pattern], if items differ before labeling;
    # see ``models.continuous.item_covariates``
    kind: Ints | None = None

    @property
    def n_patterns(self) -> int:
        """Number of patterns."""
        return len(self.gold)

    @cached_property
    def arrays(self) -> tuple[Ints, ...]:
        """First arguments of each pass: starts, cells (row * codes + label), gold."""
        return self.starts, self.cell, self.gold

    @cached_property
    def cell(self) -> Ints:
        """Index of each annotation in a table [row * label], shape [annotation]."""
        # unsigned, so that compiled loops skip the check for negative indices
        small = self.n_rows * self.n_codes <= np.iinfo(np.uint32).max
        cell: NDArray[Any] = self.row.astype(np.uint32 if small else np.uint64)
        cell *= self.n_codes
        cell += self.label.astype(cell.dtype)
        return cell

    @cached_property
    def volume(self) -> NDArray[np.float64]:
        """Proportion of votes per matrix, shape [row]."""
        times = np.repeat(self.weight, np.diff(self.starts)) * (self.label < self.n_labels)
        votes = np.bincount(self.row, times, minlength=self.n_rows)
        return np.asarray(votes / votes.sum())

    def of_patterns(self, chosen: Ints) -> Encoded:
        """Return the chosen patterns."""
        lengths = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        take = np.repeat(self.starts[chosen] - starts[:-1], lengths) + np.arange(starts[-1])
        return replace(
            self, starts=starts, row=self.row[take], label=self.label[take], gold=self.gold[chosen],
            weight=self.weight[chosen], inverse=np.arange(len(chosen)),
            kind=None if self.kind is None else self.kind[chosen],
        )  # fmt: skip

    @cached_property
    def counts(self) -> csr_matrix:
        """Sparse counts [pattern, row * code] for the PyMC model."""
        from scipy.sparse import csr_matrix

        pattern = np.repeat(np.arange(self.n_patterns), np.diff(self.starts))
        shape = (self.n_patterns, self.n_rows * self.n_codes)
        return csr_matrix((np.ones(len(self.cell)), (pattern, self.cell)), shape=shape)


def encode(
    data: Annotations,
    *,
    shared: bool = False,
    collapse: bool = True,
    kind: Ints | None = None,
    unanswered: bool = False,
) -> Encoded:
    """Encode annotations for passes over the items; `kind` [item].

    With `unanswered`, labels that are no classes are included.
    """
    starts, coder, label = _asked(data) if unanswered else (data.starts, data.coder, data.label)
    n_codes = data.n_labels + (len(data.dont_know) if unanswered else 0)
    row = np.zeros(len(label), dtype=np.int32) if shared else coder
    gold = data.known.copy()  # always writable, so that kernels compile for one type only
    n_rows = 1 if shared else data.n_coders
    one, each = np.ones(data.n_items), np.arange(data.n_items)
    whole = Encoded(starts, row, label, gold, one, each, n_rows, data.n_labels, n_codes, kind)
    if not collapse:
        return whole
    first, inverse, weight = _patterns(starts, row, label, gold, n_codes, kind)
    return replace(whole.of_patterns(first), weight=weight, inverse=inverse)


def _asked(data: Annotations) -> tuple[Ints, Ints, Ints]:
    """Return starts, coders and labels with those that are no classes after those of a coder."""
    none = np.empty((0, 3), dtype=np.int32)
    item, coder, kind = (none if data.unanswered is None else data.unanswered).T
    items, coders = np.append(data.item, item), np.append(data.coder, coder)
    order = np.lexsort((coders, items))
    starts = np.searchsorted(items[order], np.arange(data.n_items + 1))
    return starts, coders[order], np.append(data.label, data.n_labels + kind)[order]


def _patterns(
    starts: Ints, row: Ints, label: Ints, gold: Ints, n_codes: int, kind: Ints | None
) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """Return the first item of each pattern, the pattern of each item, and pattern sizes."""
    column = row.astype(np.int64) * n_codes + label
    lengths = np.diff(starts)
    inverse = np.empty(len(gold), dtype=np.int64)
    firsts: list[Ints] = []
    n_patterns = 0
    for length in np.unique(lengths):
        chosen = np.flatnonzero(lengths == length)
        table = column[starts[chosen][:, None] + np.arange(length)]
        further = [gold[chosen]] if kind is None else [gold[chosen], kind[chosen]]
        key = np.column_stack([np.sort(table, axis=1), *further])
        _, first, back = np.unique(key, axis=0, return_index=True, return_inverse=True)
        inverse[chosen] = back.ravel() + n_patterns
        firsts.append(chosen[first])
        n_patterns += len(first)
    weight = np.bincount(inverse, minlength=n_patterns).astype(float)
    return np.concatenate(firsts), inverse, weight


def require_fittable(data: Annotations) -> None:
    """Reject data from which no model of classes can learn."""
    require_learnable(data.labels, data.n_coders, data.is_shared, data.source)


def require_learnable(labels: Sequence[Hashable], n_coders: int, shared: bool, source: str) -> None:
    """Reject data with too few labels or coders, or without overlap between coders."""
    problems = []
    if len(labels) < 2:
        name = repr(labels[0])
        problems.append(
            Problem(
                f"Every label is {name if len(name) <= 40 else name[:37] + '...'}, so there is "
                "nothing to learn about the truth or the coders.",
                source,
                "Add items with other labels, or declare the labels that were possible "
                f"({Option('labels')}); you can still check these data and compute agreement.",
            )
        )
    if n_coders < 2:
        problems.append(
            Problem(
                "Only one coder: agreement and coder quality cannot be estimated.",
                source,
                f"Add a second coder; check that the coder column is correct ({Option('coder')}).",
            )
        )
    elif not shared:
        problems.append(
            Problem(
                "No item was labeled by two coders, so agreement and coder quality "
                "cannot be estimated.",
                source,
                "Let coders share items; check that the item and coder columns are correct "
                f"({Option('item')}, {Option('coder')}).",
            )
        )
    if problems:
        raise AnnotationError(problems)
