"""Can this fit be believed? Diagnostics in sentences."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.summaries.draws import model_of
from annomodels.summaries.skills import NO_SIGNAL, doubtful, no_signal, signal
from annomodels.summaries.trust.convergence import fit_findings
from annomodels.summaries.trust.effects import effects_finding
from annomodels.summaries.trust.findings import (
    CHECK,
    COMPUTED,
    FINE,
    FITS,
    FORBIDS,
    TESTED,
    Finding,
    data_findings,
)
from annomodels.summaries.trust.item_terms import item_terms_finding
from annomodels.summaries.trust.known_truth import held_back_finding, known_truth_finding
from annomodels.summaries.trust.next_model import fitted_model, next_model
from annomodels.summaries.trust.patterns import patterns
from annomodels.summaries.trust.predictive import OVERCONFIDENT, REJECTED, Aspect, aspects
from annomodels.summaries.trust.priors import prior_finding
from annomodels.summaries.trust.suspects import suspects

VERDICTS = ("trust", "no problem found", "check", "do not use")
# what is said where all is well but known truth tested nothing
NOT_TESTED = "The gold labels have not been tested against true labels."
LAMPS = ("green", "amber", "red")
UNTESTED = "gray"
_LIT = {"green": "yes", "amber": "in part", "red": "no", "gray": "not yet"}

# codes of findings that explain symptoms: of those nothing is said then but in the table
CAUSES = frozenset(
    {
        "copies", "repeats", "items_twice", "split_guideline",
        "classes_swapped_by_coders", "known_labels_against_the_coders",
    }
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """Verdict on a fit, with its reasons."""

    verdict: str  # "trust", "no problem found", "check" or "do not use"
    sentences: tuple[str, ...]  # what was found, in words, the worst first
    table: pd.DataFrame  # one row per finding: name, value, limit, ok, sentence
    # "green", "amber", "red" or "gray" for each of: computed well, fits the labels, tested on known
    # truth
    lamps: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()  # the findings themselves, in the order of the table

    @property
    def lit(self) -> str:
        """The lamps in one line."""
        return " · ".join(f"{name}: {_LIT[colour]}" for name, colour in self.lamps.items())

    def __bool__(self) -> bool:
        return self.verdict != "do not use"

    def __repr__(self) -> str:
        return "\n".join([self.verdict, *([self.lit] if self.lamps else []), *self.sentences])

    def _repr_html_(self) -> str:
        sentences = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.sentences)
        lamps = f"<p>{escape(self.lit)}</p>" if self.lamps else ""
        return f"<p><strong>Verdict: {escape(self.verdict)}</strong></p>{lamps}<ul>{sentences}</ul>"


def check(tree: xr.DataTree, data: Annotations, seen: Sequence[Aspect] | None = None) -> Check:
    """Check the chains, the data and the fit."""
    # Symptoms that follow from a cause that was found stay in the table; no sentence repeats them.
    findings = [*fit_findings(tree, data), *data_findings(tree, data), *suspects(tree, data)]
    findings += [*patterns(data), signal_finding(tree, data)]
    findings += _predictive(tree, data, aspects(tree, data)[1] if seen is None else seen)
    some = (prior_finding, item_terms_finding, effects_finding, known_truth_finding)
    findings += [found for look in some if (found := look(tree, data)) is not None]
    return judged(findings, _all_well(findings))


def judged(findings: Sequence[Finding], well: str) -> Check:
    """Return the verdict that findings lead to; `well` is the sentence where none is bad."""
    bad = sorted((f for f in findings if f.severity), key=lambda finding: -finding.severity)
    causes = {finding.code for finding in bad} & CAUSES
    columns = ["name", "value", "limit", "ok", "sentence"]
    table = pd.DataFrame([finding.row() for finding in findings], columns=columns)
    lamps = {}
    for lamp in (COMPUTED, FITS, TESTED):
        seen = [finding.severity for finding in findings if finding.lamp == lamp]
        lamps[lamp] = LAMPS[max(seen)] if seen else UNTESTED
    tested = lamps[TESTED] == LAMPS[0]
    sentences = [f.sentence for f in bad if not (causes and f.symptom)]
    if not bad:
        sentences = [well if tested else f"{well} {NOT_TESTED}".strip()]
    verdict = VERDICTS[bad[0].severity + 1 if bad else int(not tested)]
    return Check(verdict, tuple(dict.fromkeys(sentences)), table, lamps, tuple(findings))


def tested_on(
    found: Check, tree: xr.DataTree, data: Annotations, known: Mapping[Hashable, Hashable]
) -> Check:
    """Judge a check again, with what truth that the fit was not told says about it."""
    seen = held_back_finding(tree, data, known)
    if seen is None:
        return found
    findings = [*found.findings, seen]
    return judged(findings, _all_well(findings))


def _all_well(findings: list[Finding]) -> str:
    said = {finding.code: finding.value for finding in findings}
    if "r_hat" not in said:  # of EM, which never is without a remark
        return ""
    looked = "use_of_labels" in said
    return (
        f"The chains agree (R-hat at most {said['r_hat']:.3f}, at least "
        f"{said['effective_draws']:,.0f} effective draws)"
        f"{' and the model reproduces the labels' if looked else ''}."
    )


def signal_finding(tree: xr.DataTree, data: Annotations) -> Finding:
    """Look whether the labels depend on any truth."""
    values = signal(tree, data)
    value = float(np.median(values))
    if not doubtful(values) and value >= NO_SIGNAL:
        text = f"The labels depend on a truth: the signal in them is {value:.2f}, of at most 1."
        return Finding("signal", value, NO_SIGNAL, text, FINE)
    severity = FORBIDS if value < NO_SIGNAL else CHECK
    return Finding("signal", value, NO_SIGNAL, no_signal(values), severity)


def _predictive(tree: xr.DataTree, data: Annotations, seen: Sequence[Aspect]) -> list[Finding]:
    found = []
    for aspect in seen:
        text = f"The model reproduces: {aspect.name}."
        if not aspect.fits:
            text = aspect.sentence
            if model_of(tree).stacks:
                text = text.replace(f" {OVERCONFIDENT}", "")
        severity = FINE if aspect.fits else CHECK
        found.append(Finding(aspect.name, aspect.p_value, REJECTED, text, severity, symptom=True))
    rejected = [finding.name for finding in found if finding.severity]
    other = next_model(fitted_model(tree), rejected, data.n_labels, data.scale)
    if other is not None:
        found.append(Finding("next model", len(rejected), 0, other.sentence, CHECK, symptom=True))
    return found
