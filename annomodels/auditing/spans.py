"""Audits of spans: documents drawn at random, and precision, recall and F1 corrected by them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from annomodels.auditing.columns import SHOWN
from annomodels.coefficients.intervals import interval
from annomodels.data.columns import columns
from annomodels.data.summary import Summary
from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, NotApplicable, Option, Problem, valid_seed
from annomodels.io.span_builder import NONE, Spans
from annomodels.io.writing import atomic_path
from annomodels.limits import AUDIT_DOCUMENTS

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.spans.fit import SpanFit
    from annomodels.types import Floats

KIND = "annomodels audit of spans"
PLACE = ("document", "start", "end", "label")
QUANTITIES = ("precision", "recall", "f1")
_DRAWS = 4000
# documents from which the spread of errors between documents is known at all
_FEWEST = 2
Judged = Mapping[str, frozenset[tuple[int, int, str]]]


def is_of_spans(fit: object) -> TypeGuard[SpanFit]:
    """Return True for a fit of spans, without loading what fits them."""
    return hasattr(fit, "spans")


def fingerprint(fit: SpanFit) -> str:
    """Return a mark of the spans that were fitted."""
    rows = sorted((s.document, s.coder, s.start, s.end, s.label) for s in fit.spans.spans)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:12]


@dataclass(frozen=True, eq=False, repr=False)
class SpanAudit(Summary):
    """Documents in which an expert marks all spans, and the rounds in which they were drawn.

    Parameters
    ----------
    title, table, draws, notes, columns
        As of every summary; the table has a row for each document of the last round in random
        order: document, text, start, end, label, audit. Start, end and label are empty.
    rounds
        Documents of all rounds.
    mark
        Fingerprint of the spans that were fitted.
    """

    rounds: tuple[tuple[str, ...], ...] = field(kw_only=True)
    mark: str = field(kw_only=True)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> Path:
        """Save which documents were drawn, which :func:`annomodels.estimate` needs."""
        held = {"kind": KIND, "fingerprint": self.mark, "rounds": self.rounds}
        with atomic_path(path, force) as temporary:
            text = json.dumps(held, ensure_ascii=False, indent=1) + "\n"
            temporary.write_text(text, encoding="utf-8")
        return Path(path)


def audit_spans(
    fit: SpanFit, size: int | None = None, *, seed: int = 0, rounds: Sequence[Sequence[str]] = ()
) -> SpanAudit:
    """Draw documents in which an expert marks all spans.

    Parameters
    ----------
    fit
        The fit of the spans.
    size
        Number of documents.
    seed
        Seed of the draw.
    rounds
        Documents that were drawn before: the new round draws others.

    Returns
    -------
    SpanAudit
    """
    import pandas as pd

    names = list(fit.documents()["document"])
    had = {name for each in rounds for name in each}
    free = [name for name in names if name not in had]
    if not free:
        what = "All documents have been drawn."
        raise AnnotationError(Problem(what, remedy="Estimate from the judged documents."))
    if size is not None and size > len(free):
        what = f"The audit asks for {counted(size, 'document')}, and {len(free):,} can be drawn."
        raise AnnotationError(Problem(what, remedy=f"Ask for at most {len(free):,}."))
    rng = np.random.default_rng([valid_seed(seed), len(rounds)])
    number = min(AUDIT_DOCUMENTS, len(free)) if size is None else size
    drawn = [free[n] for n in rng.permutation(len(free))[:number]]
    table = pd.DataFrame({"document": drawn})
    if fit.spans.texts:
        table["text"] = [fit.spans.texts.get(name, "") for name in drawn]
    table[["start", "end", "label"]] = ""
    table["audit"] = fingerprint(fit)
    told = (
        f"{counted(number, 'document')} of {len(names):,}, drawn at random with equal chances. "
        "Mark all spans in each: a row for each span, with start and end in characters from 0. If "
        f"a document has none, write {NONE} as its label. You can also mark these documents in "
        "your tool, and give its export."
    )
    return SpanAudit(
        counted(number, "document") + " to be judged",
        table,
        notes=(told,),
        rounds=(*(tuple(each) for each in rounds), tuple(drawn)),
        mark=fingerprint(fit),
    )


def saved_rounds(path: Path, fit: SpanFit) -> list[list[str]] | None:
    """Return the rounds of a design; None of one that is of other spans."""
    try:
        held = json.loads(path.read_text("utf-8"))
        if held["kind"] != KIND or held["fingerprint"] != fingerprint(fit):
            return None
        return [[str(name) for name in each] for each in held["rounds"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def rounds_of(
    given: SpanAudit | str | os.PathLike[str] | None, fit: SpanFit
) -> list[list[str]] | None:
    """Return the rounds of an audit or of its file; None without one."""
    if given is None:
        return None
    if isinstance(given, SpanAudit):
        found = [list(each) for each in given.rounds] if given.mark == fingerprint(fit) else None
    else:
        found = saved_rounds(Path(given), fit)
    if found is None:
        what = "The audit is of other spans, or this is no design of an audit of spans."
        raise AnnotationError(Problem(what, "audit", "Give the audit that was drawn of this fit."))
    return found


def judged_spans(fit: SpanFit, given: str | os.PathLike[str] | pd.DataFrame | Spans) -> Judged:
    """Read what an expert marked: a filled table of an audit, or a project of a tool."""
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
            what = "This is neither a table with document, start, end and label, nor the spans of "
            raise AnnotationError(Problem(f"{what}one expert.", source, "Give one of them."))
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
        what = "No document is judged: start, end and label are empty."
        remedy = f"Fill in a row for each span, or {NONE} as the label of a document without one."
        raise AnnotationError(Problem(what, source, remedy))
    return {name: frozenset(marks) for name, marks in found.items()}


def estimate_spans(
    fit: SpanFit,
    judged: Judged,
    *,
    drawn: Sequence[str] | None = None,
    threshold: float | None = None,
    seed: int = 0,
) -> Summary:
    """Correct expected precision, recall and F1 by documents that an expert judged.

    The errors of the model in the judged documents, relative to its counts, are carried over to
    the other documents; intervals come from a Bayesian bootstrap over the judged documents.

    Parameters
    ----------
    fit
        The fit of the spans.
    judged
        True spans of each judged document.
    drawn
        The documents that were drawn at random; others count for themselves only.
    threshold
        That of the gold layer.
    seed
        Seed of the draws.

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
        what = f"{counted(len(used), 'document')} of those that were drawn judged."
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
    weights = _weights(int(sample.sum()), rng)
    rest = ~sample & ~apart
    totals, alone = {}, {}
    for name, size in (("tp", given), ("true", np.maximum(expected["true"], given))):
        error = (found[name] - expected[name])[sample]
        scale = weights @ size[sample]
        shift = (weights @ error) / np.where(scale > 0, scale, 1.0)
        known = float(found[name][~rest].sum())
        # documents differ: what is left of the error of one is as in the judged documents
        left = error - shift.mean() * size[sample]
        spread = np.sqrt(rest.sum() * left.var(ddof=1)) * rng.standard_normal(len(weights))
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
            f"{counted(len(used), 'document')} of {len(model):,} judged, taken as drawn at random."
        ]
    if missing := [name for name in drawn or () if name not in judged]:
        notes.append(f"Drawn and not judged: {some(missing)}. They count as the other documents.")
    return Summary(
        "Estimate",
        pd.DataFrame(rows, columns=names.split()),
        xr.Dataset({name: ("draw", drawn_) for name, drawn_ in draws.items()}),
        tuple(notes),
        (*columns("quantity"), *SHOWN["overall"]),
    )


