"""Removal of labels that are not classes, before columns are coded."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from annomodels.data.names import label_text, plain_names
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.types import AnyArray


class SetAside:
    """Rows whose label is not a class."""

    def __init__(self, dont_know: Sequence[Hashable]) -> None:
        if isinstance(dont_know, str):
            dont_know = [dont_know]
        self.names = tuple(dict.fromkeys(plain_names(dont_know, "label")))
        self.place = {label_text(name): n for n, name in enumerate(self.names)}
        self.rows: list[tuple[Any, Any, int]] = []
        self.notes: tuple[str, ...] = ()

    def kind(self, value: object) -> int:
        """Return which of the labels that are not classes a label is; -1 for none."""
        return self.place.get(label_text(value), -1)

    def split(
        self,
        items: Sequence[object] | AnyArray,
        coders: Sequence[object] | AnyArray,
        values: Sequence[object] | AnyArray,
        rows: Sequence[int] | AnyArray | None,
    ) -> tuple[list[object], list[object], list[object], list[int]]:
        """Return the columns without those rows, and the numbers of the rows that are left."""
        kinds = [self.kind(value) for value in values]
        kept = [n for n, kind in enumerate(kinds) if kind < 0]
        self.rows = [(items[n], coders[n], kind) for n, kind in enumerate(kinds) if kind >= 0]
        if self.rows and not kept:
            what = "None of the labels is a class."
            raise AnnotationError(
                Problem(what, remedy=f"Check that {Option('dont_know')} names the right label.")
            )
        numbers = [n + 1 if rows is None else int(rows[n]) for n in kept]
        left = [[column[n] for n in kept] for column in (items, coders, values)]
        return left[0], left[1], left[2], numbers

    def coded(self, items: tuple[Hashable, ...], coders: tuple[Hashable, ...]) -> dict[str, Any]:
        """Return the fields of the annotations for those rows; notes name those left out."""
        item_of = {name: n for n, name in enumerate(items)}
        coder_of = {name: n for n, name in enumerate(coders)}
        known = [
            (item_of[item], coder_of[coder], kind)
            for item, coder, kind in self.rows
            if item in item_of and coder in coder_of
        ]
        self.notes = tuple(
            f"Left out because their only label is {'/'.join(self.place)}: "
            f"{counted(len(left), word)}."
            for left, word in (
                ({item for item, _, _ in self.rows if item not in item_of}, "item"),
                ({coder for _, coder, _ in self.rows if coder not in coder_of}, "coder"),
            )
            if left
        )
        table = np.array(sorted(known), dtype=np.int32).reshape(-1, 3)
        return {"dont_know": self.names, "unanswered": table}
