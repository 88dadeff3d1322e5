"""Agreement of coders on spans: pairwise F1, alpha for units, alpha of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from annomodels.coefficients.agreement import agreement
from annomodels.coefficients.continuum import Unit, Units, alpha_u, span_f1
from annomodels.coefficients.result import Agreement, AgreementPanel
from annomodels.errors import AnnotationError
from annomodels.io.span_builder import GOLD, MarkedSpan, Spans
from annomodels.limits import MOST_TOKENS

MEASURES = ("span_f1", "span_f1_overlapping", "alpha_u", "token_alpha")


def span_agreement(
    spans: Spans, asked: Sequence[str] = MEASURES, *, draws: int = 2000, seed: int = 0
) -> AgreementPanel:
    """Measure the agreement of coders on one layer of spans, over all labels and by label.

    The measures are F1 over pairs of coders, of the same place or of overlapping spans with the
    same label, alpha for units, and alpha of token labels; intervals resample documents.
    """
    units = _units(spans)
    labels = [None, *(units.labels if len(units.labels) > 1 else ())]
    found: list[Agreement] = []
    for name in dict.fromkeys(asked):
        if name == "token_alpha":
            found += _tokens(spans)
        elif name == "alpha_u":
            found.append(alpha_u(_units(spans, joined=True), draws=draws, seed=seed))
        else:
            for label in labels:
                near = name != "span_f1"
                made = span_f1(units, label, overlapping=near, draws=draws, seed=seed)
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
    ends: dict[str, int] = dict.fromkeys(spans.seen, 1)
    for s in marks:
        ends[s.document] = max(ends[s.document], s.end)
    return Units.of(
        [Unit(s.document, s.coder, s.start, s.end, s.label) for s in marks],
        tuple(spans.seen),
        spans.coders,
        lengths={name: max(end, len(spans.texts.get(name, ""))) for name, end in ends.items()},
        done={(name, one) for name, who in spans.seen.items() for one in who},
    )


def _joined(marks: Sequence[MarkedSpan]) -> Iterator[MarkedSpan]:
    for _, each in groupby(marks, key=lambda s: (s.document, s.coder, s.label)):
        first, *rest = each
        for span in rest:
            if span.start < first.end:
                first = replace(first, end=max(first.end, span.end))
            else:
                yield first
                first = span
        yield first
