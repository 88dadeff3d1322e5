"""What is in the data and what looks odd in it: the sentences of ``annomodels check``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.cli.session import plural
from annomodels.errors import AnnotationError, Problem

if TYPE_CHECKING:
    from annomodels.annotations import Annotations
    from annomodels.report.health import Health, Spread

__all__ = ["Finding", "findings", "require_fittable", "variants"]

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
    """Give all that ``annomodels check`` says, in its order."""
    from annomodels.report.health import health

    facts = health(data)
    one_coder = "" if data.n_coders > 1 else _ONE_CODER
    repeats = "A coder labelled an item more than once; these are kept." if data.repeats else ""
    known = 0 if data.gold is None else int((data.gold >= 0).sum())
    return [
        Finding("items", data.n_items),
        Finding("coders", data.n_coders, one_coder),
        Finding("labels given", data.n_annotations),
        *_labels(data, facts),
        Finding("labels per item", _spread(facts.per_item)),
        _single(facts),
        Finding("labels per coder", _spread(facts.per_coder)),
        *_coders(facts),
        _overlap(facts),
        Finding("repeated labels", data.repeats, repeats),
        Finding("skipped cells", data.skips),
        Finding("items with known truth", known),
        Finding("documents", len(data.groups)),
        Finding("scale", data.scale),
        Finding("fingerprint", data.fingerprint),
    ]


def variants(names: Iterable[Any]) -> list[tuple[str, ...]]:
    """Group labels that differ only in case or in spaces.

    Examples
    --------
    >>> variants(["pos", "Pos ", "neg"])
    [('pos', 'Pos ')]
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        text = str(name)
        groups.setdefault(" ".join(text.casefold().split()), []).append(text)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def require_fittable(data: Annotations) -> None:
    """Make sure that a model has something to learn from.

    Raises
    ------
    AnnotationError
        With all reasons why not: one label, one coder, no item with two coders.
    """
    codes = data.label if data.gold is None else np.concatenate([data.label, data.gold])
    used = np.unique(codes[codes >= 0])
    pairs = np.unique(data.item.astype(np.int64) * data.n_coders + data.coder)
    coders_of_item = np.bincount(pairs // data.n_coders, minlength=data.n_items)
    problems = []
    if len(used) < 2:
        problems.append(
            Problem(
                f"Every label is {_cut(data.labels[used[0]])}, so there is nothing to learn "
                "about the truth or the coders.",
                data.source,
                "Add items with other labels; `annomodels check` and `agree` work as it is.",
            )
        )
    if data.n_coders < 2:
        remedy = "Add a second coder; see that --coder names the right column."
        problems.append(Problem(_ONE_CODER, data.source, remedy))
    elif coders_of_item.max() < 2:
        problems.append(
            Problem(
                "No item was labelled by two coders, so agreement and the quality of coders "
                "cannot be learnt.",
                data.source,
                "Let coders share items; see that --item and --coder name the right columns.",
            )
        )
    if problems:
        raise AnnotationError(problems)


_ONE_CODER = "There is one coder: agreement and the quality of coders cannot be learnt from one."


def _labels(data: Annotations, facts: Health) -> list[Finding]:
    counts = np.array(facts.label_counts)
    order = np.argsort(-counts, kind="stable")
    shown = [f"{_cut(data.labels[k])} {counts[k] / counts.sum():.1%}" for k in order[:_SHOWN]]
    more = f" and {data.n_labels - _SHOWN} more" if data.n_labels > _SHOWN else ""
    one = ""
    if (counts > 0).sum() == 1:
        one = "Only one label was given: coefficients that correct for chance are undefined."
    alike = variants(data.labels)
    written = "; ".join(" / ".join(repr(_cut(name)) for name in group) for group in alike)
    spelling = f"They differ only in case or spaces: {written}. Mend them if they mean the same."
    unused = f"Declared but never given: {_some(facts.unused)}." if facts.unused else ""
    return [
        Finding("different labels", data.n_labels, one),
        Finding("label shares", ", ".join(shown) + more),
        Finding("unused labels", len(facts.unused), unused, _texts(facts.unused)),
        Finding(
            "spelling variants",
            len(alike),
            spelling if alike else "",
            tuple(name for group in alike for name in group),
        ),
    ]


def _single(facts: Health) -> Finding:
    n = facts.single
    remark = f"{plural(n, 'item')} with one label: no agreement can be seen there." if n else ""
    return Finding("items with one label", n, remark)


def _coders(facts: Health) -> list[Finding]:
    from annomodels.report.health import FEW

    few = f"Little can be said about {_some(facts.few)}." if facts.few else ""
    same = f"They gave one and the same label always: {_some(facts.constant)}."
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
    sizes += ", ..." if n > _SHOWN else ""
    return Finding(
        "overlap groups",
        n,
        f"The data fall into {n} groups (of {sizes} items) that share no coder: coders of "
        "different groups can be compared only through what the model assumes.",
    )


def _spread(counts: Spread) -> str:
    if counts.least == counts.most:
        return str(counts.least)
    return f"{counts.least} to {counts.most}, median {counts.median:g}"


def _texts(names: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(name) for name in names)


def _some(names: Sequence[Any]) -> str:
    more = len(names) - _SHOWN
    shown = ", ".join(_cut(name) for name in names[:_SHOWN])
    return shown + (f" and {more} more" if more > 0 else "")


def _cut(name: Any) -> str:
    text = str(name)
    return text if len(text) <= 40 else text[:37] + "..."
