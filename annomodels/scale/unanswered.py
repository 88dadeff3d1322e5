"""Labels that are no class, on disk: set aside, counted, and expanded for models that learn them.

They are kept as :func:`annomodels.models.encoded.expanded` would give them in memory, block by
block, in files of their own beside those of the classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.data.validation import counted
from annomodels.models.encoded import expanded
from annomodels.scale.blocks import expanded_path, write_codes
from annomodels.scale.shell import Shell
from annomodels.summaries.answers import answer_sentences
from annomodels.summaries.summary import Summary

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Expansion", "expansion", "left_out", "unanswered_rows", "with_answers"]

Ints = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Expansion:
    """Sorted codes in which whether a coder answered is a label by a shadow of that coder.

    Parameters
    ----------
    starts
        Where the labels of each item begin, shape [item + 1].
    coder, label
        Codes of coders and shadows, and of labels, shape [annotation].
    """

    starts: Ints
    coder: Ints
    label: Ints

    def write(self, folder: Path, number: int, lo: int, hi: int, gold: Ints) -> None:
        """Write items lo..hi as a block."""
        begin, end = int(self.starts[lo]), int(self.starts[hi])
        write_codes(
            expanded_path(folder, number), self.starts[lo : hi + 1] - begin,
            self.coder[begin:end], self.label[begin:end], gold,
        )  # fmt: skip


def expansion(
    starts: Ints, coder: Ints, label: Ints, unanswered: Ints, n_coders: int, n_kinds: int
) -> Expansion:
    """Give each coder a shadow for each kind of no answer.

    Parameters
    ----------
    starts, coder, label
        Sorted codes of the classes.
    unanswered
        Codes of item, coder and kind, shape [time, 3].
    n_coders, n_kinds
        Number of coders and of labels that are no class.

    Examples
    --------
    >>> none = np.array([[0, 1, 0]])
    >>> found = expansion(np.array([0, 1, 3]), np.array([0, 0, 1]), np.array([0, 1, 0]), none, 2, 1)
    >>> found.starts.tolist(), found.coder.tolist(), found.label.tolist()
    ([0, 3, 7], [0, 2, 3, 0, 1, 2, 3], [0, 0, 1, 1, 0, 0, 0])
    """
    n_items = len(starts) - 1
    order = np.lexsort(unanswered.T[::-1])
    found = expanded(
        Annotations(
            item=np.repeat(np.arange(n_items), np.diff(starts)), coder=coder, label=label,
            items=(), coders=tuple(range(n_coders)), labels=(),
            dont_know=tuple(range(n_kinds)), unanswered=unanswered[order],
        )
    )  # fmt: skip
    begins = np.searchsorted(found.item, np.arange(n_items + 1))
    return Expansion(begins, found.coder, found.label)


def unanswered_rows(codes: Any, first: int, n_coders: int) -> Ints:
    """Give the rows [item, coder, kind] that an expanded block holds, items counted from `first`.

    Parameters
    ----------
    codes
        What :meth:`annomodels.scale.blocks.FilePartition.open` gave.
    first
        Number of the first item.
    n_coders
        Number of coders.
    """
    item = first + np.repeat(np.arange(codes.n_patterns), np.diff(codes.starts))
    said = (codes.row >= n_coders) & (codes.label == 1)
    kind, coder = np.divmod(codes.row[said].astype(np.int64) - n_coders, n_coders)
    rows = np.column_stack([item[said], coder, kind])
    return rows[np.lexsort(rows.T[::-1])]


def left_out(kinds: tuple[str, ...], items: int, coders: int) -> list[str]:
    """Say how many items and coders have no other label, as reading into memory says it."""
    return [
        f"Left out, having no other label than {'/'.join(kinds)}: {counted(n, word)}."
        for n, word in ((items, "item"), (coders, "coder"))
        if n
    ]


@dataclass(frozen=True, eq=False, repr=False)
class _Asked(Shell):
    """A shell that knows how often nobody answered, for the sentence that says it."""

    times: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        # of these rows only the number is asked for, so they take no memory
        rows = np.broadcast_to(np.zeros((1, 3), dtype=np.int32), (self.times, 3))
        object.__setattr__(self, "unanswered", rows)


def with_answers(summary: Summary, tree: xr.DataTree, shell: Shell, unanswered: Ints) -> Summary:
    """Put the counts of labels that are no class into the table of coders, and what they tell.

    Parameters
    ----------
    summary
        The table, made of a shell without any such label.
    tree
        Result of the fit.
    shell
        Coders and labels.
    unanswered
        How often each coder said each kind, shape [kind, coder].
    """
    if not unanswered.any():
        return summary
    table = summary.table.assign(dont_know=unanswered.sum(axis=0))
    told = _Asked(
        item=shell.item, coder=shell.coder, label=shell.label, items=(), coders=shell.coders,
        labels=shell.labels, dont_know=tuple(map(label_text, shell.dont_know)),
        times=int(unanswered.sum()),
    )  # fmt: skip
    notes = (*summary.notes, *answer_sentences(tree, told))
    return Summary(summary.title, table, summary.draws, notes)
