"""Agreement of coders on spans: pairwise F1, alpha for units, alpha of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from annomodels.coefficients.agreement import agreement
from annomodels.coefficients.continuum import Units, alpha_u, span_f1
from annomodels.coefficients.result import Agreement, AgreementPanel
from annomodels.errors import AnnotationError
from annomodels.io.span_builder import GOLD, Span, Spans
from annomodels.limits import MOST_TOKENS

if TYPE_CHECKING:
    from annomodels.types import Ints

MEASURES = ("span_f1", "span_f1_overlapping", "alpha_u", "token_alpha")


def span_agreement(
    spans: Spans, asked: Sequence[str] = MEASURES, *, draws: int = 2000, seed: int = 0
) -> AgreementPanel:
    """Measure the agreement of coders on one layer of spans, over all labels and by label.

    Parameters
    ----------
    spans
        The spans of one layer.
    asked
        Measures: "span_f1" (F1 over pairs of coders, same place and label), "span_f1_overlapping"
        (F1 of overlapping spans with the same label), "alpha_u" (alpha for units), "token_alpha"
        (alpha of token labels).
    draws, seed
        Number and seed of the bootstrap draws for intervals, which resample documents.

    Examples
    --------
    >>> marks = (Span("d", "ana", "NE", 0, 4, "PER"), Span("d", "ben", "NE", 0, 9, "PER"))
    >>> found = span_agreement(Spans(marks, {"d": ("ana", "ben")}), ["span_f1_overlapping"])
    >>> found["span_f1_overlapping"].value
    1.0
    """
    units = _units(spans)
    how = {"draws": draws, "seed": seed}
    labels = [None, *(units.labels if len(units.labels) > 1 else ())]
    found: list[Agreement] = []
    for name in dict.fromkeys(asked):
        if name == "token_alpha":
            found += _tokens(spans)
            continue
        joined = _units(spans, joined=True) if name == "alpha_u" else units
        for label in labels if name != "alpha_u" else labels[:1]:
            made = (
                alpha_u(joined, label, **how)
                if name == "alpha_u"
                else span_f1(units, label, overlapping=name != "span_f1", **how)
            )
            found.append(replace(made, name=name if label is None else f"{name}:{label}"))
    notes = dict.fromkeys(note for one in found for note in one.notes)
    return AgreementPanel(tuple(found), tuple(notes))


def _tokens(spans: Spans) -> Iterator[Agreement]:
    """Yield alpha of tokens if the number of tokens is known and below the limit."""
    sizes = [len(spans.tokens.get(d, ())) or len(spans.texts.get(d, "")) // 5 for d in spans.seen]
    coders = [len(names) for names in spans.seen.values()]
    if not all(sizes) or int(np.dot(sizes, coders)) > MOST_TOKENS:
        return
    try:
        made = agreement(spans.units("token"), "alpha")
    except AnnotationError:  # fewer than two labels, or no coders to compare
        return
    yield replace(made, name="token_alpha", title="Krippendorff's alpha of tokens")


def _units(spans: Spans, *, joined: bool = False) -> Units:
    """Convert marks to units; `joined` merges overlapping spans of a coder and label."""
    marks = sorted(
        (s for s in spans.spans if s.coder != GOLD and s.start < s.end),
        key=lambda s: (s.document, s.coder, s.label, s.start, s.end),
    )
    marks = list(_joined(marks)) if joined else marks
    texts, coders = tuple(spans.seen), spans.coders
    labels = tuple(sorted({s.label for s in marks}))
    codes: list[dict[str, int]] = [
        {name: n for n, name in enumerate(names)} for names in (texts, coders, labels)
    ]
    ends: dict[str, int] = dict.fromkeys(texts, 1)
    for s in marks:
        ends[s.document] = max(ends[s.document], s.end)
    active = np.zeros((len(texts), len(coders)), dtype=bool)
    for name, who in spans.seen.items():
        active[codes[0][name], [codes[1][one] for one in who if one != GOLD]] = True

    def coded(values: Sequence[str], of: int) -> Ints:
        return np.array([codes[of][value] for value in values], dtype=np.int64)

    return Units(
        text=coded([s.document for s in marks], 0),
        coder=coded([s.coder for s in marks], 1),
        start=np.array([s.start for s in marks], dtype=float),
        end=np.array([s.end for s in marks], dtype=float),
        label=coded([s.label for s in marks], 2),
        texts=texts,
        coders=coders,
        labels=labels,
        begin=np.zeros(len(texts)),
        length=np.array([max(ends[d], len(spans.texts.get(d, ""))) for d in texts], dtype=float),
        active=active,
    )


def _joined(marks: Sequence[Span]) -> Iterator[Span]:
    for _, each in groupby(marks, key=lambda s: (s.document, s.coder, s.label)):
        first, *rest = each
        for span in rest:
            if span.start < first.end:
                first = replace(first, end=max(first.end, span.end))
            else:
                yield first
                first = span
        yield first
