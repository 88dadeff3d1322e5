"""Packages for R and Java: irr, irrCAC (also for Python), DKPro Agreement."""

from __future__ import annotations

from annomodels.coefficients.elsewhere.row import COMPLETE, Elsewhere

__all__ = ["IN_R_AND_JAVA"]

_IRR: tuple[Elsewhere, ...] = (
    Elsewhere(
        "irr (R)",
        "kappa2(ratings)",
        "kappa",
        differs="Leaves out items with a missing label.",
        basis="source",
    ),
    Elsewhere(
        "irr (R)",
        'kappa2(ratings, weight="equal")',
        "weighted_kappa",
        'distance="rank_linear"',
        "rank_linear",
        differs='weight="squared" is distance="rank_quadratic".',
        basis="source",
    ),
    Elsewhere(
        "irr (R)",
        "kappam.fleiss(ratings)",
        "k",
        'missing="listwise"',
        differs="detail=TRUE gives the kappa of each category: breakdown by label.",
        basis="source",
    ),
    Elsewhere(
        "irr (R)",
        "kappam.fleiss(ratings, exact=TRUE)",
        "multi_kappa",
        'missing="listwise"',
        differs="Despite the name this is Conger's kappa, not Fleiss'.",
        basis="source",
    ),
    Elsewhere(
        "irr (R)",
        "kappam.light(ratings)",
        "light_kappa",
        'missing="listwise"',
        basis="source",
    ),
    Elsewhere(
        "irr (R)",
        "kripp.alpha(x, method=...)",
        "alpha",
        "distance=...",
        "any",
        differs="The same where labels are missing or coders are two. Without missing labels and "
        "with m > 2 coders its correction for small samples is n - 1/(m - 1) instead of n - 1.",
        basis="source",
    ),
    Elsewhere(
        "irr (R)",
        'icc(ratings, model="twoway", type="agreement")',
        "icc_a1",
        differs='type="consistency" is icc_c1, model="oneway" icc_1; the mean of all coders\' '
        "labels is icc_ak, icc_ck, icc_1k.",
        basis="source",
    ),
)

_IRRCAC: tuple[Elsewhere, ...] = (
    Elsewhere(
        "irrCAC (R, Python)",
        "fleiss.kappa.raw(ratings), CAC(ratings).fleiss()",
        "k",
        'missing="gwet"',
        differs="Label shares come from all items, also those with one label.",
        confirmed=("fleiss_kappa",),
    ),
    Elsewhere(
        "irrCAC (R, Python)",
        "conger.kappa.raw(ratings), CAC(ratings).conger()",
        "multi_kappa",
        'missing="gwet"',
        confirmed=("multi_kappa",),
    ),
    Elsewhere(
        "irrCAC (R, Python)",
        "gwet.ac1.raw(ratings), CAC(ratings).gwet()",
        "ac1",
        'missing="gwet"',
        confirmed=("gwet_ac1",),
    ),
    Elsewhere(
        "irrCAC (R, Python)",
        "gwet.ac1.raw(ratings, weights=...), CAC(ratings, weights=...).gwet()",
        "ac2",
        'missing="gwet", distance=...',
        "any",
        differs='Its weights "ordinal" are distance="gwet_ordinal".',
        confirmed=("gwet_ac2",),
    ),
    Elsewhere(
        "irrCAC (R, Python)",
        "bp.coeff.raw(ratings), CAC(ratings).bp()",
        "s",
        'missing="gwet", distance=...',
        "any",
        confirmed=("brennan_prediger", "bennett_s"),
    ),
    Elsewhere(
        "irrCAC (R, Python)",
        "krippen.alpha.raw(ratings, weights=...), CAC(ratings).krippendorff()",
        "alpha",
        "distance=...",
        "any",
        differs="The same alpha; it prints another pa and pe, the correction for small samples "
        "being put into pa.",
        confirmed=("krippendorff_alpha_gwetweights",),
    ),
    Elsewhere(
        "irrCAC (R)",
        "scott2.table(table, weights=...)",
        "pi",
        "distance=...",
        "any",
        confirmed=("scott_pi", "weighted_pi"),
    ),
    Elsewhere("irrCAC (R)", "kappa2.table(table)", "kappa", basis="source"),
)

_DKPRO: tuple[Elsewhere, ...] = (
    Elsewhere(
        "DKPro Agreement",
        "PercentageAgreement",
        "percent",
        'missing="pairs"',
        differs="MaxPercentageAgreement asks that all coders agree.",
        confirmed=("percent_agreement",),
    ),
    Elsewhere("DKPro Agreement", "BennettSAgreement", "s", confirmed=("bennett_s",)),
    Elsewhere("DKPro Agreement", "RandolphKappaAgreement", "s", confirmed=("randolph_kappa",)),
    Elsewhere("DKPro Agreement", "ScottPiAgreement", "pi", confirmed=("scott_pi",)),
    Elsewhere(
        "DKPro Agreement",
        "FleissKappaAgreement",
        "k",
        differs="calculateCategoryAgreement is breakdown by label.",
        confirmed=("fleiss_kappa",),
    ),
    Elsewhere(
        "DKPro Agreement",
        "FleissKappaAgreement.calculateCategoryAgreement(label)",
        "k",
        by="label",
        confirmed=("category_kappa",),
    ),
    Elsewhere("DKPro Agreement", "CohenKappaAgreement", "kappa", confirmed=("cohen_kappa",)),
    Elsewhere("DKPro Agreement", "HubertKappaAgreement", "multi_kappa", confirmed=("multi_kappa",)),
    Elsewhere(
        "DKPro Agreement",
        "WeightedKappaAgreement",
        "weighted_kappa",
        "distance=...",
        "any",
        differs="Two coders. With more, its expected disagreement is a sum over the pairs of "
        "coders, not their mean; ours is alpha_kappa.",
        confirmed=("weighted_kappa",),
    ),
    Elsewhere(
        "DKPro Agreement",
        "KrippendorffAlphaAgreement(study, distance)",
        "alpha",
        "distance=...",
        "any",
        differs="Its ordinal distance needs the labels to be numbers in their order; with words "
        "the order is another. Its MASI distance is Jaccard's times Passonneau's, which is not "
        "MASI.",
        confirmed=("krippendorff_alpha",),
    ),
    Elsewhere(
        "DKPro Agreement",
        "GwetAC1Agreement",
        "ac1",
        differs="Complete data: it stops, or differs, where labels are missing.",
        confirmed=("gwet_ac1",),
    ),
    Elsewhere(
        "DKPro Agreement",
        "GwetAC2Agreement",
        "ac2",
        "distance=...",
        "any",
        differs=COMPLETE,
        confirmed=("gwet_ac2",),
    ),
)

IN_R_AND_JAVA: tuple[Elsewhere, ...] = (*_IRR, *_IRRCAC, *_DKPRO)
