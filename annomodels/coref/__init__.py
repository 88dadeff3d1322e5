"""Coreference and anaphora: how reliable mentions, links, clusters and chains are.

Everything public is loaded when it is first used, so that agreement without a model loads none.
May import errors, data, coefficients, io, the results of a fit, and what models of links are.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annomodels.coefficients.sets import set_distance
    from annomodels.coref.agreements import agreement, alpha
    from annomodels.coref.ambiguity import ambiguous_places, category_table, explicit_ambiguity
    from annomodels.coref.antecedents import antecedent_agreement, antecedent_positions
    from annomodels.coref.building import document, document_of_judgments
    from annomodels.coref.links.candidates import pairs
    from annomodels.coref.links.silver import link_probabilities, silver
    from annomodels.coref.matching import MentionOverlap, match_mentions
    from annomodels.coref.mentions import (
        HeadAgreement,
        SameExpression,
        UnitizedAlpha,
        dominating_agreement,
        head_agreement,
        mention_agreement,
        s_item,
        unitized_alpha,
    )
    from annomodels.coref.overview import agreement_table, coder_table
    from annomodels.coref.posteriors import PairPosterior, pair_draws, pair_posterior
    from annomodels.coref.readings import chain_labels, reading_table, to_mpa_frame
    from annomodels.coref.scores import Score, score
    from annomodels.coref.tables import (
        LinkTable,
        TwoByTwo,
        chance_corrected,
        link_table,
        pair_table,
    )
    from annomodels.coref.texts import (
        TextAgreement,
        clustered_agreement,
        link_agreement,
        near_identity_agreement,
        pair_agreement,
        text_kappa,
    )
    from annomodels.data.document import Document
    from annomodels.data.expressions import Markable, Span
    from annomodels.data.layers import Judgment, Layer
    from annomodels.io.coref.reading import read
    from annomodels.io.coref.writing import write
    from annomodels.models.pairs import MentionPairs, SingleTruth

_WHERE = {
    "Document": "data.document",
    "HeadAgreement": "coref.mentions",
    "Judgment": "data.layers",
    "Layer": "data.layers",
    "LinkTable": "coref.tables",
    "Markable": "data.expressions",
    "MentionOverlap": "coref.matching",
    "MentionPairs": "models.pairs",
    "PairPosterior": "coref.posteriors",
    "SameExpression": "coref.mentions",
    "Score": "coref.scores",
    "SingleTruth": "models.pairs",
    "Span": "data.expressions",
    "TextAgreement": "coref.texts",
    "TwoByTwo": "coref.tables",
    "UnitizedAlpha": "coref.mentions",
    "agreement": "coref.agreements",
    "agreement_table": "coref.overview",
    "alpha": "coref.agreements",
    "ambiguous_places": "coref.ambiguity",
    "antecedent_agreement": "coref.antecedents",
    "antecedent_positions": "coref.antecedents",
    "category_table": "coref.ambiguity",
    "chain_labels": "coref.readings",
    "chance_corrected": "coref.tables",
    "clustered_agreement": "coref.texts",
    "coder_table": "coref.overview",
    "document": "coref.building",
    "document_of_judgments": "coref.building",
    "dominating_agreement": "coref.mentions",
    "explicit_ambiguity": "coref.ambiguity",
    "head_agreement": "coref.mentions",
    "link_agreement": "coref.texts",
    "link_probabilities": "coref.links.silver",
    "link_table": "coref.tables",
    "match_mentions": "coref.matching",
    "mention_agreement": "coref.mentions",
    "near_identity_agreement": "coref.texts",
    "pair_agreement": "coref.texts",
    "pair_draws": "coref.posteriors",
    "pair_posterior": "coref.posteriors",
    "pair_table": "coref.tables",
    "pairs": "coref.links.candidates",
    "read": "io.coref.reading",
    "reading_table": "coref.readings",
    "s_item": "coref.mentions",
    "score": "coref.scores",
    "set_distance": "coefficients.sets",
    "silver": "coref.links.silver",
    "text_kappa": "coref.texts",
    "to_mpa_frame": "coref.readings",
    "unitized_alpha": "coref.mentions",
    "write": "io.coref.writing",
}

__all__ = [
    "Document",
    "HeadAgreement",
    "Judgment",
    "Layer",
    "LinkTable",
    "Markable",
    "MentionOverlap",
    "MentionPairs",
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
    "head_agreement",
    "link_agreement",
    "link_probabilities",
    "link_table",
    "match_mentions",
    "mention_agreement",
    "near_identity_agreement",
    "pair_agreement",
    "pair_draws",
    "pair_posterior",
    "pair_table",
    "pairs",
    "read",
    "reading_table",
    "s_item",
    "score",
    "set_distance",
    "silver",
    "text_kappa",
    "to_mpa_frame",
    "unitized_alpha",
    "write",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(importlib.import_module(f"annomodels.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
