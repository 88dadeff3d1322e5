"""Mentions, their candidates, and which of them coders accepted."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from annomodels.data.html import Html
from annomodels.data.validation import counted
from annomodels.types import Ints

NONE = "none of these"


@dataclass(frozen=True, eq=False, repr=False)
class Candidates(Html):
    """Mentions, their candidates and the decisions of coders on them.

    :func:`annomodels.coref.pairs` makes it.
    """

    # fields that are arrays, with the dimensions that a tree of results keeps them along
    dims: ClassVar[dict[str, tuple[str, ...]]] = {
        "firsts": ("mention_border",),
        "starts": ("candidate_border",),
        **dict.fromkeys(("coder", "accepted"), ("decision",)),
        "cls": ("candidate",),
    }

    items: tuple[str, ...]  # names of the mentions, of the coders, and of the classes of labels
    coders: tuple[str, ...]
    classes: tuple[str, ...]
    labels: tuple[str, ...]  # name of each candidate; candidates of a mention are contiguous
    # first candidate of each mention, and the number of candidates, shape [mention + 1]
    firsts: Ints
    # first decision on each candidate, and the number of decisions, shape [candidate + 1]
    starts: Ints
    coder: Ints  # deciding coder, and 1 for yes or 0 for no, shape [decision]
    accepted: Ints
    cls: Ints  # class of each candidate

    @property
    def n_items(self) -> int:
        """Number of mentions."""
        return len(self.items)

    @property
    def n_coders(self) -> int:
        """Number of coders."""
        return len(self.coders)

    @property
    def n_labels(self) -> int:
        """Number of classes of labels."""
        return len(self.classes)

    @property
    def coords(self) -> dict[str, list[str]]:
        """Names along the dimensions of a result, by dimension; a label is known by its class."""
        return {"item": [*self.items], "coder": [*self.coders], "label": [*self.classes]}

    @property
    def case(self) -> tuple[Ints, ...]:
        """Codes as the kernels take them."""
        return self.firsts, self.starts, self.coder, self.accepted, self.cls

    @property
    def mention(self) -> Ints:
        """Mention of each candidate."""
        return np.repeat(np.arange(len(self.items)), np.diff(self.firsts))

    @property
    def candidate(self) -> Ints:
        """Candidate of each decision."""
        return np.repeat(np.arange(len(self.labels)), np.diff(self.starts))

    @property
    def votes(self) -> Ints:
        """Number of coders who accepted each candidate."""
        return np.bincount(self.candidate, self.accepted, len(self.labels)).astype(np.int64)

    def judged(self) -> Ints:
        """Count the coders of each mention."""
        return np.asarray(np.diff(self.starts)[self.firsts[:-1]])

    @property
    def per_coder(self) -> Ints:
        """Number of mentions that each coder judged, shape [coder]."""
        first = np.isin(self.candidate, self.firsts[:-1])
        return np.bincount(self.coder[first], minlength=len(self.coders))

    @cached_property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that change when the data change."""
        digest = hashlib.sha256(repr((self.items, self.coders, self.classes, self.labels)).encode())
        for codes in self.case:
            digest.update(codes.tobytes())
        return digest.hexdigest()[:12]

    def with_none(self) -> Candidates:
        """Copy in which "none of these" is the last candidate of each mention; nobody decides."""
        ends = self.firsts[1:]
        return replace(
            self,
            classes=(*self.classes, NONE),
            labels=tuple(np.insert(np.array(self.labels, dtype=object), ends, NONE)),
            firsts=self.firsts + np.arange(len(self.firsts)),
            starts=np.insert(self.starts, ends, self.starts[ends]),
            cls=np.insert(self.cls, ends, len(self.classes)),
        )

    def __repr__(self) -> str:
        sizes = counted(len(self.items), "mention"), counted(len(self.coders), "coder")
        rest = counted(len(self.labels), "candidate"), counted(len(self.coder), "decision")
        return " · ".join((" × ".join(sizes), *rest))


def class_of(label: str) -> str:
    """Return the class of a label: the text before the bracket.

    >>> class_of("DO(3-4)"), class_of("DN()"), class_of("expletive")
    ('DO', 'DN', 'expletive')
    """
    return label.split("(", 1)[0] if label.endswith(")") else label


def antecedents_of(label: str) -> tuple[str, ...]:
    """Return the names of the antecedents in a label, if any.

    >>> antecedents_of("DO(3&7-8)"), antecedents_of("DN()")
    (('3', '7-8'), ())
    """
    inside = label.split("(", 1)[1][:-1] if label.endswith(")") and "(" in label else ""
    return tuple(inside.split("&")) if inside else ()
