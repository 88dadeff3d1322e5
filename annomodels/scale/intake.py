"""The first look at the rows: names of coders and labels coded as they come, items to buckets."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.validation import LONGEST_LABEL, some
from annomodels.errors import AnnotationError, Problem
from annomodels.scale.chunks import Chunk
from annomodels.scale.places import Places
from annomodels.scale.repeated import marks
from annomodels.scale.spill import Spill

__all__ = ["SILENT", "Intake", "Register"]

Codes = NDArray[np.int32]
# a row without a label has the label -1; one with the m-th label that is no class has SILENT - m
SILENT = -2
MOST_LABELS = 1000


class Register:
    """Names in the order in which they came, each with a number and a count.

    Parameters
    ----------
    names
        Names that are known from the beginning.
    """

    def __init__(self, names: Sequence[Hashable] = ()) -> None:
        self.codes: dict[Any, int] = {name: n for n, name in enumerate(names)}
        self.counts: dict[Any, int] = dict.fromkeys(names, 0)

    def code(self, column: Any) -> tuple[Codes, list[str]]:
        """Give the cells of a text column as numbers, and the distinct texts."""
        coded = column.dictionary_encode()
        values = coded.dictionary.to_pylist()
        here = np.array(
            [self.codes.setdefault(name, len(self.codes)) for name in values], dtype=np.int32
        )
        indices = coded.indices.to_numpy()
        for name, n in zip(values, np.bincount(indices, minlength=len(values)), strict=True):
            self.counts[name] = self.counts.get(name, 0) + int(n)
        return here[indices], values


class Intake:
    """What has been seen of the rows.

    Parameters
    ----------
    spill
        Where rows go.
    columns
        Column of each role, for messages.
    declared
        The declared labels as texts, or None.
    missing
        Texts that stand for no label, besides the empty one.
    question
        The question whose rows count, where there is a column of questions.
    dont_know
        Labels that are no class.
    once
        Whether rows that repeat an annotation id are to be found; see
        :mod:`annomodels.scale.repeated`.
    """

    def __init__(
        self,
        spill: Spill,
        columns: dict[str, str],
        declared: Sequence[str] | None,
        missing: frozenset[str],
        question: str | None = None,
        dont_know: Sequence[str] = (),
        once: bool = False,
    ) -> None:
        self.spill = spill
        self.columns = columns
        self.declared = declared
        self.missing = sorted({"", *missing})
        self.coders = Register()
        self.labels = Register(declared or ())
        self.truths = Register(declared or ())
        self.question = question
        self.questions = Register()
        self.dont_know = Register(dont_know)
        self.answering: set[int] = set()
        self.once = once
        self.skips = 0
        self.rows = 0
        self.places = Places()

    def take(self, chunk: Chunk) -> None:
        """Check, code and spill the rows of a chunk."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not len(chunk):
            return
        columns = chunk.columns
        absent = pa.array(self.missing, pa.large_string())
        others = self._of_others(chunk)
        skipped = ~others & self._of(columns["label"], self.missing)
        blank = {
            role: ~others & pc.equal(columns[role], "").to_numpy(zero_copy_only=False)
            for role in ("item", "coder")
        }
        for role, empty in blank.items():
            self._report(f"without {'an item' if role == 'item' else 'a coder'}", role,
                         chunk, np.flatnonzero(empty & ~skipped))  # fmt: skip
        bad = others | blank["item"] | (blank["coder"] & ~skipped)
        asked = ~bad & ~skipped
        silent = asked & self._of(columns["label"], list(self.dont_know.codes))
        given = np.flatnonzero(asked & ~silent)
        self.skips += int(skipped.sum())
        out: dict[str, NDArray[Any]] = {}
        label = np.full(len(chunk), -1, dtype=np.int32)
        coder = np.zeros(len(chunk), dtype=np.int32)
        taken = pa.array(given)
        label[given], distinct = self.labels.code(columns["label"].take(taken))
        coder[given], _ = self.coders.code(columns["coder"].take(taken))
        self.answering.update(np.unique(coder[given]).tolist())
        if silent.any():
            unknown = pa.array(np.flatnonzero(silent))
            label[silent] = SILENT - self.dont_know.code(columns["label"].take(unknown))[0]
            coder[silent], _ = self.coders.code(columns["coder"].take(unknown))
        self._look_at_labels(chunk, label, distinct)
        kept = np.flatnonzero(~bad)
        out["coder"], out["label"] = coder[kept], label[kept]
        if "gold" in columns:
            known = columns["gold"].take(pa.array(kept))
            gold, _ = self.truths.code(known)
            gold[pc.is_in(known, absent).to_numpy(zero_copy_only=False)] = -1
            out["gold"] = gold
            out["row"] = self.places.number(chunk, kept)
        if self.once:
            out["once"] = marks(columns, kept)
        item = columns["item"].take(pa.array(kept)).dictionary_encode()
        out["item"] = item.indices.to_numpy()
        self.spill.add(item.dictionary, out)
        self.rows += len(chunk)

    def _of(self, column: Any, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Rows whose text is one of some."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not texts:
            return np.zeros(len(column), dtype=bool)
        found = pc.is_in(column, pa.array(texts, pa.large_string()))
        return np.asarray(found.to_numpy(zero_copy_only=False))

    def _of_others(self, chunk: Chunk) -> NDArray[np.bool_]:
        """Rows of other questions than the one that was asked for."""
        if "question" not in chunk.columns:
            return np.zeros(len(chunk), dtype=bool)
        code, _ = self.questions.code(chunk.columns["question"])
        if self.question is None:
            return np.zeros(len(chunk), dtype=bool)
        return np.asarray(code != self.questions.codes.get(self.question, -1))

    def _look_at_labels(self, chunk: Chunk, label: Codes, distinct: list[str]) -> None:
        """Say which labels are not declared, too long or too many."""
        if self.declared is not None:
            self._report("with a label outside the declared set", "label",
                         chunk, np.flatnonzero(label >= len(self.declared)))  # fmt: skip
            return
        long = [self.labels.codes[text] for text in distinct if len(text) > LONGEST_LABEL]
        if long:
            self._report(f"with a label of more than {LONGEST_LABEL} characters", "label",
                         chunk, np.flatnonzero(np.isin(label, long)))  # fmt: skip
        if len(self.labels.codes) > MOST_LABELS:
            what = f"There are more than {MOST_LABELS:,} different labels."
            where = f"{chunk.file}, column {self.columns['label']!r}, labels "
            remedy = (
                "This looks like free text or measurements: name the column that holds the labels, "
                "or declare the labels with labels=[...] (--labels)."
            )
            found = Problem(what, where + some(list(self.labels.codes)), remedy)
            raise AnnotationError([*self.places.problems(self.columns), found])

    def _report(self, what: str, role: str, chunk: Chunk, at: NDArray[np.int64]) -> None:
        if len(at):
            self.places.report(what, role, chunk, at)
