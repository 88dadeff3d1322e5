"""Columns as far as they were looked at, and the words that they are called after."""

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

from annomodels.data.validation import all_numbers, is_blank
from annomodels.io.tables.columns import ALIASES
from annomodels.io.tables.questions import BOXES

type Codes = NDArray[np.int64]


def _vocabulary() -> dict[str, frozenset[str]]:
    text = Path(__file__).with_name("words.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    words = {name: text.split() for table in tables.values() for name, text in table.items()}
    own = {role: [*words[role], *ALIASES[role]] for role in tables["roles"]}
    return {name: frozenset(kept) for name, kept in {**words, **own}.items()}


_ALL = _vocabulary()
ITEM, CODER, LABEL = _ALL["item"], _ALL["coder"], _ALL["label"]
QUESTION, ASKED_PEOPLE, JUDGES = _ALL["question"], _ALL["asked_people"], _ALL["judges"]
SYSTEM, SUMS = _ALL["system"], _ALL["sums"]
STATISTICS, AGREEMENT = _ALL["statistics"], _ALL["agreement"]
NOT_NAMES = {*BOXES, "na", "nan", "none", "null", ""}  # answers, not names of coders
# columns called after people: an address, or the number of a worker of Amazon or Prolific
PERSON = re.compile(r"[^@\s]+@[^@\s]+\.\w+|A[A-Z0-9]{11,14}|[0-9a-f]{24}")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
# names of coders, as the cells of a column without a telling name hold them: Ann. 2, rater_3
_CODERS = re.compile(
    r"(ann|anno|annot|annotator|coder|rater|worker|judge|expert|reviewer|participant|turker|user)"
    r"[ ._-]*(\d+|[a-z])",
    re.IGNORECASE,
)

# columns of what a coder said or when, which can make rows unique but name no item
SAID = re.compile(
    r"unnamed: \d+|(.*[_. -])?(date|time|timestamp|created(_at)?|updated(_at)?|seconds|duration|"
    r"notes?|remarks?|feedback|rationale|gold|truth|confidence|severity|explanation|reason|order|"
    r"position|latency|ratings?|scores?|comments?)",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class Column:
    """A column, as far as it was looked at."""

    name: str
    cells: Sequence[Any]

    @cached_property
    def words(self) -> list[str]:
        """Words of the name, in lower case."""
        words = []
        for word in map(str.casefold, _WORDS.findall(self.name)):
            stem = word.removesuffix("id")
            is_id = stem != word and (stem in ITEM or stem in CODER)
            words += [stem, "id"] if is_id else [word]
        return words

    def has(self, words: frozenset[str]) -> bool:
        """Return True if the name has one of the words."""
        return any(word in words or word.removesuffix("s") in words for word in self.words)

    @property
    def is_id(self) -> bool:
        """Return True if the name ends like that of an identifier."""
        return bool(self.words) and self.words[-1] in _ALL["id"]

    @cached_property
    def texts(self) -> list[str]:
        """Cells as text; a blank one is the empty text."""
        texts = (c if isinstance(c, str) else "" if is_blank(c) else str(c) for c in self.cells)
        return list(texts)

    @cached_property
    def filled(self) -> list[object]:
        """Cells that are not empty."""
        return [cell for cell in self.cells if not is_blank(cell)]

    @cached_property
    def codes(self) -> Codes:
        """A number for each different cell, 0 for an empty one."""
        places = {"": 0}
        codes = (places.setdefault(text, len(places)) for text in self.texts)
        return np.fromiter(codes, np.int64, len(self.cells))

    @cached_property
    def distinct(self) -> int:
        """Number of different cells."""
        return len(set(self.texts))

    @cached_property
    def is_numeric(self) -> bool:
        """Return True if all cells that are filled are numbers."""
        return all_numbers(self.filled)

    @property
    def measures(self) -> bool:
        """Return True if the cells are numbers, some of them with decimals."""
        return self.is_numeric and any("." in t and not t.endswith(".0") for t in self.texts)

    @cached_property
    def names_coders(self) -> bool:
        """Return True if it is called after coders, or holds names such as Ann. 2."""
        values = {str(cell).strip().casefold() for cell in self.filled}
        if values <= NOT_NAMES:
            return False
        return self.has(CODER) or all(
            _CODERS.fullmatch(value) or PERSON.fullmatch(value.upper()) for value in values
        )

    @property
    def holds_marks(self) -> bool:
        """Return True if some cells hold a mark and the others nothing."""
        marks = {str(cell).strip().casefold() for cell in self.filled}
        return bool(marks) and marks <= _ALL["marks"] and len(self.filled) < len(self.cells)

    @cached_property
    def length(self) -> float:
        """Mean length of the cells."""
        return sum(map(len, self.texts)) / max(len(self.cells), 1)

    @cached_property
    def is_plain(self) -> bool:
        """Return True if no cell is a list or an object."""
        return not any(isinstance(cell, (list, dict)) for cell in self.cells)
