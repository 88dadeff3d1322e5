"""What each coefficient takes, as a table that can be asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.coefficients.coefficient import Coefficient

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["coefficients"]


def coefficients() -> pd.DataFrame:
    """List the agreement coefficients and what each of them takes.

    Returns
    -------
    One row for each coefficient, with the columns

    * ``coefficient``, ``title``, ``aliases``: name for :func:`annomodels.agreement`, name in
      print, and other names that are understood;
    * ``coders``: "2" or "2 or more"; ``labels``: "any", "two" or "numbers";
    * ``distance``: "any", "nominal" or "interval"; ``missing``: conventions for missing labels,
      the default first;
    * ``margins``, ``chance``: whether it takes a distribution of labels from elsewhere, or (and
      then needs) a chance level for every item;
    * ``draws``, ``model``: whether it has a sampling posterior, and whether it follows from the
      draws of a fitted model;
    * ``analytic``: methods of :meth:`annomodels.Agreement.analytic`, the default first;
    * ``citation``, ``doi``: where it comes from.

    Examples
    --------
    >>> import annomodels as am
    >>> table = am.coefficients().set_index("coefficient")
    >>> table.loc["kappa", ["coders", "distance", "analytic"]].tolist()
    ['2', 'nominal', 'fleiss_cohen_everitt, gwet, gwet_table']
    """
    import pandas as pd

    return pd.DataFrame([_row(entry) for entry in COEFFICIENTS.values()])


def _row(entry: Coefficient) -> dict[str, object]:
    return {
        "coefficient": entry.name,
        "title": entry.title,
        "coders": "2" if entry.two_coders_only else "2 or more",
        "labels": "numbers" if entry.numeric else "two" if entry.two_labels_only else "any",
        "distance": "interval" if entry.numeric else "any" if entry.weighted else "nominal",
        "missing": ", ".join(entry.missing),
        "margins": entry.margins,
        "chance": entry.chance,
        "draws": True,
        "model": entry.implied,
        "analytic": ", ".join(entry.analytic),
        "aliases": ", ".join(entry.aliases),
        "citation": entry.citation,
        "doi": entry.doi,
    }
