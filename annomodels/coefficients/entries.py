"""The coefficients as data, one entry each: all that can be known about one without data."""

from __future__ import annotations

from dataclasses import dataclass

from annomodels.errors import Verb


def plain_name_of(name: str) -> str:
    """Lower case, single underscores for blanks and hyphens."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


CONVENTION_NAMES = ("krippendorff", "gwet", "pairs", "pairwise", "listwise")

_ONE_PAIR = Verb("data.select(coders=[one, other])", "annomodels agree --by pair")


@dataclass(frozen=True)
class Coefficient:
    """Properties of a coefficient that need no data."""

    name: str  # its name in tables and calls
    title: str  # what to print
    others: str  # other names a user may type, in lower case with single underscores
    # how the expected disagreement is found, a key of :data:`~.formulas.EXPECTED` or
    # :data:`~.formulas.STATISTICS`; None for observed agreement
    expectation: str | None
    citation: str  # where it comes from; no DOI where there is none
    doi: str
    two_coders_only: bool = False  # whether it is defined for exactly two coders
    two_labels_only: bool = False  # whether it is defined for exactly two labels
    numeric: bool = False  # whether the labels have to be numbers
    instead: str | Verb = ""  # what to ask for when it does not apply
    by_coder: bool = False  # whether it matters which coder gave which label
    weighted: bool = False  # whether it takes distances other than nominal
    scale_distance: bool = False  # whether, without a distance, that of the labels' scale is taken
    ordinal: str = "quadratic"  # the distance it takes for an ordinal scale
    margins: bool = False  # whether it takes a fixed distribution of the labels from elsewhere
    chance: bool = False  # whether it takes a chance level for every item (and cannot do without)
    each_pair: bool = False  # whether it is the mean of the coefficients of all pairs of coders
    # conventions for missing labels it knows; the first is used where another is asked for in a
    # panel
    missing: tuple[str, ...] = CONVENTION_NAMES
    # analytic errors and intervals it has, the default first; see
    # :meth:`annomodels.coefficients.result.Agreement.analytic`
    analytic: tuple[str, ...] = ()
    # whether it follows from the joint distribution of coders' labels, and so from a model
    implied: bool = True
    # its statistic in ``evaluation`` if tables of label pairs do not suffice
    own: str = ""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names, one by one."""
        return tuple(self.others.split())


_AP = ("Artstein & Poesio 2008", "10.1162/coli.07-034-R2")
_COHEN = ("Cohen 1960", "10.1177/001316446002000104")
_GWET = ("Gwet 2008", "10.1348/000711006X126600")
_BYRT = ("Byrt, Bishop & Carlin 1993", "10.1016/0895-4356(93)90018-V")
_MCGRAW_WONG = ("McGraw & Wong 1996", "10.1037/1082-989X.1.1.30")
_BY_GWET = ("gwet", "gwet_table")
_PAIRS = ("pairwise", "listwise")


