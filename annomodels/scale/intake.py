"""First pass over the rows: check them, and code the names of coders and labels."""

from __future__ import annotations

import bisect
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from annomodels.data.validation import (
    LONGEST_LABEL,
    SHOWN,
    at_rows,
    counted,
    decimal_commas,
    some,
)
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.tables.chunks import Chunk
from annomodels.scale.rows import SILENT, CodedRows
from annomodels.types import AnyArray, Bools

MOST_LABELS = 1000
LISTED = 20  # maximum number of places with separate problems
REMEDIES = {
    "item": "Name the item of every label, or drop the rows.",
    "coder": "Name the coder of every label, or drop the rows.",
    "label": "Declare all labels with {labels}, or fix the rows.",
}


def declare() -> str:
    """Return the advice to declare labels."""
    return f"declare the labels with {Option('labels', [...])}"


def _remedy(role: str) -> str:
    return REMEDIES[role].format(labels=Option("labels", [...]))


class Register:
    """Names in order of appearance, each with a number and a count."""

    def __init__(self, names: Sequence[Hashable] = ()) -> None:
        self.codes: dict[Any, int] = {name: n for n, name in enumerate(names)}
        self.counts: dict[Any, int] = dict.fromkeys(names, 0)

    def code(self, column: pa.DictionaryArray, rows: AnyArray) -> AnyArray:
        """Return the numbers of the names in some rows of a dictionary column."""
        codes = column.indices.to_numpy()[rows]
        counts = np.bincount(codes, minlength=len(column.dictionary))
        used = np.flatnonzero(counts)
        number = np.full(len(counts), -1, dtype=np.int32)
        for place, name in zip(
            used, column.dictionary.take(pa.array(used)).to_pylist(), strict=True
        ):
            number[place] = self.codes.setdefault(name, len(self.codes))
            self.counts[name] = self.counts.get(name, 0) + int(counts[place])
        out: AnyArray = number[codes]
        return out

    def rename(self, names: Mapping[Hashable, Hashable]) -> None:
        """Rename entries; numbers and counts do not change."""
        self.codes = {names.get(name, name): n for name, n in self.codes.items()}
        self.counts = {names.get(name, name): n for name, n in self.counts.items()}


@dataclass
class Places:
    """Rows with problems, by problem, column and part of the file."""

    wrong: dict[tuple[str, str, str], tuple[int, list[int]]] = field(default_factory=dict)
    more: dict[tuple[str, str], int] = field(default_factory=dict)
    _chunks: list[tuple[int, str, int]] = field(default_factory=list)

    def report(self, what: str, role: str, chunk: Chunk, chosen: Bools) -> None:
        """Record rows of a chunk that have a problem."""
        at = np.flatnonzero(chosen)
        key = (what, role, chunk.place)
        if not len(at):
            return
        if key not in self.wrong and len(self.wrong) >= LISTED:
            self.more[what, role] = self.more.get((what, role), 0) + len(at)
            return
        n, rows = self.wrong.get(key, (0, []))
        self.wrong[key] = (n + len(at), [*rows, *(chunk.first + at).tolist()][:SHOWN])

    def problems(self, columns: dict[str, str]) -> list[Problem]:
        """Return all recorded problems, in file order."""
        out = []
        for (what, role, place), (n, rows) in self.wrong.items():
            where = at_rows(place, rows) + (f" and {n - len(rows):,} more" if n > len(rows) else "")
            where += f", column {columns[role]!r}"
            out.append(Problem(f"{counted(n, 'row')} {what}.", where, _remedy(role)))
        for (what, role), n in self.more.items():
            where = f"further row groups and files, column {columns[role]!r}"
            out.append(Problem(f"{counted(n, 'further row')} {what}.", where, _remedy(role)))
        return out

    def number(self, chunk: Chunk, begin: int) -> AnyArray:
        """Return numbers of the rows of a chunk, from `begin` on, for use with `where`."""
        self._chunks.append((begin, chunk.place, chunk.first))
        return np.arange(begin, begin + len(chunk))

    def where(self, number: int) -> str:
        """Return the location of a numbered row."""
        n = bisect.bisect_right(self._chunks, number, key=lambda chunk: chunk[0]) - 1
        begin, place, first = self._chunks[n]
        return f"{place}, row {first + number - begin}"


