"""Coreference and anaphora: how reliable mentions, links, clusters and chains are.

May import errors, priors, validation, annotations, coefficients, io, kernels, engines and
summaries.
"""

from annomodels.coref.agreements import agreement, alpha
from annomodels.coref.ambiguity import ambiguous_places, category_table, explicit_ambiguity
from annomodels.coref.antecedents import antecedent_agreement, antecedent_positions
from annomodels.coref.building import document, document_of_judgments
from annomodels.coref.matching import MentionOverlap, match_mentions
from annomodels.coref.mentionpairs.fitting import fit_pairs
from annomodels.coref.mentionpairs.model import MentionPairs, SingleTruth
from annomodels.coref.mentionpairs.result import PairFit
from annomodels.coref.mentions import (
    HeadAgreement,
    SameExpression,
    dominating_agreement,
    head_agreement,
    mention_agreement,
    s_item,
)
from annomodels.coref.outliers import coder_table
from annomodels.coref.overview import agreement_table
from annomodels.coref.places import reading_table
from annomodels.coref.posteriors import PairPosterior, pair_draws, pair_posterior
from annomodels.coref.scores import Score, score
from annomodels.coref.setdistances import set_distance
from annomodels.coref.tables import LinkTable, TwoByTwo, chance_corrected, link_table, pair_table
from annomodels.coref.texts import (
    TextAgreement,
    clustered_agreement,
    link_agreement,
    near_identity_agreement,
    pair_agreement,
    text_kappa,
)
from annomodels.coref.unitizing import UnitizedAlpha, unitized_alpha
from annomodels.coref.views import chain_labels, to_mpa_frame
from annomodels.data.document import Document
from annomodels.data.expressions import Markable, Span
from annomodels.data.layers import Judgment, Layer
from annomodels.io.coref.reading import read
from annomodels.io.coref.writing import write

__all__ = [
    "Document",
    "HeadAgreement",
    "Judgment",
    "Layer",
    "LinkTable",
    "Markable",
    "MentionOverlap",
    "MentionPairs",
    "PairFit",
    "PairPosterior",
    "SameExpression",
    "Score",
    "SingleTruth",
    "Span",
    "TextAgreement",
    "TwoByTwo",
    "UnitizedAlpha",
    "agreement",
    "agreement_table",
    "alpha",
    "ambiguous_places",
    "antecedent_agreement",
    "antecedent_positions",
    "category_table",
    "chain_labels",
    "chance_corrected",
    "clustered_agreement",
    "coder_table",
    "document",
    "document_of_judgments",
    "dominating_agreement",
    "explicit_ambiguity",
    "fit_pairs",
    "head_agreement",
    "link_agreement",
    "link_table",
    "match_mentions",
    "mention_agreement",
    "near_identity_agreement",
    "pair_agreement",
    "pair_draws",
    "pair_posterior",
    "pair_table",
    "read",
    "reading_table",
    "s_item",
    "score",
    "set_distance",
    "text_kappa",
    "to_mpa_frame",
    "unitized_alpha",
    "write",
]