def _weights(n: int, rng: np.random.Generator) -> Floats:
    """Draw weights of documents with a sum of their number, as wide as few documents deserve."""
    drawn = rng.standard_exponential((_DRAWS, n))
    drawn *= n / drawn.sum(axis=1, keepdims=True)
    # the variance of a mean by the bootstrap lacks the factor n / (n - 1)
    wide: Floats = np.maximum(1.0 + (drawn - 1.0) * np.sqrt((n + 1) / (n - 1)), 0.0)
    return wide


def _measures(tp: Floats, gold: Floats | float, true: Floats) -> dict[str, Floats]:
    with np.errstate(invalid="ignore", divide="ignore"):
        found = {"precision": tp / gold, "recall": tp / true, "f1": 2 * tp / (gold + true)}
    return {name: np.nan_to_num(np.asarray(value, dtype=float)) for name, value in found.items()}


def refuse_of_spans(**given: object) -> None:
    """Refuse options of audits of items."""
    if strange := [name for name, value in given.items() if value]:
        named = ", ".join(str(Option(name)) for name in strange)
        raise NotApplicable(
            f"Audits of spans draw whole documents: leave out {named}. "
            f"{Option('size', AUDIT_DOCUMENTS)} draws {AUDIT_DOCUMENTS} documents."
        )
