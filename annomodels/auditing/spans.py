"""Audits of spans: random documents, and corrected precision, recall and F1."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from annomodels.auditing.columns import SHOWN
from annomodels.auditing.design import AuditDesign, Items, Strata, say
from annomodels.coefficients.intervals import interval
from annomodels.coefficients.tables import over
from annomodels.data.summary import Summary
from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, NotApplicable, Option
from annomodels.io.span_builder import NONE, Spans
from annomodels.limits import AUDIT_DOCUMENTS
from annomodels.spans.tables import QUALITY, measures
from annomodels.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from annomodels.spans.fit import SpanFit

_DRAWS = 4000
# minimum number of documents for a variance of errors between documents
_FEWEST = 2
Judged = Mapping[str, frozenset[tuple[int, int, str]]]


def is_of_spans(fit: object) -> TypeIs[SpanFit]:
    """Return True for a span fit, without an import of the fitting code."""
    return hasattr(fit, "spans")


def fingerprint(fit: SpanFit) -> str:
    """Return a short hash of the fitted spans."""
    rows = sorted((s.document, s.coder, s.start, s.end, s.label) for s in fit.spans.spans)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:12]


class Documents(Items):
    """The documents of a span fit, which are drawn with equal chances."""

    word, usual = "document", AUDIT_DOCUMENTS

    def __init__(self, fit: SpanFit) -> None:
        self.names, self.texts = fit.groups.documents, fit.spans.texts
        self.known = np.zeros(len(self.names), dtype=bool)
        self.labels = self.mark = fingerprint(fit)

    def strata(self, design: AuditDesign) -> Strata:
        n = len(self.names)
        return Strata(np.zeros(n, dtype=np.int64), np.array([n]), np.ones(1))

    def to_judge(self, codes: Ints) -> tuple[pd.DataFrame, str]:
        table = pd.DataFrame({"document": [self.names[n] for n in codes]})
        if self.texts:
            table["text"] = [self.texts.get(name, "") for name in table["document"]]
        table[["start", "end", "label"]] = ""
        told = say("documents_to_judge", n=len(codes), of=len(self.names), none=NONE)
        return table, told


def judged_spans(fit: SpanFit, given: str | os.PathLike[str] | pd.DataFrame | Spans) -> Judged:
    """Read the spans of an expert from a completed audit table or the project of a tool."""
    from annomodels.io.mappings import is_span_rows, span_rows
    from annomodels.io.reading import read_any

    found: dict[str, set[tuple[int, int, str]]] = {}
    source = "audit" if not isinstance(given, (str, os.PathLike)) else os.fspath(given)
    if isinstance(given, Spans) or not (hasattr(given, "columns") or is_span_rows(given)):
        spans = given if isinstance(given, Spans) else read_any(given)
        if (
            not isinstance(spans, Spans)
            or len({n for each in spans.seen.values() for n in each}) != 1
        ):
            what = "This is neither a table with document, start, end and label nor the spans of "
            raise AnnotationError(f"{what}one expert.", source, "Give one of these.")
        found = {name: set() for name in spans.seen}
        for span in spans.spans:
            found[span.document].add((span.start, span.end, span.label))
    else:
        for document, start, end, label in span_rows(given):
            if label == NONE:
                found.setdefault(document, set())
            elif end > start:
                found.setdefault(document, set()).add((start, end, label))
    known = set(fit.spans.seen)
    if strange := [name for name in found if name not in known]:
        what = f"{counted(len(strange), 'judged document')} not in the data: {some(strange)}."
        raise AnnotationError(what, source, f"The documents are {some(sorted(known)[:3])}.")
    if not found:
        what = "No document was judged: the columns start, end and label are empty."
        remedy = f"Fill in a row for each span, or {NONE} as the label of a document without one."
        raise AnnotationError(what, source, remedy)
    return {name: frozenset(marks) for name, marks in found.items()}


def estimate_spans(
    fit: SpanFit,
    judged: Judged,
    *,
    drawn: Sequence[Hashable] | None = None,
    threshold: float | None = None,
    seed: int = 0,
) -> Summary:
    """Correct expected precision, recall and F1 with documents that an expert judged.

    The relative errors of the model's counts in the judged documents are extrapolated to the other
    documents; intervals come from a Bayesian bootstrap over the judged documents. Of these, those
    that were not `drawn` correct only themselves.
    """
    import xarray as xr

    model = fit.documents(threshold).set_index("document")
    drawn_too = np.array([drawn is None or name in drawn for name in model.index])
    known = np.array([name in judged for name in model.index])
    sample = known & drawn_too
    used = int(sample.sum())
    if used < _FEWEST:
        what = f"Only {counted(used, 'drawn document')} judged."
        raise AnnotationError(what, "audit", f"Judge at least {_FEWEST} of them.")
    gold: dict[str, set[tuple[int, int, str]]] = {name: set() for name in model.index}
    marks = fit.gold(threshold).table[["document", "start", "end", "label"]]
    for document, start, end, label in marks.to_numpy().tolist():
        gold[document].add((start, end, label))
    answers = [judged.get(name, frozenset()) for name in model.index]
    right = [len(gold[name] & answer) for name, answer in zip(model.index, answers, strict=True)]
    # rows are right spans and true spans, columns are documents
    given = np.array([len(gold[name]) for name in model.index], dtype=float)
    expected = model[["tp", "true"]].to_numpy(float).T
    found = np.array([right, [len(answer) for answer in answers]], dtype=float)
    size = np.array([given, np.maximum(expected[1], given)])
    draws, by_audit = _drawn(found, expected, size, sample, ~known, np.random.default_rng(seed))
    tp, truths = found[:, sample].sum(axis=1)
    point = _measures(tp, truths, given[sample].sum())
    by_model = fit.quality(threshold).table.set_index("quantity")
    rows = []
    for name in QUALITY:
        value, alone = draws[name].mean(), float(point[name])
        told = by_model.loc[name, ["value", "low", "high"]].astype(float)
        rows.append((
            name, "", value, *interval(draws[name], value=value),
            alone, *interval(by_audit[name], value=alone), *told,
        ))  # fmt: skip
    names = "quantity label value low high audit audit_low audit_high model model_low model_high"
    how = "as if drawn" if drawn is None else "drawn"
    notes = [say("documents_judged", n=used, of=len(model), how=how)]
    if missing := [name for name in drawn or () if name not in judged]:
        notes.append(say("documents_missing", names=some(missing)))
    return Summary(
        "Estimate",
        pd.DataFrame(rows, columns=names.split()),
        xr.Dataset({name: ("draw", values) for name, values in draws.items()}),
        tuple(notes),
        SHOWN["overall"],
    )


def _drawn(
    found: Floats, expected: Floats, size: Floats, sample: Bools, rest: Bools,
    rng: np.random.Generator,
) -> tuple[dict[str, Floats], dict[str, Floats]]:  # fmt: skip
    """Draw precision, recall and F1 from model and audit, and from the audit alone.

    `found`, `expected` and `size` have the rows right spans and true spans, and one column for each
    document; errors of `expected` are proportional to `size`. The documents of the `sample` were
    drawn and judged, and those of the `rest` were not judged.
    """
    # A few documents can be altogether wrong, such as tables among news, and most small samples
    # contain none of them. So the prior of the bootstrap is a document in which all gold spans are
    # right or all are wrong. It has the weight of one judged document and the size of the document
    # in which the average span is. It is right with the share of right spans in the judged
    # documents, to which half such a document is added on each side, so that a faultless audit
    # leaves doubt.
    n, whole = int(sample.sum()), size[:, sample].sum(axis=1)
    typical = over((size**2).sum(axis=1), size.sum(axis=1), 0.0)
    right = (found[0, sample].sum() + typical[0] / 2) / max(whole[0] + typical[0], 1.0)
    usual = [over(each[:, sample].sum(axis=1), whole, 0.0) for each in (found, expected)]
    prior = [np.outer(typical * each, np.ones(2)) for each in (*usual, np.ones(2))]
    prior[0][0] = typical[0], 0.0
    judged, forecast, sizes = (
        np.column_stack([each[:, sample], more])
        for each, more in zip((found, expected, size), prior, strict=True)
    )
    error, weight = judged - forecast, np.append(np.ones(n), [right, 1.0 - right])
    drawn = rng.standard_gamma(weight, (_DRAWS, n + 2))
    drawn /= drawn.sum(axis=1, keepdims=True)
    stretch = _stretch(sizes[1, :n], rng)
    shift = _stretched(over(drawn @ error.T, drawn @ sizes.T, 0.0), stretch, n)
    # residual errors of the unjudged documents vary as those of the judged documents
    left = np.cov(error - shift.mean(axis=0)[:, None] * sizes, aweights=weight)
    spread = rng.multivariate_normal(np.zeros(2), left * rest.sum(), _DRAWS) * stretch
    others = expected[:, rest].sum(axis=1) + shift * size[:, rest].sum(axis=1) + spread
    tp, true = (found[:, ~rest].sum(axis=1) + np.maximum(others, 0.0)).T
    given = size[0].sum()
    alone = _measures(drawn @ judged[0], drawn @ judged[1], drawn @ sizes[0])
    by_audit = _stretched(np.column_stack([*alone.values()]), stretch, n).clip(0.0, 1.0)
    return (
        _measures(np.minimum(tp, np.minimum(given, true)), true, given),
        dict(zip(alone, by_audit.T, strict=True)),
    )


def _stretch(size: Floats, rng: np.random.Generator) -> Floats:
    """Draw Student t factors of a spread [draw, 1].

    The degrees of freedom follow from the effective number of documents, which is lower for
    documents of unequal size (Kish 1965).
    """
    effective = float(size.sum() ** 2 / max((size**2).sum(), 1e-12))
    freedom = max(effective - 1.0, 1.0)
    return np.asarray(np.sqrt(freedom / rng.chisquare(freedom, (_DRAWS, 1))))


def _stretched(drawn: Floats, stretch: Floats, n: int) -> Floats:
    # the variance of the Bayesian bootstrap lacks the factor (n + 1) / (n - 1)
    middle = drawn.mean(axis=0)
    return np.asarray(middle + (drawn - middle) * stretch * np.sqrt((n + 1) / (n - 1)))


def _measures(tp: Floats, true: Floats, gold: Floats | float) -> dict[str, Floats]:
    return {name: np.nan_to_num(value) for name, value in measures(tp, gold, true).items()}


def refuse_of_spans(**given: object) -> None:
    """Reject options that apply only to audits of items."""
    if strange := [name for name, value in given.items() if value]:
        named = ", ".join(str(Option(name)) for name in strange)
        raise NotApplicable(
            f"Audits of spans draw whole documents: leave out {named}. "
            f"{Option('size', AUDIT_DOCUMENTS)} draws {AUDIT_DOCUMENTS} documents."
        )
