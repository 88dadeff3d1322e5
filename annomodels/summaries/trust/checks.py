"""Diagnostics of a fit: a verdict and its reasons as text."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import pandas as pd
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.summaries.skills import signal
from annomodels.summaries.trust.convergence import fit_findings, results_of
from annomodels.summaries.trust.findings import (
    CODERS,
    COMPUTED,
    FITS,
    FORBIDS,
    REVIEW,
    TESTED,
    Finding,
    data_findings,
    signal_finding,
)
from annomodels.summaries.trust.known_truth import held_back_finding, known_truth_finding
from annomodels.summaries.trust.patterns import patterns
from annomodels.summaries.trust.predictive import aspects, fitted_model, next_model
from annomodels.summaries.trust.priors import effects_finding, item_terms_finding, prior_finding
from annomodels.summaries.trust.suspects import suspects

VERDICTS = ("confirmed", "no problem found", "needs review", "do not use")
# sentence if there is no problem, but also no test on known truth
NOT_TESTED = "The gold labels have not been tested against true labels."
LAMPS = ("passed", "needs review", "failed")
UNTESTED = "not tested"
# state of the coders if some need advice: the verdict is about the result, which allows for them
ADVICE = "see advice"

# codes of findings that explain symptoms, which then appear in the table only; findings about
# coders do not change the verdict, so they must not hide a reason for it
CAUSES = frozenset(
    {"copies", "repeats", "items_twice", "split_guideline", "known_labels_against_the_coders"}
)
# codes of findings that known truth can refute
OF_UNTESTED = frozenset({"rating_scale"})


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    verdict: str  # "confirmed", "no problem found", "needs review" or "do not use"
    sentences: tuple[str, ...]  # findings as text, the worst first
    details: tuple[str, ...]  # certain findings, too small to change a reported number
    table: pd.DataFrame  # one row per finding: name, value, limit, ok, sentence
    # "passed", "needs review", "failed" or "not tested" for each of: computed well, fits the
    # labels, coders ("see advice" instead of a review), tested on known truth
    lamps: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()  # findings in the order of the table

    @property
    def lit(self) -> str:
        return " · ".join(f"{name}: {state}" for name, state in self.lamps.items())

    @property
    def of_coders(self) -> list[str]:
        """Sentences about coders, which do not change the verdict on the result."""
        return [each.said for each in self.findings if each.lamp == CODERS and each.severity]

    def __bool__(self) -> bool:
        return self.verdict != "do not use"

    def __repr__(self) -> str:
        return "\n".join([self.verdict, *self.sentences, *([self.lit] if self.lamps else [])])

    def _repr_html_(self) -> str:
        sentences = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.sentences)
        lamps = f"<p>{escape(self.lit)}</p>" if self.lamps else ""
        return f"<p><strong>Verdict: {escape(self.verdict)}</strong></p>{lamps}<ul>{sentences}</ul>"


def check(tree: xr.DataTree, data: Annotations, seen: Sequence[Finding] | None = None) -> Check:
    # Symptoms of a detected cause appear in the table only, not in the sentences.
    findings = fit_findings(tree, data, results_of(tree, data))
    findings += [*data_findings(tree, data), *suspects(tree, data)]
    findings += [*patterns(data), signal_finding(signal(tree, data))]
    seen = aspects(tree, data)[1] if seen is None else seen
    findings += seen
    large = [each.name for each in seen if each.severity]
    other = next_model(fitted_model(tree), large, data.n_labels, data.scale)
    findings += [] if other is None else [other]
    some = (prior_finding, item_terms_finding, effects_finding, known_truth_finding)
    findings += [found for look in some if (found := look(tree, data)) is not None]
    return judged(findings, _all_well(findings))


def judged(findings: Sequence[Finding], well: str) -> Check:
    """Return the verdict on findings; `well` is the sentence if none is bad."""
    if any(f.lamp == TESTED and not f.severity for f in findings):
        findings = [f for f in findings if f.code not in OF_UNTESTED]
    bad = sorted((f for f in findings if f.severity), key=_order)
    of_result = [f.severity for f in bad if f.lamp != CODERS or f.severity == FORBIDS]
    causes = {finding.code for finding in bad} & CAUSES
    columns = ["name", "value", "limit", "ok", "sentence"]
    table = pd.DataFrame([finding.row() for finding in findings], columns=columns)
    lamps = {}
    for lamp in (COMPUTED, FITS, CODERS, TESTED):
        seen = [finding.severity for finding in findings if finding.lamp == lamp]
        unseen = LAMPS[0] if lamp == CODERS else UNTESTED
        state = LAMPS[max(seen)] if seen else unseen
        lamps[lamp] = ADVICE if lamp == CODERS and state == LAMPS[REVIEW] else state
    tested = lamps[TESTED] == LAMPS[0]
    sentences = [f.said for f in bad if not (causes and f.symptom)]
    if not of_result:
        sentences.insert(0, well if tested else f"{well} {NOT_TESTED}".strip())
    verdict = VERDICTS[max(of_result) + 1 if of_result else int(not tested)]
    details = [finding.said for finding in findings if finding.noted]
    said, noted = (tuple(dict.fromkeys(each)) for each in (sentences, details))
    return Check(verdict, said, noted, table, lamps, tuple(findings))


def _order(finding: Finding) -> tuple[bool, bool, int]:
    """Return a key that sorts the worst first: known truth, then the result, then coders."""
    return finding.lamp != TESTED, finding.lamp == CODERS, -finding.severity


def tested_on(
    found: Check, tree: xr.DataTree, data: Annotations, known: Mapping[Hashable, Hashable]
) -> Check:
    """Update a check with a test on held-out truth."""
    seen = held_back_finding(tree, data, known)
    if seen is None:
        return found
    findings = [*found.findings, seen]
    return judged(findings, _all_well(findings))


def _all_well(findings: list[Finding]) -> str:
    said = {finding.code: finding.value for finding in findings}
    if "r_hat" not in said:  # EM, which always has a finding
        return ""
    looked = "use_of_labels" in said
    small = any(finding.noted and finding.symptom for finding in findings)
    fits = "the model reproduces the labels"
    fits = "differences from the model change no result" if small else fits
    return (
        f"The chains agree (R-hat at most {said['r_hat']:.3f}, at least "
        f"{said['effective_draws']:,.0f} effective draws)"
        f"{f' and {fits}' if looked else ''}."
    )
