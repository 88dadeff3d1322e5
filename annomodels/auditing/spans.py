"""Audits of spans: random documents, and corrected precision, recall and F1."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from annomodels.auditing.columns import SHOWN
from annomodels.auditing.design import Design, Items, Strata, say
from annomodels.coefficients.intervals import interval
from annomodels.data.columns import columns
from annomodels.data.summary import Summary
from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, NotApplicable, Option
from annomodels.io.span_builder import NONE, Spans
from annomodels.limits import AUDIT_DOCUMENTS
from annomodels.spans.tables import measures

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import TypeIs

    from annomodels.spans.fit import SpanFit
    from annomodels.types import Floats, Ints

QUANTITIES = ("precision", "recall", "f1")
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

    def strata(self, design: Design) -> Strata:
        n = len(self.names)
        return Strata(np.zeros(n, dtype=np.int64), np.array([n]), np.ones(1))

    def to_judge(self, codes: Ints) -> tuple[pd.DataFrame, str]:
        import pandas as pd

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
    import pandas as pd
    import xarray as xr

    model = fit.documents(threshold).set_index("document")
    used = [name for name in model.index if name in judged and (drawn is None or name in drawn)]
    if len(used) < _FEWEST:
        what = f"Only {counted(len(used), 'drawn document')} judged."
        raise AnnotationError(what, "audit", f"Judge at least {_FEWEST} of them.")
    gold: dict[str, set[tuple[int, int, str]]] = {name: set() for name in model.index}
    marks = fit.gold(threshold).table[["document", "start", "end", "label"]]
    for document, start, end, label in marks.to_numpy().tolist():
        gold[document].add((start, end, label))
    rng = np.random.default_rng(seed)
    given = np.array([len(gold[name]) for name in model.index], dtype=float)
    expected = {"tp": model["tp"].to_numpy(float), "true": model["true"].to_numpy(float)}
    sample = np.array([name in used for name in model.index])
    apart = np.array([name in judged and name not in used for name in model.index])
    found = {
        "tp": np.array([len(judged[n] & gold[n]) if n in judged else 0 for n in model.index]),
        "true": np.array([len(judged.get(n, ())) for n in model.index]),
    }
    weights, stretch = _weights(np.maximum(expected["true"], given)[sample], rng)
    rest = ~sample & ~apart
    totals, alone = {}, {}
    for name, size in (("tp", given), ("true", np.maximum(expected["true"], given))):
        error = (found[name] - expected[name])[sample]
        scale = weights @ size[sample]
        shift = (weights @ error) / np.where(scale > 0, scale, 1.0)
        known = float(found[name][~rest].sum())
        # residual errors of the unjudged documents vary as those of the judged documents
        left = error - shift.mean() * size[sample]
        spread = np.sqrt(rest.sum() * left.var(ddof=1)) * stretch * rng.standard_normal(_DRAWS)
        drawn_total = expected[name][rest].sum() + shift * size[rest].sum() + spread
        totals[name] = known + np.clip(drawn_total, 0.0, None)
        alone[name] = weights @ found[name][sample]
    totals["tp"] = np.minimum(totals["tp"], np.minimum(given.sum(), totals["true"]))
    draws = _measures(totals["tp"], given.sum(), totals["true"])
    by_audit = _measures(alone["tp"], weights @ given[sample], alone["true"])
    sums = (float(each[sample].sum()) for each in (found["tp"], given, found["true"]))
    point = _measures(*map(np.array, sums))
    by_model = fit.quality(threshold).table.set_index("quantity")
    rows = []
    for name in QUANTITIES:
        value, by_judged = draws[name].mean(), float(point[name])
        told = by_model.loc[name, ["value", "low", "high"]].astype(float)
        rows.append((
            name, "", value, *interval(draws[name], value=value),
            by_judged, *interval(by_audit[name], value=by_judged), *told,
        ))  # fmt: skip
    names = "quantity label value low high audit audit_low audit_high model model_low model_high"
    how = "as if drawn" if drawn is None else "drawn"
    notes = [say("documents_judged", n=len(used), of=len(model), how=how)]
    if missing := [name for name in drawn or () if name not in judged]:
        notes.append(say("documents_missing", names=some(missing)))
    return Summary(
        "Estimate",
        pd.DataFrame(rows, columns=names.split()),
        xr.Dataset({name: ("draw", drawn_) for name, drawn_ in draws.items()}),
        tuple(notes),
        (*columns("quantity"), *SHOWN["overall"]),
    )


def _weights(size: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw weights of documents [draw, document] and Student t factors of their spread [draw].

    The degrees of freedom follow from the effective number of documents, which is lower for
    documents of unequal size (Kish 1965).
    """
    n, effective = len(size), float(size.sum() ** 2 / max((size**2).sum(), 1e-12))
    freedom = max(effective - 1.0, 1.0)
    stretch = np.sqrt(freedom / rng.chisquare(freedom, _DRAWS))
    drawn = rng.standard_exponential((_DRAWS, n))
    drawn *= n / drawn.sum(axis=1, keepdims=True)
    # correct the bias of the Bayesian bootstrap variance, which lacks the factor (n + 1) / (n - 1)
    factor = stretch[:, None] * np.sqrt((n + 1) / (n - 1))
    return np.maximum(1.0 + (drawn - 1.0) * factor, 0.0), stretch


def _measures(tp: Floats, gold: Floats | float, true: Floats) -> dict[str, Floats]:
    return {name: np.nan_to_num(value) for name, value in measures(tp, gold, true).items()}


def refuse_of_spans(**given: object) -> None:
    """Reject options that apply only to audits of items."""
    if strange := [name for name, value in given.items() if value]:
        named = ", ".join(str(Option(name)) for name in strange)
        raise NotApplicable(
            f"Audits of spans draw whole documents: leave out {named}. "
            f"{Option('size', AUDIT_DOCUMENTS)} draws {AUDIT_DOCUMENTS} documents."
        )
