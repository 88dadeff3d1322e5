"""Audits of spans: random documents, and corrected precision, recall and F1."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from annomodels.auditing.columns import SHOWN
from annomodels.coefficients.intervals import interval
from annomodels.data.columns import columns
from annomodels.data.summary import Summary
from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, NotApplicable, Option, Problem
from annomodels.io.span_builder import NONE, Spans
from annomodels.limits import AUDIT_DOCUMENTS

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import TypeIs

    from annomodels.spans.fit import SpanFit
    from annomodels.types import Floats

PLACE = ("document", "start", "end", "label")
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


def to_judge(fit: SpanFit, drawn: Sequence[str]) -> tuple[pd.DataFrame, str]:
    """Return the table in which an expert marks all spans of documents, and instructions."""
    import pandas as pd

    table = pd.DataFrame({"document": drawn})
    if fit.spans.texts:
        table["text"] = [fit.spans.texts.get(name, "") for name in drawn]
    table[["start", "end", "label"]] = ""
    told = (
        f"{counted(len(drawn), 'document')} of {len(fit.groups.documents):,}, drawn at random with "
        "equal chances. Mark all spans in each document: one row per span, with start and end as "
        f"character positions, counted from 0. If a document has no span, write {NONE} as its "
        "label. You can also mark these documents in your tool and use its export."
    )
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
            raise AnnotationError(Problem(f"{what}one expert.", source, "Give one of these."))
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
        raise AnnotationError(
            Problem(what, source, f"The documents are {some(sorted(known)[:3])}.")
        )
    if not found:
        what = "No document was judged: the columns start, end and label are empty."
        remedy = f"Fill in a row for each span, or {NONE} as the label of a document without one."
        raise AnnotationError(Problem(what, source, remedy))
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
    documents; intervals come from a Bayesian bootstrap over the judged documents.

    Parameters
    ----------
    fit
        The span fit.
    judged
        True spans of each judged document.
    drawn
        Documents that were drawn at random; other judged documents correct only themselves.
    threshold
        Threshold of the gold layer.
    seed
        Random seed.

    Examples
    --------
    >>> from annomodels.io.span_builder import Span, Spans
    >>> from annomodels.spans.fit import fit_spans
    >>> marks = [Span(f"d{n}", who, "NE", 0, 4, "PER") for n in range(9) for who in ("ana", "ben")]
    >>> fit = fit_spans(Spans(tuple(marks), {f"d{n}": ("ana", "ben") for n in range(9)}), seed=1)
    >>> truth = {f"d{n}": frozenset({(0, 4, "PER")}) for n in range(5)}
    >>> estimate_spans(fit, truth).table["audit"].tolist()
    [1.0, 1.0, 1.0]
    """
    import pandas as pd
    import xarray as xr

    model = fit.documents(threshold).set_index("document")
    used = [name for name in model.index if name in judged and (drawn is None or name in drawn)]
    if len(used) < _FEWEST:
        what = f"Only {counted(len(used), 'drawn document')} judged."
        raise AnnotationError(Problem(what, "audit", f"Judge at least {_FEWEST} of them."))
    gold: dict[str, set[tuple[int, int, str]]] = {name: set() for name in model.index}
    table = fit.gold(threshold).table
    for document, *mark in zip(*(table[name] for name in PLACE), strict=True):
        gold[str(document)].add((int(mark[0]), int(mark[1]), str(mark[2])))
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
    point = _measures(
        *(np.array([float(v[sample].sum())]) for v in (found["tp"], given, found["true"]))
    )
    by_model = fit.quality(threshold).table.set_index("quantity")
    rows = []
    for name in QUANTITIES:
        value, by_judged = draws[name].mean(), float(point[name][0])
        told = by_model.loc[name, ["value", "low", "high"]].astype(float)
        rows.append((
            name, "", value, *interval(draws[name], value=value),
            by_judged, *interval(by_audit[name], value=by_judged), *told,
        ))  # fmt: skip
    names = "quantity label value low high audit audit_low audit_high model model_low model_high"
    notes = [f"{counted(len(used), 'document')} of {len(model):,} judged, drawn at random."]
    if drawn is None:
        notes = [
            f"{counted(len(used), 'document')} of {len(model):,} judged, as if drawn at random."
        ]
    if missing := [name for name in drawn or () if name not in judged]:
        notes.append(f"Drawn but not judged: {some(missing)}. They count like the other documents.")
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
    with np.errstate(invalid="ignore", divide="ignore"):
        found = {"precision": tp / gold, "recall": tp / true, "f1": 2 * tp / (gold + true)}
    return {name: np.nan_to_num(np.asarray(value, dtype=float)) for name, value in found.items()}


def refuse_of_spans(**given: object) -> None:
    """Reject options that apply only to audits of items."""
    if strange := [name for name, value in given.items() if value]:
        named = ", ".join(str(Option(name)) for name in strange)
        raise NotApplicable(
            f"Audits of spans draw whole documents: leave out {named}. "
            f"{Option('size', AUDIT_DOCUMENTS)} draws {AUDIT_DOCUMENTS} documents."
        )
