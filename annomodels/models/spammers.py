"""Spammers: items have one class and no more, coders are of two kinds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from annomodels.models.conjugate import ConjugateModel
from annomodels.models.kinds import HonestAndSpammers
from annomodels.models.layout import Layout
from annomodels.models.mixture import StateModel

__all__ = ["Spammers"]


@dataclass(frozen=True)
class Spammers(StateModel):
    """Hierarchical Dawid-Skene with spammers among the coders.

    Items are as in Dawid-Skene; :class:`~annomodels.models.kinds.HonestAndSpammers` says how
    coders label.

    Parameters
    ----------
    coders
        How coders label.

    Examples
    --------
    >>> Spammers().layout(3).names
    ('0', '1', '2')
    """

    name: ClassVar[str] = "spammers"
    title: ClassVar[str] = "honest coders and spammers"
    citation: ClassVar[str] = "Raykar and Yu (2012)"

    coders: ConjugateModel = field(default_factory=HonestAndSpammers)

    def layout(self, n_labels: int) -> Layout:
        """Give the states of the items: the classes."""
        eye = np.eye(n_labels)
        return Layout(tuple(map(str, range(n_labels))), eye, np.arange(n_labels), eye)

    def describe(self) -> list[str]:
        """Story and priors in sentences."""
        return self.coders.describe()
