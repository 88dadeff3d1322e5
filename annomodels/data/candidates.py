"""Mentions, their candidates, and which of them coders accepted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annomodels.types import Ints

NONE = "none of these"


@dataclass(frozen=True)
class Candidates:
    """Mentions, their candidates and the decisions of coders on them.

    Parameters
    ----------
    items, coders, classes
        Names of the mentions, of the coders, and of the classes of labels.
    labels
        Name of each candidate; those of a mention stand side by side.
    firsts
        First candidate of each mention, and the number of candidates, shape [mention + 1].
    starts
        First decision on each candidate, and the number of decisions, shape [candidate + 1].
    coder, accepted
        Who decided, and 1 for yes or 0 for no, shape [decision].
    cls
        Class of each candidate.
    """

    items: tuple[str, ...]
    coders: tuple[str, ...]
    classes: tuple[str, ...]
    labels: tuple[str, ...]
    firsts: Ints
    starts: Ints
    coder: Ints
    accepted: Ints
    cls: Ints

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
        """How many coders accepted each candidate."""
        return np.bincount(self.candidate, self.accepted, len(self.labels)).astype(np.int64)

    def judged(self) -> Ints:
        """Count the coders of each mention."""
        return np.asarray(np.diff(self.starts)[self.firsts[:-1]])

    def workload(self) -> Ints:
        """Count the mentions of each coder."""
        first = np.isin(self.candidate, self.firsts[:-1])
        return np.bincount(self.coder[first], minlength=len(self.coders))


def class_of(label: str) -> str:
    """Class of a label: what stands before its bracket.

    Examples
    --------
    >>> class_of("DO(3-4)"), class_of("DN()"), class_of("expletive")
    ('DO', 'DN', 'expletive')
    """
    return label.split("(", 1)[0] if label.endswith(")") else label


def antecedents_of(label: str) -> tuple[str, ...]:
    """Names of the antecedents in a label; none if it does not point at anything.

    Examples
    --------
    >>> antecedents_of("DO(3&7-8)"), antecedents_of("DN()")
    (('3', '7-8'), ())
    """
    inside = label.split("(", 1)[1][:-1] if label.endswith(")") and "(" in label else ""
    return tuple(inside.split("&")) if inside else ()
