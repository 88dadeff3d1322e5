"""Packages for Python: NLTK, scikit-learn, statsmodels, krippendorff, pingouin."""

from __future__ import annotations

from annomodels.coefficients.elsewhere.row import COMPLETE, Elsewhere

__all__ = ["IN_PYTHON"]

_NLTK: tuple[Elsewhere, ...] = (
    Elsewhere(
        "NLTK",
        "AnnotationTask(data).avg_Ao()",
        "percent",
        differs="Divides by all items, so items that one of two coders left out count as "
        "disagreement.",
        confirmed=("percent_agreement",),
    ),
    Elsewhere(
        "NLTK",
        "AnnotationTask(data).S()",
        "s",
        differs="Its label set is the labels in use: declare nothing, or S differs.",
        confirmed=("bennett_s",),
    ),
    Elsewhere(
        "NLTK",
        "AnnotationTask(data).pi()",
        "k",
        differs=f"Scott's pi with two coders, Fleiss' kappa (K) with more. {COMPLETE}",
        confirmed=("fleiss_kappa", "scott_pi"),
    ),
    Elsewhere(
        "NLTK",
        "AnnotationTask(data).kappa()",
        "light_kappa",
        differs="Cohen's kappa with two coders; with more the mean over the pairs (Light), which "
        f"is not multi_kappa. {COMPLETE}",
        confirmed=("cohen_kappa",),
    ),
    Elsewhere(
        "NLTK",
        "AnnotationTask(data).multi_kappa()",
        "multi_kappa",
        differs=f"Davies & Fleiss, never Fleiss' kappa. {COMPLETE}",
        confirmed=("multi_kappa",),
    ),
    Elsewhere(
        "NLTK",
        "AnnotationTask(data, distance=...).alpha()",
        "alpha",
        "distance=...",
        "any",
        differs="Gives 1 where all labels are the same; alpha is 0/0 there. Its Jaccard and MASI "
        "distances stop with an error where both sets are empty.",
        confirmed=("krippendorff_alpha",),
    ),
    Elsewhere(
        "NLTK",
        "AnnotationTask(data, distance=...).weighted_kappa()",
        "light_kappa",
        "distance=...",
        "any",
        differs="Mean over the pairs, as its kappa(); with two coders weighted_kappa.",
        basis="source",
    ),
)

_OTHERS: tuple[Elsewhere, ...] = (
    Elsewhere(
        "scikit-learn",
        "cohen_kappa_score(y1, y2)",
        "kappa",
        differs="NaN with a warning where both coders gave one and the same label.",
        confirmed=("cohen_kappa",),
    ),
    Elsewhere(
        "scikit-learn",
        'cohen_kappa_score(y1, y2, weights="linear")',
        "weighted_kappa",
        'distance="rank_linear"',
        "rank_linear",
        differs='Weights go by the place of a label in the list, not by its value; "quadratic" is '
        'distance="rank_quadratic".',
        confirmed=("weighted_kappa",),
    ),
    Elsewhere(
        "statsmodels",
        "cohens_kappa(table).kappa",
        "kappa",
        differs="Takes a table of counts: labels fed to it as they are give a wrong number.",
        confirmed=("cohen_kappa",),
    ),
    Elsewhere(
        "statsmodels",
        'cohens_kappa(table, wt="linear").kappa',
        "weighted_kappa",
        'distance="rank_linear"',
        "rank_linear",
        differs="weights=[...] gives the labels other values.",
        confirmed=("weighted_kappa",),
    ),
    Elsewhere(
        "statsmodels",
        "fleiss_kappa(counts)",
        "k",
        differs="Takes counts [item, label], see aggregate_raters, and the same number of labels "
        "on every item.",
        confirmed=("fleiss_kappa",),
    ),
    Elsewhere(
        "statsmodels",
        'fleiss_kappa(counts, method="randolph")',
        "s",
        confirmed=("randolph_kappa",),
    ),
    Elsewhere(
        "krippendorff",
        'alpha(reliability_data, level_of_measurement="nominal")',
        "alpha",
        "distance=...",
        "any",
        differs='Without level_of_measurement it takes "interval".',
        confirmed=("krippendorff_alpha",),
    ),
    Elsewhere(
        "pingouin",
        'intraclass_corr(...), type ICC2, now "ICC(A,1)"',
        "icc_a1",
        differs="ICC1 is icc_1 and ICC3 is icc_c1; with a k, icc_1k, icc_ak and icc_ck. "
        f"{COMPLETE}",
        confirmed=("icc",),
    ),
)

IN_PYTHON: tuple[Elsewhere, ...] = (*_NLTK, *_OTHERS)
