"""Result of a scan: sizes, names of coders and labels, blocks of coded labels on disk."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from annomodels.data.annotations import Annotations, Scale
from annomodels.data.html import Html
from annomodels.data.validation import counted, per_item
from annomodels.engines.source.blocks import Block, Stored, items_path, mapped
from annomodels.engines.source.disk import Keeper
from annomodels.engines.source.partition import ItemSource, Partition
from annomodels.errors import EngineError
from annomodels.scale.shell import Shell
from annomodels.types import Ints

VERSION = 8
ABOUT = "scan.json"
# fields that are counted while the columns are written
ARRAYS = ("per_coder", "per_label", "repeated_pairs", "repeats_agree", "unanswered")
COUNTS = (
    *ARRAYS, "repeats", "conflicts", "shared_items", "compared_items", "components", "fewest",
    "most", "n_gold",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Scanned(Html):
    """Labels that are coded and sorted on disk, ready for a fit block by block.

    Made by :func:`annomodels.scan`; fitted with :func:`annomodels.fit`. Memory contains the names
    of coders and labels and three counts per coder; items are in the folder.

    Parameters
    ----------
    folder
        Folder of the blocks.
    coders, labels
        Names, sorted as :class:`annomodels.Annotations` sorts them.
    scale, declared
        Scale of the labels, and whether they were declared.
    blocks
        Sizes of the blocks.
    per_coder, per_label
        Number of labels of each coder [coder], and number of uses of each label [label].
    repeated_pairs, repeats_agree
        Label pairs of a coder on the same item, and number of equal pairs, shape [coder].
    repeats, conflicts
        Labels by a coder who had labeled the item before, and those that differ from the previous
        label.
    shared_items, compared_items
        Number of items with two or more coders, and of items with two labels or known truth.
    components
        Number of groups of coders that share no item.
    fewest, most
        Minimum and maximum number of labels per item.
    n_gold
        Number of items with known truth.
    skips
        Rows without a label.
    source, notes
        Origin of the labels, and notes from reading.
    fingerprint
        A string that changes when the files change.
    dont_know
        Labels that are not classes, as strings.
    unanswered
        Number of times that each coder gave each of them, shape [kind, coder].
    """

    folder: Path
    coders: tuple[str, ...]
    labels: tuple[Hashable, ...]
    scale: Scale
    declared: bool
    blocks: tuple[Block, ...]
    per_coder: Ints
    per_label: Ints
    repeated_pairs: Ints
    repeats_agree: Ints
    repeats: int
    conflicts: int
    shared_items: int
    compared_items: int
    components: int
    fewest: int
    most: int
    n_gold: int
    skips: int
    source: str
    notes: tuple[str, ...]
    fingerprint: str
    dont_know: tuple[str, ...] = ()
    unanswered: Ints = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    # removes a temporary folder when it is no longer needed
    _keeper: Keeper | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return self.n_annotations

    @property
    def n_annotations(self) -> int:
        """Number of labels given."""
        return int(self.per_coder.sum())

    @property
    def n_items(self) -> int:
        """Number of items."""
        last = self.blocks[-1]
        return last.first + last.n_items

    @property
    def n_coders(self) -> int:
        """Number of coders."""
        return len(self.coders)

    @property
    def n_labels(self) -> int:
        """Size of the label set."""
        return len(self.labels)

    @cached_property
    def n_bytes(self) -> int:
        """Bytes of the blocks on disk."""
        files = [p for p in self.folder.rglob("*") if p.is_file()]
        return sum(path.stat().st_size for path in files)

    def without_dont_know(self) -> Scanned:
        """Return a copy in which labels that are not classes are missing, also for models."""
        if not self.dont_know:
            return self
        none = np.zeros((0, self.n_coders), dtype=np.int64)
        name = f"{self.fingerprint} without {self.dont_know}"
        digest = hashlib.sha256(name.encode()).hexdigest()[:12]
        return dataclasses.replace(self, dont_know=(), unanswered=none, fingerprint=digest)

    def sources(
        self, shared: bool = False, scratch: str = "", unanswered: bool = False
    ) -> ItemSource:
        """Return the blocks as a source for engines, with `unanswered` all labels."""
        n_codes = self.n_labels + (len(self.dont_know) if unanswered else 0)
        partitions = [
            Partition(
                block.first, block.n_items, block.n_annotations,
                Stored(
                    str(self.folder), block.first, block.first + block.n_items,
                    self.n_coders, self.n_labels, n_codes, shared,
                ),
                number, scratch,
            )
            for number, block in enumerate(self.blocks)
        ]  # fmt: skip
        return ItemSource(
            partitions,
            n_items=self.n_items,
            n_labels=self.n_labels,
            n_annotations=self.n_annotations + unanswered * int(self.unanswered.sum()),
            volume=np.ones(1) if shared else self.per_coder / self.n_annotations,
            has_gold=self.n_gold > 0,
        )

    def shell(self) -> Shell:
        """Return coders and labels as annotations without items, for summaries by coder."""
        none = np.zeros(0, dtype=np.int32)
        return Shell(
            item=none, coder=none, label=none, items=(), coders=self.coders, labels=self.labels,
            scale=self.scale, declared=self.declared, source=self.source, notes=self.notes,
            counts=self.per_coder, repeated=(self.repeated_pairs, self.repeats_agree),
            n_repeats=self.repeats, dont_know=self.dont_know,
            unanswered=np.zeros((0, 3), dtype=np.int32) if self.dont_know else None,
        )  # fmt: skip

    def to_annotations(self) -> Annotations:
        """Load all labels into memory.

        Returns
        -------
        Annotations
            The same data as from :func:`annomodels.read`.
        """
        import pyarrow.parquet as pq

        names = pq.read_table(items_path(self.folder), columns=["item"])["item"]
        per_item = np.diff(mapped(self.folder, "starts"))
        item = np.repeat(np.arange(self.n_items, dtype=np.int32), per_item)
        coder, label = (mapped(self.folder, name) for name in ("coder", "label"))
        votes = label < self.n_labels
        none = (values[~votes] for values in (item, coder, label - self.n_labels))
        return Annotations(
            item=item[votes],
            coder=coder[votes],
            label=label[votes],
            items=tuple(names.to_pylist()),
            coders=self.coders,
            labels=self.labels,
            scale=self.scale,
            declared=self.declared,
            gold=mapped(self.folder, "gold").copy() if self.n_gold else None,
            skips=self.skips,
            source=self.source,
            notes=self.notes,
            dont_know=self.dont_know,
            unanswered=np.column_stack([*none]) if self.dont_know else None,
        )

    def __repr__(self) -> str:
        sizes = (self.n_items, "item"), (self.n_coders, "coder"), (self.n_labels, "label")
        parts = [
            " × ".join(counted(*size) for size in sizes),
            counted(self.n_annotations, "annotation"),
            per_item(self.fewest, self.most),
        ]
        if self.repeats:
            parts.append(f"{counted(self.repeats, 'repeat')} ({self.conflicts:,} differ)")
        if self.scale != "nominal":
            parts.append(self.scale)
        if self.dont_know:
            parts.append(f"{int(self.unanswered.sum()):,} times {'/'.join(self.dont_know)}")
        if self.n_gold:
            parts.append(f"{self.n_gold:,} known gold")
        parts.append(f"{counted(len(self.blocks), 'block')} on disk, {self.n_bytes / 1e6:,.1f} MB")
        return " · ".join(parts)


def _saved() -> list[str]:
    fields = [field.name for field in dataclasses.fields(Scanned)]
    return [name for name in fields if name not in ("folder", "_keeper")]


def save_scan(scanned: Scanned) -> None:
    """Write the fields of a scan to a file next to the columns, after their checksum."""
    about: dict[str, Any] = {"version": VERSION, "sums": checksums(scanned.folder)}
    for name in _saved():
        value = getattr(scanned, name)
        about[name] = value.tolist() if isinstance(value, np.ndarray) else value
    about["blocks"] = [dataclasses.astuple(block) for block in scanned.blocks]
    text = json.dumps(about)
    (scanned.folder / ABOUT).write_text(f"{_checksum(text.encode())}\n{text}", "utf-8")


def is_whole(folder: Path) -> bool:
    """Return True if the columns of a folder are unchanged."""
    return bool(_fields(folder).get("sums") == checksums(folder))


def _fields(folder: Path) -> dict[str, object]:
    """Return the fields of the scan of a folder, if they are as :func:`save_scan` wrote them."""
    said, _, text = (folder / ABOUT).read_bytes().partition(b"\n")
    if said != _checksum(text).encode():
        raise ValueError("the fields were changed")
    about: dict[str, object] = json.loads(text)
    return about


def _checksum(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def checksums(folder: Path) -> dict[str, str]:
    """Return the checksum of each file but that of the fields."""
    sums = {}
    for path in sorted(p for p in folder.rglob("*.*") if p.name != ABOUT and p.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "blake2b").hexdigest()
        sums[path.relative_to(folder).as_posix()] = digest
    return sums


def load_scan(folder: Path, keeper: Keeper | None = None) -> Scanned:
    """Load the scan of a folder."""
    try:
        about = _fields(folder)
        if about.pop("version") != VERSION:
            raise EngineError(f"{folder} was written by another version: scan again.")
        values: dict[str, Any] = {name: about[name] for name in _saved()}
        values["blocks"] = tuple(Block(*sizes) for sizes in values["blocks"])
    except (OSError, ValueError, KeyError) as error:
        raise EngineError(f"{folder} holds no scan.") from error
    for name in ("coders", "labels", "notes", "dont_know"):
        values[name] = tuple(values[name])
    for name in ARRAYS:
        values[name] = np.array(values[name], dtype=np.int64)
    values["unanswered"] = values["unanswered"].reshape(-1, len(values["coders"]))
    return Scanned(folder=folder, _keeper=keeper, **values)
