"""Sampled columns, and the words in their names."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.names import label_text
from annomodels.data.validation import all_numbers, is_blank

type Codes = NDArray[np.int64]

_FILE = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
ALIASES: dict[str, list[str]] = {role: text.split() for role, text in _FILE["known"].items()}
OF_SPANS: dict[str, list[str]] = {role: text.split() for role, text in _FILE["spans"].items()}
_ALL = {
    name: frozenset([*text.split(), *(ALIASES[name] if table == "roles" else ())])
    for table in ("roles", "names", "cells")
    for name, text in _FILE[table].items()
}
ITEM, CODER, LABEL = _ALL["item"], _ALL["coder"], _ALL["label"]
QUESTION, ASKED_PEOPLE, JUDGES = _ALL["question"], _ALL["asked_people"], _ALL["judges"]
SYSTEM, SUMS = _ALL["system"], _ALL["sums"]
STATISTICS, AGREEMENT = _ALL["statistics"], _ALL["agreement"]
BOXES, NO_LABEL_CODES = _ALL["boxes"], _ALL["no_label_codes"]
NOT_NAMES = {*BOXES, "na", "nan", "none", "null", ""}  # answers, not names of coders
ANSWERS = frozenset(_FILE["lists"]["answers"])  # labels, not names of coders either
TEXT_COLUMNS: list[str] = _FILE["lists"]["texts"]
TRUTH, OF_ITEMS = frozenset(_FILE["lists"]["truth"]), frozenset(_FILE["lists"]["of_items"])
NO_LABEL, SPLITS = frozenset(_FILE["lists"]["no_label"]), frozenset(_FILE["lists"]["splits"])
WRITTEN = frozenset(_FILE["lists"]["written"])
_SENTENCE = 8  # words above which a name is a sentence, such as a question of a survey
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_PATTERNS = {
    name: re.compile(text.replace("\n", ""), re.IGNORECASE)
    for name, text in _FILE["patterns"].items()
}


def is_called(name: str, pattern: str) -> bool:
    """Return True if a name matches a pattern of ``words.toml``."""
    return _PATTERNS[pattern].fullmatch(name.strip()) is not None


def is_asked(name: str) -> bool:
    """Return True if a column is named like a question or criterion."""
    return is_called(re.sub(r"[ .-]+", "_", name.strip()), "asked")


def is_derived(name: str) -> bool:
    """Return True if a column is named like a summary of coder labels."""
    return is_called(name, "derived")


def is_truth(name: str) -> bool:
    return name.strip().casefold() in TRUTH


def joint(*parts: Codes) -> Codes:
    """Return a code for each combination of codes."""
    out = parts[0]
    for more in parts[1:]:
        out = np.unique(out * (int(more.max(initial=0)) + 1) + more, return_inverse=True)[1]
    return out


def kinds_of(codes: Codes) -> Codes:
    """Return the distinct codes, in order; for some thousand, np.unique takes ten times as long."""
    ordered = np.sort(codes)
    is_new = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]


@dataclass(frozen=True, eq=False)
class NamedColumn:
    name: str
    cells: Sequence[Any]

    @cached_property
    def words(self) -> list[str]:
        words = []
        for word in map(str.casefold, _WORDS.findall(self.name)):
            stem = word.removesuffix("id")
            is_id = stem != word and (stem in ITEM or stem in CODER)
            words += [stem, "id"] if is_id else [word]
        return words

    def has(self, words: frozenset[str]) -> bool:
        own = self.words if len(self.words) <= _SENTENCE else ()
        return any(word in words or word.removesuffix("s") in words for word in own)

    @property
    def is_id(self) -> bool:
        return bool(self.words) and self.words[-1] in _ALL["id"]

    @cached_property
    def texts(self) -> list[str]:
        """Cells as text; blank cells are empty strings."""
        if {*map(type, self.cells)} == {str}:
            return list(self.cells)
        return [
            cell if isinstance(cell, str) else "" if is_blank(cell) else label_text(cell)
            for cell in self.cells
        ]

    @cached_property
    def kinds(self) -> set[str]:
        """Distinct nonempty cells, as text."""
        return {*self.texts} - {""}

    @cached_property
    def filled(self) -> list[object]:
        return [cell for cell, text in zip(self.cells, self.texts, strict=True) if text]

    @cached_property
    def codes(self) -> Codes:
        """Integer code of each cell, 0 for empty cells."""
        places = {text: n for n, text in enumerate(dict.fromkeys(["", *self.texts]))}
        return np.fromiter(map(places.__getitem__, self.texts), np.int64, len(self.cells))

    @cached_property
    def distinct(self) -> int:
        return len({*self.texts})

    @cached_property
    def is_numeric(self) -> bool:
        return all_numbers(self.kinds)

    @property
    def measures(self) -> bool:
        """Return True if the cells are numbers, some of them with decimals."""
        return self.is_numeric and any("." in t and not t.endswith(".0") for t in self.kinds)

    @cached_property
    def names_coders(self) -> bool:
        """Return True if the name means coders, or the cells are names such as Ann. 2."""
        values = {text.strip().casefold() for text in self.kinds}
        if values <= NOT_NAMES | ANSWERS:
            return False
        return self.has(CODER) or all(
            is_called(value, "coder") or is_called(value.upper(), "person") for value in values
        )

    @property
    def names_items(self) -> bool:
        return self.has(ITEM) or self.is_id

    @property
    def sums_up(self) -> bool:
        """Return True if the name means what several coders have in common."""
        return "agree" in self.words or is_derived(self.name)

    @property
    def holds_marks(self) -> bool:
        """Return True if some cells contain a mark and the others are empty."""
        marks = {text.strip().casefold() for text in self.kinds}
        return bool(marks) and marks <= _ALL["marks"] and len(self.filled) < len(self.cells)

    @cached_property
    def length(self) -> float:
        return sum(map(len, self.texts)) / max(len(self.cells), 1)

    @cached_property
    def is_plain(self) -> bool:
        """Return True if no cell is a list or an object."""
        return {list, dict}.isdisjoint(map(type, self.cells))
