"""Catalogue of coefficients: names, requirements and sources."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from annomodels.errors import NotApplicable, Verb, meant

CONVENTION_NAMES = ("krippendorff", "gwet", "pairs", "pairwise", "listwise")


@dataclass(frozen=True)
class Coefficient:
    name: str  # its name in tables and calls
    title: str  # name in print
    aliases: tuple[str, ...]  # other names a user may type, in lower case with underscores
    citation: str
    doi: str = ""
    # method for the expected disagreement, a key of :data:`~.formulas.EXPECTED` or
    # :data:`~.formulas.STATISTICS`; None for observed agreement
    expectation: str | None = None
    two_coders_only: bool = False
    two_labels_only: bool = False
    numeric: bool = False  # whether the labels must be numbers
    instead: str | Verb = ""  # alternative when it does not apply
    by_coder: bool = False  # whether it matters which coder gave which label
    weighted: bool = False  # whether it accepts distances other than nominal
    scale_distance: bool = False  # whether the default distance is that of the label scale
    ordinal: str = "quadratic"  # default distance for an ordinal scale
    margins: bool = False  # whether it accepts an external label distribution
    chance: bool = False  # whether it requires a chance level for every item
    each_pair: bool = False  # whether it is the mean of the coefficients of all pairs of coders
    # supported conventions for missing labels; the first replaces an unsupported one in a
    # panel
    missing: tuple[str, ...] = CONVENTION_NAMES
    # whether the joint distribution of coders' labels, and so a model, determines it
    implied: bool = True

    @property
    def analytic(self) -> bool:
        """True if Gwet's linearized error is available."""
        known = (None, "uniform", "pooled", "without_replacement", "between", "gwet")
        return self.expectation in known and not self.each_pair and not self.chance


def _read() -> dict[str, Coefficient]:
    text = Path(__file__).with_suffix(".toml").read_text("utf-8")
    out = {}
    for name, row in tomllib.loads(text).items():
        values: dict[str, Any] = {
            key: tuple(x) if isinstance(x, list) else x for key, x in row.items()
        }
        if isinstance(values.get("instead"), tuple):
            values["instead"] = Verb(*values["instead"])
        out[name] = Coefficient(name, **values)
    return out


COEFFICIENTS = _read()
"""All coefficients by name."""

UNITIZING, SPAN_F1 = COEFFICIENTS.pop("alpha_u"), COEFFICIENTS.pop("span_f1")
"""The coefficients of :mod:`annomodels.coefficients` whose data are marked spans, not labels."""

_BY_ALIAS = {
    alias: entry for entry in COEFFICIENTS.values() for alias in (entry.name, *entry.aliases)
}

_GREEK = {"κ": "kappa", "α": "alpha", "π": "pi", "β": "beta", "γ": "gamma", "²": "2"}

# Affixes in the class and function names of other libraries.
_AFFIXES = re.compile(
    r"_(raw|table|dist|score|coefficient|coeff|agreement|measure|statistic|index|est|value)$"
)

_ELSEWHERE = {
    "icc": (
        "'icc' can mean six coefficients. For one label each: icc_1 (coders differ from item to "
        "item), icc_a1 (absolute agreement), icc_c1 (consistency); the mean of the coders' "
        "labels: icc_1k, icc_ak, icc_ck."
    ),
    "alphau": (
        "Alpha for units on a continuum needs marked units, not labels of items. Use "
        "annomodels.coefficients.alpha_u(annomodels.coefficients.Units.from_records(...))."
    ),
}
_ELSEWHERE |= {
    "ualpha": _ELSEWHERE["alphau"],
    "unitizingalpha": _ELSEWHERE["alphau"],
    "krippendorffalphaunitizing": _ELSEWHERE["alphau"],
}


def plain(name: str) -> str:
    """Normalize a name: lower case, Greek spelled out, "Cohen's kappa" -> "cohen_kappa"."""
    text = name.strip().lower()
    for letter, word in _GREEK.items():
        text = text.replace(letter, word)
    text = re.sub(r"['’]s?(?=\W|$)", "", text)
    return re.sub(r"[\W_]+", "_", text).strip("_")


def _bare(name: str) -> str:
    """Return a name without blanks and the affixes of other libraries."""
    while (shorter := _AFFIXES.sub("", name)) != name:
        name = shorter
    name = name.replace("_", "")
    return name.removesuffix("agreement") or name


_BY_BARE = {_bare(alias): entry for alias, entry in _BY_ALIAS.items()}


def find(name: str) -> Coefficient:
    if not isinstance(name, str):
        raise NotApplicable(f"A coefficient is chosen by its name, and {name!r} is not a name.")
    given = plain(name)
    if given in _BY_ALIAS:
        return _BY_ALIAS[given]
    for bare in (_bare(given), _bare(re.sub(r"s_", "_", given))):
        if bare in _ELSEWHERE:
            raise NotApplicable(_ELSEWHERE[bare])
        if bare in _BY_BARE:
            return _BY_BARE[bare]
    hint = f"{meant(given, _BY_ALIAS)}Use one of {', '.join(COEFFICIENTS)}."
    raise NotApplicable(f"Unknown coefficient {name!r}. {hint}")


def panel_names(scale: str) -> tuple[str, ...]:
    nominal = "percent s pi k kappa multi_kappa alpha ac1"
    ordered = f"{nominal} weighted_kappa alpha_kappa ac2"
    chosen = {"nominal": nominal, "ordinal": ordered}
    return tuple(chosen.get(scale, f"{ordered} icc_1 icc_a1 icc_c1").split())


def table() -> pd.DataFrame:
    """List the agreement coefficients and their requirements.

    Returns
    -------
    One row for each coefficient, with the columns

    * ``coefficient``, ``title``, ``aliases``: name for :func:`annomodels.agreement`, name in
      print, and other accepted names;
    * ``coders``: "2" or "2 or more"; ``labels``: "any", "two" or "numbers";
    * ``distance``: "any", "nominal" or "interval"; ``missing``: conventions for missing labels,
      the default first;
    * ``margins``, ``chance``: whether it accepts an external distribution of labels, and whether it
    requires a chance level for each item;
    * ``draws``, ``model``: whether it has a sampling posterior, and whether it follows from the
      draws of a fitted model;
    * ``analytic``: whether it has an analytic error, see
      :meth:`annomodels.coefficients.result.Agreement.analytic`;
    * ``citation``, ``doi``: its source.

    Examples
    --------
    >>> import annomodels as am
    >>> listed = am.coefficients.table().set_index("coefficient")
    >>> listed.loc["kappa", ["coders", "distance", "missing"]].tolist()
    ['2', 'nominal', 'krippendorff, gwet, pairs, pairwise, listwise']
    """
    rows = [
        {
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
            "analytic": entry.analytic,
            "aliases": ", ".join(entry.aliases),
            "citation": entry.citation,
            "doi": entry.doi,
        }
        for entry in COEFFICIENTS.values()
    ]
    return pd.DataFrame(rows)
