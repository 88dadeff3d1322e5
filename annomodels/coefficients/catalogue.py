"""The coefficients as data: what each is called, what it needs, where it comes from."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from annomodels.errors import NotApplicable

__all__ = ["COEFFICIENTS", "CONVENTION_NAMES", "Coefficient", "find", "panel_names"]

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
        How the expected disagreement is found, a key of :data:`~.formulas.EXPECTED`; None for
        observed agreement.
    citation, doi
        Where it comes from.
    two_coders_only
        Whether it is defined for exactly two coders.
    instead
        What to ask for when it does not apply.
    by_coder
        Whether it matters which coder gave which label.
    weighted
        Whether it takes distances other than nominal.
    scale_distance
        Whether, without a distance, that of the labels' scale is taken.
    each_pair
        Whether it is the mean of the coefficients of all pairs of coders.
    missing
        Conventions for missing labels it knows; the first is used where another is asked for in a
        panel.
    """

    name: str
    title: str
    aliases: tuple[str, ...]
    expectation: str | None
    citation: str
    doi: str
    two_coders_only: bool = False
    instead: str = ""
    by_coder: bool = False
    weighted: bool = False
    scale_distance: bool = False
    each_pair: bool = False
    missing: tuple[str, ...] = CONVENTION_NAMES


_LIST = (
    Coefficient(
        "percent",
        "Observed agreement",
        ("observed", "observed_agreement", "percent_agreement", "raw", "a_o", "ao", "agreement"),
        None,
        "Artstein & Poesio 2008",
        "10.1162/coli.07-034-R2",
    ),
    Coefficient(
        "s",
        "Bennett's S",
        (
            "bennett",
            "bennett_s",
            "brennan_prediger",
            "bp",
            "randolph",
            "randolph_kappa",
            "free_marginal",
            "free_marginal_kappa",
            "pabak",
            "kappa_n",
        ),
        "uniform",
        "Bennett, Alpert & Goldstein 1954",
        "10.1086/266520",
        weighted=True,
    ),
    Coefficient(
        "pi",
        "Scott's pi",
        ("scott", "scott_pi"),
        "pooled",
        "Scott 1955",
        "10.1086/266577",
        two_coders_only=True,
        instead="k",
        weighted=True,
    ),
    Coefficient(
        "k",
        "Fleiss' kappa (K)",
        (
            "fleiss",
            "fleiss_kappa",
            "multi_pi",
            "siegel_castellan",
            "siegel_castellan_k",
            "carletta",
            "carletta_k",
        ),
        "pooled",
        "Fleiss 1971",
        "10.1037/h0031619",
        weighted=True,
    ),
    Coefficient(
        "kappa",
        "Cohen's kappa",
        ("cohen", "cohen_kappa"),
        "between",
        "Cohen 1960",
        "10.1177/001316446002000104",
        two_coders_only=True,
        instead="multi_kappa, k or light_kappa",
        by_coder=True,
    ),
    Coefficient(
        "multi_kappa",
        "Multi-kappa",
        ("davies_fleiss", "hubert", "conger", "conger_kappa", "exact_kappa", "fleiss_exact"),
        "between",
        "Davies & Fleiss 1982",
        "10.2307/2529886",
        by_coder=True,
        weighted=True,
    ),
    Coefficient(
        "light_kappa",
        "Light's kappa",
        ("light", "mean_pairwise_kappa"),
        "between",
        "Light 1971",
        "10.1037/h0031643",
        by_coder=True,
        weighted=True,
        each_pair=True,
        missing=("pairwise", "listwise"),
    ),
    Coefficient(
        "weighted_kappa",
        "Weighted kappa",
        ("kappa_w", "cohen_weighted_kappa"),
        "between",
        "Cohen 1968",
        "10.1037/h0026256",
        two_coders_only=True,
        instead="alpha_kappa",
        by_coder=True,
        weighted=True,
        scale_distance=True,
    ),
    Coefficient(
        "alpha",
        "Krippendorff's alpha",
        ("krippendorff", "krippendorff_alpha", "kalpha", "k_alpha"),
        "without_replacement",
        "Krippendorff 2004",
        "10.1111/j.1468-2958.2004.tb00738.x",
        weighted=True,
        scale_distance=True,
        missing=("krippendorff", "listwise"),
    ),
    Coefficient(
        "alpha_kappa",
        "Alpha with a margin for each coder",
        ("beta", "alpha_beta", "weighted_multi_kappa"),
        "between",
        "Artstein & Poesio 2008",
        "10.1162/coli.07-034-R2",
        by_coder=True,
        weighted=True,
        scale_distance=True,
    ),
    Coefficient(
        "ac1",
        "Gwet's AC1",
        ("gwet", "gwet_ac1", "gamma"),
        "gwet",
        "Gwet 2008",
        "10.1348/000711006X126600",
    ),
    Coefficient(
        "ac2",
        "Gwet's AC2",
        ("gwet_ac2",),
        "gwet",
        "Gwet 2008",
        "10.1348/000711006X126600",
        weighted=True,
        scale_distance=True,
    ),
    Coefficient(
        "irsq",
        "van Oest's I_r^2",
        ("van_oest", "van_oest_irsq", "i_r_squared"),
        "smoothed",
        "van Oest 2019",
        "10.1037/met0000183",
        weighted=True,
    ),
)

COEFFICIENTS: dict[str, Coefficient] = {entry.name: entry for entry in _LIST}
"""All coefficients by name."""

_BY_ALIAS = {alias: entry for entry in _LIST for alias in (entry.name, *entry.aliases)}

_GREEK = {"κ": "kappa", "α": "alpha", "π": "pi", "β": "beta", "γ": "gamma"}


def _plain(name: str) -> str:
    """Lower case, Greek spelt out, "Cohen's kappa" -> "cohen_kappa"."""
    text = name.strip().lower()
    for letter, word in _GREEK.items():
        text = text.replace(letter, word)
    text = re.sub(r"['’]s?(?=\W|$)", "", text)
    return re.sub(r"[\W_]+", "_", text).strip("_")


def find(name: str) -> Coefficient:
    """Look a coefficient up by its name or an alias.

    Parameters
    ----------
    name
        Any spelling: capitals, blanks, hyphens and a genitive do not matter.

    Raises
    ------
    NotApplicable
        When no coefficient has this name.

    Examples
    --------
    >>> find("Fleiss' kappa").name, find("Cohen's κ").name
    ('k', 'kappa')
    """
    plain = _plain(name)
    if plain in _BY_ALIAS:
        return _BY_ALIAS[plain]
    near = difflib.get_close_matches(plain, _BY_ALIAS, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise NotApplicable(
        f"There is no coefficient called {name!r}.{hint} Use one of {', '.join(COEFFICIENTS)}."
    )


def panel_names(scale: str) -> tuple[str, ...]:
    """Coefficients that a panel shows for labels of a scale.

    Examples
    --------
    >>> panel_names("nominal")
    ('percent', 's', 'pi', 'k', 'kappa', 'multi_kappa', 'alpha', 'ac1')
    """
    names = ("percent", "s", "pi", "k", "kappa", "multi_kappa", "alpha", "ac1")
    return names if scale == "nominal" else (*names, "weighted_kappa", "alpha_kappa", "ac2")