@dataclass(eq=False)
class Intake:
    """Rows read so far."""

    kept: CodedRows
    columns: dict[str, str]
    declared: Sequence[str] | None
    missing: set[str]  # texts that are no label
    question: str | None
    dont_know: Register
    once: bool  # whether some rows have annotation ids
    coders: Register = field(default_factory=Register)
    questions: Register = field(default_factory=Register)
    places: Places = field(default_factory=Places)
    answering: set[int] = field(default_factory=set)  # coders who gave a label
    points: dict[object, str] = field(default_factory=dict)
    skips: int = 0
    rows: int = 0

    def __post_init__(self) -> None:
        self.labels, self.truths = (Register(self.declared or ()) for _ in range(2))

    def take(self, chunk: Chunk) -> None:
        """Check and code the rows of a chunk, and keep them."""
        columns = chunk.columns
        if not len(chunk):
            return
        ours = self._of_question(chunk)
        skipped = ours & _among(columns["label"], self.missing)
        self.skips += int(skipped.sum())
        nameless = {role: _among(columns[role], {""}) for role in ("item", "coder")}
        for role, blank in nameless.items():
            what = f"without {'an item' if role == 'item' else 'a coder'}"
            self.places.report(what, role, chunk, ours & blank & ~skipped)
        kept = ours & ~nameless["item"] & (skipped | ~nameless["coder"])
        asked = kept & ~skipped
        silent = asked & _among(columns["label"], set(self.dont_know.codes))
        given = asked & ~silent
        label = np.full(len(chunk), -1, dtype=np.int32)
        coder = np.zeros(len(chunk), dtype=np.int32)
        label[given] = self.labels.code(columns["label"], given)
        label[silent] = SILENT - self.dont_know.code(columns["label"], silent)
        coder[asked] = self.coders.code(columns["coder"], asked)
        self.answering.update(np.unique(coder[given]).tolist())
        self._look_at_labels(chunk, label)
        row = self.places.number(chunk, self.rows)
        out = {"item": columns["item"].filter(pa.array(kept))}
        out |= {"coder": coder[kept], "label": label[kept], "row": row[kept]}
        if "truth" in columns:
            known = kept & ~_among(columns["truth"], self.missing)
            gold = np.full(len(chunk), -1, dtype=np.int32)
            gold[known] = self.truths.code(columns["truth"], known)
            out["gold"] = gold[kept]
        if self.once:
            out["once"] = _marks(columns)[kept]
        self.kept.add(out)
        self.rows += len(chunk)

    def write_points(self, known: Iterable[str]) -> None:
        """Rename labels with a decimal comma to a decimal point, after the last row."""
        if self.declared is None:
            self.points = decimal_commas({*self.labels.codes, *self.truths.codes, *known})
            for register in (self.labels, self.truths):
                register.rename(self.points)

    def _of_question(self, chunk: Chunk) -> Bools:
        ours = np.ones(len(chunk), dtype=bool)
        if "question" in chunk.columns:
            self.questions.code(chunk.columns["question"], ours)
            if self.question is not None:
                return _among(chunk.columns["question"], {self.question})
        return ours

    def _look_at_labels(self, chunk: Chunk, label: AnyArray) -> None:
        """Report labels that are not declared, too long or too many."""
        if self.declared is not None:
            what = "with a label outside the declared set"
            self.places.report(what, "label", chunk, label >= len(self.declared))
            return
        what = f"with a label of more than {LONGEST_LABEL} characters"
        long = [n for text, n in self.labels.codes.items() if len(text) > LONGEST_LABEL]
        self.places.report(what, "label", chunk, np.isin(label, long))
        if len(self.labels.codes) > MOST_LABELS:
            what = f"The data have more than {MOST_LABELS:,} different labels."
            where = f"{chunk.place}, column {self.columns['label']!r}, labels "
            remedy = "This looks like free text or measurements: name the column that holds the "
            problem = Problem(
                what, where + some(self.labels.codes), f"{remedy}labels, or {declare()}."
            )
            raise AnnotationError([*self.places.problems(self.columns), problem])


def _among(column: pa.DictionaryArray, texts: set[str]) -> Bools:
    """Select the rows of a dictionary column with one of some texts."""
    chosen = pc.is_in(column.dictionary, pa.array(sorted(texts), pa.large_string()))
    out: Bools = chosen.to_numpy(zero_copy_only=False)[column.indices.to_numpy()]
    return out


def _marks(columns: Mapping[str, pa.DictionaryArray]) -> AnyArray:
    """Return a hash of annotation id, coder and label per row; 0 without an id."""
    # Hashes have 64 bits, and only rows of one item are compared: the probability of a collision is
    # about 10^-19 per pair.
    from pandas.util import hash_array

    rows = len(columns["label"])
    if "id" not in columns:
        return np.zeros(rows, dtype=np.uint64)
    mark = np.zeros(rows, dtype=np.uint64)
    for role in ("id", "coder", "label"):
        texts = columns[role].dictionary.to_numpy(zero_copy_only=False)
        hashes = hash_array(texts.astype(object), hash_key=role.ljust(16), categorize=False)
        mark += hashes[columns[role].indices.to_numpy()]
    return np.where(_among(columns["id"], {""}), np.uint64(0), np.maximum(mark, np.uint64(1)))