_CORE = (
    Coefficient(
        "percent", "Observed agreement",
        "observed observed_agreement percent_agreement raw a_o ao p_o agreement agree "
        "percentage percentage_agreement raw_agreement avg_ao pa pa2 pa_coeff "
        "simple_agreement po",
        None, *_AP, weighted=True, analytic=_BY_GWET,
    ),
    Coefficient(
        "s", "Bennett's S",
        "bennett bennett_s brennan_prediger bp randolph randolph_kappa free_marginal "
        "free_marginal_kappa pabak kappa_n bp2 bp_coeff brennan_prediger_kappa g_index "
        "uniform_kappa prevalence_adjusted_bias_adjusted_kappa multirater_free_kappa",
        "uniform", "Bennett, Alpert & Goldstein 1954", "10.1086/266520", weighted=True,
        analytic=_BY_GWET,
    ),
    Coefficient(
        "pi", "Scott's pi", "scott scott_pi scott2 weighted_pi weighted_scott_pi",
        "pooled", "Scott 1955", "10.1086/266577", two_coders_only=True, instead="k",
        weighted=True, margins=True, analytic=_BY_GWET,
    ),
    Coefficient(
        "k", "Fleiss' kappa (K)",
        "fleiss fleiss_kappa multi_pi siegel_castellan siegel_castellan_k carletta carletta_k "
        "kappam_fleiss weighted_fleiss_kappa fixed_marginal weighted_fleiss weighted_multi_pi "
        "fixed_marginal_kappa fleiss_multirater",
        "pooled", "Fleiss 1971", "10.1037/h0031619", weighted=True, margins=True,
        analytic=(*_BY_GWET, "fleiss"),
    ),
    Coefficient(
        "kappa", "Cohen's kappa", "cohen cohen_kappa kappa2 unweighted_kappa kappa_cohen",
        "between", *_COHEN, two_coders_only=True, instead="multi_kappa, k or light_kappa",
        by_coder=True, analytic=("fleiss_cohen_everitt", *_BY_GWET),
    ),
    Coefficient(
        "multi_kappa", "Multi-kappa",
        "davies_fleiss hubert hubert_kappa conger conger_kappa exact_kappa fleiss_exact "
        "multikappa exact_fleiss_kappa kappam_exact",
        "between", "Davies & Fleiss 1982", "10.2307/2529886", by_coder=True, weighted=True,
        analytic=_BY_GWET,
    ),
    Coefficient(
        "light_kappa", "Light's kappa",
        "light mean_pairwise_kappa kappam_light average_pairwise_kappa",
        "between", "Light 1971", "10.1037/h0031643", by_coder=True, weighted=True, each_pair=True,
        missing=_PAIRS,
    ),
    Coefficient(
        "weighted_kappa", "Weighted kappa",
        "kappa_w cohen_weighted_kappa weighted_cohen_kappa kappaw",
        "between", "Cohen 1968", "10.1037/h0026256", two_coders_only=True, instead="alpha_kappa",
        by_coder=True, weighted=True, scale_distance=True,
        analytic=("fleiss_cohen_everitt", *_BY_GWET),
    ),
    Coefficient(
        "alpha", "Krippendorff's alpha",
        "krippendorff krippendorff_alpha kalpha k_alpha kripp_alpha krippen_alpha krippen2 "
        "krippendorff_alpha_customary",
        "without_replacement", "Krippendorff 2004", "10.1111/j.1468-2958.2004.tb00738.x",
        weighted=True, scale_distance=True, ordinal="ordinal", margins=True,
        missing=("krippendorff", "listwise"), analytic=_BY_GWET,
    ),
    Coefficient(
        "hughes_alpha", "Hughes's alpha",
        "hughes alpha_hughes krippendorff_alpha_hughes analytical_alpha "
        "krippendorff_alpha_analytical krippendorffsalpha_analytical",
        "without_replacement", "Hughes 2022", "10.48550/arXiv.2210.13265", weighted=True,
        scale_distance=True, missing=("krippendorff", "listwise"), analytic=("jackknife",),
        own="one_way",
    ),
    Coefficient(
        "alpha_kappa", "Alpha with a margin for each coder", "beta alpha_beta weighted_multi_kappa",
        "between", *_AP, by_coder=True, weighted=True, scale_distance=True, analytic=_BY_GWET,
    ),
    Coefficient(
        "ac1", "Gwet's AC1", "gwet gwet_ac1 gamma gwet_gamma gwet_ac",
        "gwet", *_GWET, margins=True, analytic=_BY_GWET,
    ),
    Coefficient(
        "ac2", "Gwet's AC2", "gwet_ac2 weighted_ac1",
        "gwet", *_GWET, weighted=True, scale_distance=True, margins=True, analytic=_BY_GWET,
    ),
    Coefficient(
        "irsq", "van Oest's I_r^2", "van_oest van_oest_irsq i_r_squared i_r_2 ir2",
        "smoothed", "van Oest 2019", "10.1037/met0000183", weighted=True,
    ),
    Coefficient(
        "s_item", "S with a chance level for each item",
        "item_s s_by_item s_per_item item_chance item_specific_s",
        None, "Kopec & Ogrodniczuk 2014", "", chance=True, missing=("krippendorff", "gwet",
        "pairs", "listwise"), implied=False, own="item_chance",
    ),
)  # fmt: skip

_TWO_CODERS = tuple(
    Coefficient(
        name, title, others, name, *source, two_coders_only=True,
        two_labels_only=two_labels, instead=_ONE_PAIR,
        by_coder=True, each_pair=True, missing=_PAIRS,
    )
    for name, title, source, two_labels, others in (
        ("kappa_max", "Largest kappa for these margins", _COHEN, False,
         "kmax max_kappa maximum_kappa kappamax kappa_m k_max"),
        ("prevalence_index", "Prevalence index", _BYRT, True,
         "prevalence pindex byrt_prevalence prevalence_idx"),
        ("bias_index", "Bias index", _BYRT, True,
         "bias bindex byrt_bias bias_idx"),
    )
)  # fmt: skip

_ICC = tuple(
    Coefficient(
        name, title, others, name, *_MCGRAW_WONG, numeric=True, instead="alpha",
        by_coder=True, missing=("listwise",), analytic=("f",),
    )
    for name, title, others in (
        ("icc_1", "ICC(1)", "icc1 icc_1_1 icc11 icc_oneway icc_single_raters_absolute"),
        ("icc_a1", "ICC(A,1)",
         "icc_a_1 icc2 icc_2 icc_2_1 icc21 icc_agreement icc_twoway_agreement "
         "icc_single_random_raters icc_absolute_agreement"),
        ("icc_c1", "ICC(C,1)",
         "icc_c_1 icc3 icc_3 icc_3_1 icc31 icc_consistency icc_twoway_consistency "
         "icc_single_fixed_raters"),
        ("icc_1k", "ICC(1,k)",
         "icc1k icc_1_k icc_k icc_average_raters_absolute icc_oneway_average"),
        ("icc_ak", "ICC(A,k)", "icc_a_k icc2k icc_2k icc_2_k icc_average_random_raters"),
        ("icc_ck", "ICC(C,k)",
         "icc_c_k icc3k icc_3k icc_3_k icc_average_fixed_raters cronbach cronbach_alpha hoyt"),
    )
)  # fmt: skip

ENTRIES: tuple[Coefficient, ...] = (*_CORE, *_TWO_CODERS, *_ICC)

UNITIZING = Coefficient(
    "alpha_u", "Alpha for units", "unitizing_alpha u_alpha krippendorff_alpha_u",
    None, "Krippendorff 1995", "10.2307/271061", missing=(), implied=False,
)  # fmt: skip
SPAN_F1 = Coefficient(
    "span_f1", "Span F1", "f1 f_measure mention_f1", None,
    "Hripcsak and Rothschild 2005", "10.1197/jamia.M1733", missing=(), implied=False,
)  # fmt: skip
OF_UNITS = {entry.name: entry for entry in (UNITIZING, SPAN_F1)}
"""The coefficients of :mod:`annomodels.coefficients` whose data are marked stretches, no labels."""
