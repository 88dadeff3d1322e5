"""Units on a continuum: who marked which stretch of which text, and called it what."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.continuum.checks import check_units, pairs_done
from annomodels.errors import AnnotationError, Problem
from annomodels.types import Floats, Ints

COLUMNS = ("text", "coder", "start", "end", "label")


@dataclass(frozen=True, eq=False, repr=False)
class Units:
    """Stretches of texts, or of any other continuum, that coders marked and labelled.

    A coder's units with the same label do not overlap; what lies between them are gaps. Units with
    different labels may overlap: each label is a layer of its own. Build it with
    :meth:`from_records` or :meth:`from_frame`.

    Parameters
    ----------
    text, coder, label
        Codes of each unit, shape [unit].
    start, end
        Where each unit begins and where it ends; the end is the first position after it, so that
        end - start is its length, shape [unit].
    texts, coders, labels
        Names; code i stands for the i-th of them.
    begin, length
        Where each text begins and how long it is, shape [text].
    active
        Whether a coder worked on a text, units or not, shape [text, coder].

    Examples
    --------
    >>> import annomodels as am
    >>> rows = [("t1", "ana", 0, 4, "quote"), ("t1", "ben", 1, 4, "quote")]
    >>> am.coefficients.Units.from_records(rows, lengths={"t1": 20})
    2 units in 1 text by 2 coders, 1 label
    """

    text: Ints
    coder: Ints
    start: Floats
    end: Floats
    label: Ints
    texts: tuple[Hashable, ...]
    coders: tuple[Hashable, ...]
    labels: tuple[Hashable, ...]
    begin: Floats
    length: Floats
    active: NDArray[np.bool_]

    @classmethod
    def from_records(
        cls,
        rows: Iterable[Sequence[Any]],
        *,
        lengths: Mapping[Any, float] | float,
        begins: Mapping[Any, float] | float = 0,
        coders: Sequence[Hashable] | None = None,
        done: Iterable[tuple[Any, Any]] | None = None,
    ) -> Units:
        """Code rows of (text, coder, start, end, label).

        Parameters
        ----------
        rows
            One row for each unit; `end` is the first position after the unit. Positions count
            characters, tokens, seconds, frames: whole numbers of the smallest step.
        lengths
            Length of each text, or of all of them. Texts named here count even without a unit.
        begins
            Where each text begins; 0 by default.
        coders
            All coders, where some marked nothing at all.
        done
            Pairs (text, coder) of who worked on which text; by default all coders on all texts.

        Raises
        ------
        AnnotationError
            With all problems at once: rows that are not of five cells, positions that are no
            numbers, units without length or beyond their text, units of the same coder and label
            that overlap, texts without a length, units by coders who did not work on the text.

        Examples
        --------
        >>> rows = [(1, "X", 225, 295, "c"), (1, "Y", 220, 300, "c")]
        >>> Units.from_records(rows, lengths=300, begins=150).n_coders
        2
        """
        return cls._make(list(rows), lengths, begins, coders, done, "record")

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        lengths: Mapping[Any, float] | float,
        text: str | None = "text",
        coder: str = "coder",
        start: str = "start",
        end: str = "end",
        label: str | None = "label",
        begins: Mapping[Any, float] | float = 0,
        coders: Sequence[Hashable] | None = None,
        done: Iterable[tuple[Any, Any]] | None = None,
    ) -> Units:
        """Code a data frame of pandas, polars or anything else narwhals reads.

        Parameters
        ----------
        frame
            One row per unit.
        lengths, begins, coders, done
            As in :meth:`from_records`.
        text, coder, start, end, label
            Names of the columns; without `text` there is one text, without `label` one label.

        Raises
        ------
        AnnotationError
            When a column is missing, or with all problems of the rows at once.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"coder": ["X", "Y"], "start": [1, 2], "end": [9, 3]})
        >>> Units.from_frame(frame, lengths=10, text=None, label=None)
        2 units in 1 text by 2 coders, 1 label
        """
        import narwhals as nw

        try:
            table = nw.from_native(frame, eager_only=True)
        except TypeError:
            raise AnnotationError(
                Problem(
                    f"{type(frame).__name__} is not a data frame.",
                    remedy="Give a data frame of pandas or polars, or use Units.from_records.",
                )
            ) from None
        wanted = dict(zip(COLUMNS, (text, coder, start, end, label), strict=True))
        missing = [name for name in wanted.values() if name and name not in table.columns]
        if missing:
            raise AnnotationError(
                [
                    Problem(
                        f"There is no column {name!r}.",
                        f"columns {', '.join(table.columns)}",
                        "Name the columns: text=..., coder=..., start=..., end=..., label=...",
                    )
                    for name in missing
                ]
            )
        blank = ["all"] * len(table)
        columns = [table[name].to_list() if name else blank for name in wanted.values()]
        return cls._make(list(zip(*columns, strict=True)), lengths, begins, coders, done, "row")

    @classmethod
    def _make(
        cls,
        rows: list[Sequence[Any]],
        lengths: Mapping[Any, float] | float,
        begins: Mapping[Any, float] | float,
        coders: Sequence[Hashable] | None,
        done: Iterable[tuple[Any, Any]] | None,
        what: str,
    ) -> Units:
        """Check and code; the names are sorted, so nothing depends on the order of rows."""
        worked = pairs_done(done)
        units, problems = check_units(rows, lengths, begins, coders, worked, what)
        if problems:
            raise AnnotationError(problems)
        texts = _sorted(
            {unit.text for unit in units}
            | (set(lengths) if isinstance(lengths, Mapping) else set())
            | {text for text, _ in worked or ()}
        )
        everyone = _sorted(
            {unit.coder for unit in units} | set(coders or ()) | {c for _, c in worked or ()}
        )
        labels = _sorted({unit.label for unit in units})
        place = [{name: n for n, name in enumerate(names)} for names in (texts, everyone, labels)]
        units.sort(key=lambda u: (place[0][u.text], place[1][u.coder], place[2][u.label], u.start))
        active = np.ones((len(texts), len(everyone)), dtype=bool)
        if worked is not None:
            pairs = [(text, coder) in worked for text in texts for coder in everyone]
            active = np.array(pairs).reshape(active.shape)
        return cls(
            text=np.array([place[0][u.text] for u in units], dtype=np.int64),
            coder=np.array([place[1][u.coder] for u in units], dtype=np.int64),
            start=np.array([u.start for u in units], dtype=float),
            end=np.array([u.end for u in units], dtype=float),
            label=np.array([place[2][u.label] for u in units], dtype=np.int64),
            texts=texts,
            coders=everyone,
            labels=labels,
            begin=_of_texts(begins, texts),
            length=_of_texts(lengths, texts),
            active=active,
        )

    @property
    def n_texts(self) -> int:
        """Number of texts."""
        return len(self.texts)

    @property
    def n_coders(self) -> int:
        """Number of coders."""
        return len(self.coders)

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.text)

    def __repr__(self) -> str:
        def of(n: int, word: str) -> str:
            return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"

        return (
            f"{of(self.n_units, 'unit')} in {of(self.n_texts, 'text')} by "
            f"{of(self.n_coders, 'coder')}, {of(len(self.labels), 'label')}"
        )


def _sorted(names: set[Hashable]) -> tuple[Hashable, ...]:
    """Numbers by value, then words."""

    def key(name: Hashable) -> tuple[bool, float, str]:
        number = isinstance(name, (int, float)) and math.isfinite(name)
        return (not number, float(name) if number else 0.0, str(name))  # type: ignore[arg-type]

    return tuple(sorted(names, key=key))


def _of_texts(given: Mapping[Any, float] | float, texts: Sequence[Hashable]) -> Floats:
    """Value of each text."""
    if isinstance(given, Mapping):
        return np.array([float(given.get(text, 0)) for text in texts])
    return np.full(len(texts), float(given))
