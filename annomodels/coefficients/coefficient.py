"""What can be known about a coefficient without data: the type of a catalogue entry."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CONVENTION_NAMES", "Coefficient"]

CONVENTION_NAMES = ("krippendorff", "gwet", "pairs", "pairwise", "listwise")


@dataclass(frozen=True)
class Coefficient:
    """What can be known about a coefficient without data.

    Parameters
    ----------
    name
        Its name in tables and calls.
    title
        What to print.
    aliases
        Other names a user may type, in lower case with single underscores.
    expectation
        How the expected disagreement is found, a key of :data:`~.formulas.EXPECTED` or
        :data:`~.formulas.STATISTICS`; None for observed agreement.
    citation, doi
        Where it comes from; no DOI where there is none.
    two_coders_only
        Whether it is defined for exactly two coders.
    two_labels_only
        Whether it is defined for exactly two labels.
    numeric
        Whether the labels have to be numbers.
    instead
        What to ask for when it does not apply.
    by_coder
        Whether it matters which coder gave which label.
    weighted
        Whether it takes distances other than nominal.
    scale_distance
        Whether, without a distance, that of the labels' scale is taken.
    ordinal
        The distance it takes for an ordinal scale.
    margins
        Whether it takes a fixed distribution of the labels from elsewhere.
    chance
        Whether it takes a chance level for every item (and cannot do without).
    each_pair
        Whether it is the mean of the coefficients of all pairs of coders.
    missing
        Conventions for missing labels it knows; the first is used where another is asked for in a
        panel.
    analytic
        Analytic errors and intervals it has, the default first; see
        :meth:`annomodels.Agreement.analytic`.
    implied
        Whether it follows from the joint distribution of coders' labels, and so from a model.
    own
        Name of its statistic in :data:`~.own.OWN` where the tables of label pairs do not suffice.
    """

    name: str
    title: str
    aliases: tuple[str, ...]
    expectation: str | None
    citation: str
    doi: str
    two_coders_only: bool = False
    two_labels_only: bool = False
    numeric: bool = False
    instead: str = ""
    by_coder: bool = False
    weighted: bool = False
    scale_distance: bool = False
    ordinal: str = "quadratic"
    margins: bool = False
    chance: bool = False
    each_pair: bool = False
    missing: tuple[str, ...] = CONVENTION_NAMES
    analytic: tuple[str, ...] = ()
    implied: bool = True
    own: str = ""
