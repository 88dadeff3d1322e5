"""Coreference and anaphora: how reliable mentions, links, clusters and chains are.

May import errors, validation, annotations, coefficients and io.
"""

from annomodels.coref.agreements import agreement, alpha
from annomodels.coref.building import document, document_of_judgments
from annomodels.coref.document import Document
from annomodels.coref.layers import Judgment, Layer
from annomodels.coref.scores import Score, score
from annomodels.coref.setdistances import set_distance
from annomodels.coref.spans import Markable, Span
from annomodels.coref.tables import LinkTable, TwoByTwo, chance_corrected, link_table, pair_table

__all__ = [
    "Document",
    "Judgment",
    "Layer",
    "LinkTable",
    "Markable",
    "Score",
    "Span",
    "TwoByTwo",
    "agreement",
    "alpha",
    "chance_corrected",
    "document",
    "document_of_judgments",
    "link_table",
    "pair_table",
    "score",
    "set_distance",
]
