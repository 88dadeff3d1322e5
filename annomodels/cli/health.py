"""What is in the data and what looks odd in it: the sentences of ``annomodels check``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.cli.session import plural
from annomodels.data.names import label_text
from annomodels.data.validation import rated, variants

if TYPE_CHECKING:
    from annomodels.data.annotations import Annotations
    from annomodels.reporting.health import Health, Spread

_SHOWN = 8


@dataclass(frozen=True)
class Finding:
    """One fact about the data.

    Parameters
    ----------
    check
        Short name.
    value
        Number or text.
    remark
        What it means or what to do about it; empty when all is well.
    names
        Labels or coders concerned.
    """

    check: str
    value: Any
    remark: str = ""
    names: tuple[str, ...] = ()


def findings(data: Annotations) -> list[Finding]:
    """Give what ``annomodels check`` counts, in its order; ``data.notes`` say more in words."""
    from annomodels.reporting.health import health

    facts = health(data)
    known = 0 if data.gold is None else int((data.gold >= 0).sum())
    return [
        Finding("items", data.n_items),
        Finding("coders", data.n_coders),
        Finding("labels given", data.n_annotations),
        *_labels(data, facts),
        Finding("labels per item", _spread(facts.per_item)),
        _single(facts),
        Finding("labels per coder", _spread(facts.per_coder)),
        *_coders(facts),
        _overlap(facts),
        Finding("repeated labels", data.repeats),
        Finding("skipped cells", data.skips),
        Finding("items with known truth", known),
        Finding("documents", len(data.groups)),
        Finding("scale", data.scale, rated(data.labels, data.scale)),
        Finding("fingerprint", data.fingerprint),
    ]


def _labels(data: Annotations, facts: Health) -> list[Finding]:
    counts = np.array(facts.label_counts)
    order = np.argsort(-counts, kind="stable")
    shown = [f"{_cut(data.labels[k])} {counts[k] / counts.sum():.1%}" for k in order[:_SHOWN]]
    more = f" and {data.n_labels - _SHOWN} more" if data.n_labels > _SHOWN else ""
    alike = len(variants(data.labels, "label")) + len(variants(data.coders, "coder"))
    unused = f"Declared but never given: {_some(facts.unused)}." if facts.unused else ""
    return [
        Finding("different labels", data.n_labels),
        Finding("label shares", ", ".join(shown) + more),
        Finding("unused labels", len(facts.unused), unused, _texts(facts.unused)),
        Finding("spelling variants", alike),
    ]


def _single(facts: Health) -> Finding:
    n = facts.single
    remark = f"{plural(n, 'item')} with one label: they say nothing about agreement." if n else ""
    return Finding("items with one label", n, remark)


def _coders(facts: Health) -> list[Finding]:
    from annomodels.reporting.health import FEW

    few = f"There is too little data on {_some(facts.few)}." if facts.few else ""
    same = f"They always gave the same label: {_some(facts.constant)}."
    return [
        Finding(f"coders below {FEW} labels", len(facts.few), few, _texts(facts.few)),
        Finding(
            "constant coders",
            len(facts.constant),
            same if facts.constant else "",
            _texts(facts.constant),
        ),
    ]


def _overlap(facts: Health) -> Finding:
    n = len(facts.components)
    if n == 1:
        return Finding("overlap groups", n)
    sizes = ", ".join(str(size) for size in facts.components[:_SHOWN])
    more = ", ..." if n > _SHOWN else ""
    return Finding("overlap groups", n, f"They have {sizes}{more} items and no coder in common.")


def _spread(counts: Spread) -> str:
    if counts.least == counts.most:
        return str(counts.least)
    return f"{counts.least} to {counts.most}, median {counts.median:g}"


def _texts(names: Sequence[Any]) -> tuple[str, ...]:
    return tuple(label_text(name) for name in names)


def _some(names: Sequence[Any]) -> str:
    more = len(names) - _SHOWN
    shown = ", ".join(_cut(name) for name in names[:_SHOWN])
    return shown + (f" and {more} more" if more > 0 else "")


def _cut(name: Any) -> str:
    text = label_text(name)
    return text if len(text) <= 40 else text[:37] + "..."
