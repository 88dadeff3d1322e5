"""Bayesian annotation models: gold standards, coders and ambiguous items from several labels.

Everything public is loaded when it is first used, so that ``import annomodels`` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from annomodels import coefficients, coref, datasets, models, priors
    from annomodels.coefficients.agreement import agreement
    from annomodels.coefficients.analytic.methods import Analytic
    from annomodels.coefficients.continuum.alpha import alpha_u
    from annomodels.coefficients.continuum.units import Units
    from annomodels.coefficients.easy_hard import EasyHard, easy_hard
    from annomodels.coefficients.parts.breakdown import breakdown
    from annomodels.coefficients.parts.comparison import Difference, compare_agreement
    from annomodels.coefficients.parts.diagnose import diagnose
    from annomodels.coefficients.parts.results import Breakdown, Diagnosis
    from annomodels.coefficients.result import Agreement
    from annomodels.compat import Aggregator
    from annomodels.data.annotations import Annotations
    from annomodels.errors import (
        AnnomodelsError,
        AnnotationError,
        DataWarning,
        EngineError,
        InferenceWarning,
        MissingDependency,
        NotApplicable,
        Problem,
    )
    from annomodels.fitting.compare import compare
    from annomodels.fitting.fit import Fit
    from annomodels.fitting.load import load
    from annomodels.fitting.run import fit
    from annomodels.io.reading import read, read_spans
    from annomodels.io.span_builder import Spans
    from annomodels.io.writers.catalog import write, write_gold
    from annomodels.models.answering import Answering
    from annomodels.models.continuous.by_item import BetaBinomialByItem
    from annomodels.models.continuous.graded_response import GradedResponse
    from annomodels.models.continuous.item_difficulty import ItemDifficulty
    from annomodels.models.continuous.logistic_random_effects import LogisticRandomEffects
    from annomodels.models.continuous.logit_normal import LogitNormalDawidSkene
    from annomodels.models.continuous.ordinal import Ordinal
    from annomodels.models.continuous.scalar_difficulty import ScalarDifficulty
    from annomodels.models.dawid_skene import DawidSkene, Pooled
    from annomodels.models.grouped import GroupedCoders
    from annomodels.models.hierarchical import HierarchicalDawidSkene
    from annomodels.models.interval import Interval
    from annomodels.models.mace import Mace
    from annomodels.models.mixtures.ambiguous import Ambiguous
    from annomodels.models.mixtures.consensus import Consensus
    from annomodels.models.mixtures.easy_hard import EasyHardItems
    from annomodels.models.mixtures.guess_level import GuessLevel
    from annomodels.models.mixtures.kinds import HonestAndSpammers, Spammers
    from annomodels.models.mixtures.opinion_pool import OpinionPool
    from annomodels.models.mixtures.readings import Readings
    from annomodels.models.mixtures.subtypes import SubtypeRows, Subtypes
    from annomodels.models.one_coin import ClassConditional, OneCoin
    from annomodels.planning.advise import Advice, advise
    from annomodels.planning.design import Design, design
    from annomodels.planning.simulate import Simulation, simulate
    from annomodels.reporting.page import report
    from annomodels.scale.scanned import Scanned
    from annomodels.scale.scanning import scan
    from annomodels.summaries.earlier import prior_from
    from annomodels.summaries.next_labels import NextLabels
    from annomodels.summaries.summary import Summary

_WHERE = {
    "Advice": "annomodels.planning.advise",
    "Aggregator": "annomodels.compat",
    "Agreement": "annomodels.coefficients.result",
    "Ambiguous": "annomodels.models",
    "Analytic": "annomodels.coefficients.analytic.methods",
    "AnnomodelsError": "annomodels.errors",
    "AnnotationError": "annomodels.errors",
    "Annotations": "annomodels.data.annotations",
    "Answering": "annomodels.models",
    "BetaBinomialByItem": "annomodels.models",
    "Breakdown": "annomodels.coefficients.parts.results",
    "ClassConditional": "annomodels.models",
    "Consensus": "annomodels.models",
    "DataWarning": "annomodels.errors",
    "DawidSkene": "annomodels.models",
    "Design": "annomodels.planning.design",
    "Diagnosis": "annomodels.coefficients.parts.results",
    "Difference": "annomodels.coefficients.parts.comparison",
    "EasyHard": "annomodels.coefficients.easy_hard",
    "EasyHardItems": "annomodels.models",
    "EngineError": "annomodels.errors",
    "Fit": "annomodels.fitting.fit",
    "GradedResponse": "annomodels.models",
    "GroupedCoders": "annomodels.models",
    "GuessLevel": "annomodels.models",
    "HierarchicalDawidSkene": "annomodels.models",
    "HonestAndSpammers": "annomodels.models",
    "InferenceWarning": "annomodels.errors",
    "Interval": "annomodels.models",
    "ItemDifficulty": "annomodels.models",
    "LogisticRandomEffects": "annomodels.models",
    "LogitNormalDawidSkene": "annomodels.models",
    "Mace": "annomodels.models",
    "MissingDependency": "annomodels.errors",
    "NextLabels": "annomodels.summaries.next_labels",
    "NotApplicable": "annomodels.errors",
    "OneCoin": "annomodels.models",
    "OpinionPool": "annomodels.models",
    "Ordinal": "annomodels.models",
    "Pooled": "annomodels.models",
    "Problem": "annomodels.errors",
    "Readings": "annomodels.models",
    "ScalarDifficulty": "annomodels.models",
    "Scanned": "annomodels.scale.scanned",
    "Simulation": "annomodels.planning.simulate",
    "Spammers": "annomodels.models",
    "Spans": "annomodels.io.span_builder",
    "SubtypeRows": "annomodels.models",
    "Subtypes": "annomodels.models",
    "Summary": "annomodels.summaries.summary",
    "Units": "annomodels.coefficients.continuum.units",
    "advise": "annomodels.planning.advise",
    "agreement": "annomodels.coefficients.agreement",
    "alpha_u": "annomodels.coefficients.continuum.alpha",
    "breakdown": "annomodels.coefficients.parts.breakdown",
    "compare": "annomodels.fitting.compare",
    "compare_agreement": "annomodels.coefficients.parts.comparison",
    "design": "annomodels.planning.design",
    "diagnose": "annomodels.coefficients.parts.diagnose",
    "easy_hard": "annomodels.coefficients.easy_hard",
    "fit": "annomodels.fitting.run",
    "load": "annomodels.fitting.load",
    "prior_from": "annomodels.summaries.earlier",
    "read": "annomodels.io.reading",
    "read_spans": "annomodels.io.reading",
    "report": "annomodels.reporting.page",
    "scan": "annomodels.scale.scanning",
    "simulate": "annomodels.planning.simulate",
    "write": "annomodels.io.writers.catalog",
    "write_gold": "annomodels.io.writers.catalog",
}
_MODULES = frozenset({"coefficients", "coref", "datasets", "models", "priors"})

__all__ = [
    "Advice",
    "Aggregator",
    "Agreement",
    "Ambiguous",
    "Analytic",
    "AnnomodelsError",
    "AnnotationError",
    "Annotations",
    "Answering",
    "BetaBinomialByItem",
    "Breakdown",
    "ClassConditional",
    "Consensus",
    "DataWarning",
    "DawidSkene",
    "Design",
    "Diagnosis",
    "Difference",
    "EasyHard",
    "EasyHardItems",
    "EngineError",
    "Fit",
    "GradedResponse",
    "GroupedCoders",
    "GuessLevel",
    "HierarchicalDawidSkene",
    "HonestAndSpammers",
    "InferenceWarning",
    "Interval",
    "ItemDifficulty",
    "LogisticRandomEffects",
    "LogitNormalDawidSkene",
    "Mace",
    "MissingDependency",
    "NextLabels",
    "NotApplicable",
    "OneCoin",
    "OpinionPool",
    "Ordinal",
    "Pooled",
    "Problem",
    "Readings",
    "ScalarDifficulty",
    "Scanned",
    "Simulation",
    "Spammers",
    "Spans",
    "SubtypeRows",
    "Subtypes",
    "Summary",
    "Units",
    "advise",
    "agreement",
    "alpha_u",
    "breakdown",
    "coefficients",
    "compare",
    "compare_agreement",
    "coref",
    "datasets",
    "design",
    "diagnose",
    "easy_hard",
    "fit",
    "load",
    "models",
    "prior_from",
    "priors",
    "read",
    "read_spans",
    "report",
    "scan",
    "simulate",
    "write",
    "write_gold",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"annomodels.{name}")
    if name in _WHERE:
        value = getattr(importlib.import_module(_WHERE[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'annomodels' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
