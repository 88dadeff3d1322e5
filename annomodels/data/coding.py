"""From columns of names to integer codes, with every problem reported at once."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.names import label_text
from annomodels.data.validation import (
    Cells,
    Names,
    all_numbers,
    at_rows,
    check_hashable,
    check_numbers,
    check_order,
    check_types,
    counted,
    is_blank,
    is_hashable,
    some,
)
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.types import AnyArray

_DIGITS = re.compile(r"(\d+)")
_NUMBER_STARTS = frozenset("+-.0123456789 \t\n\r\v\f")

Ints = NDArray[np.int32]


def natural_key(name: object) -> tuple[Any, ...]:
    """Return a sort key that puts t2 before t10 and sorts numbers by value."""
    text = str(name)
    if text[:1] in _NUMBER_STARTS or not text.isascii():  # else float() cannot succeed
        try:
            value = float(text)
            if math.isfinite(value):
                return (0, value, text, type(name).__name__)
        except ValueError:
            pass
    if isinstance(name, (frozenset, set)):
        return (2, len(name), tuple(sorted(map(label_text, name))))
    # every other part is digits; those of other scripts are read as text
    parts = enumerate(_DIGITS.split(text))
    return (1, tuple([_number(p) if n % 2 else (1, 0, p.casefold()) for n, p in parts if p]), text)


def natural_sorted(names: Iterable[Any]) -> list[Any]:
    """Sort by `natural_key`, but by a number at the end of texts without a tuple for each."""
    every = list(names)
    texts = sorted(every) if all(type(name) is str for name in every) else []
    if texts:
        pairs = zip(texts[0], texts[-1], strict=False)
        same = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
        start = texts[0][:same].rstrip("0123456789")
        at, is_plain = len(start), start.isascii() and start[:1] not in _NUMBER_STARTS
        if is_plain and all(len(t) - at < 16 and t.isascii() and t[at:].isdigit() for t in texts):
            return sorted(texts, key=lambda text: int(text[at:]))
    return sorted(every, key=natural_key)


def _number(part: str) -> tuple[int, int, str]:
    if not part.isascii():
        return (1, 0, part.casefold())
    digits = part.lstrip("0")  # by length, then digits, for numbers of any length
    return (0, len(digits), digits)


def code(
    items: Cells,
    coders: Cells,
    values: Cells,
    *,
    labels: Sequence[Hashable] | None,
    scale: str,
    gold: Mapping[Hashable, object] | None,
    group: Mapping[Hashable, object] | None,
    texts: Mapping[Hashable, str] | None,
    source: str,
    rows: Sequence[int] | AnyArray | None,
) -> dict[str, Any]:
    """Return the fields of an ``Annotations``; see there."""
    if not len(items):
        raise AnnotationError(
            Problem("The data have no labels.", source, "Give at least one (item, coder, label).")
        )
    problems = [
        problem
        for cells, word in ((items, "item"), (coders, "coder"), (values, "label"))
        for problem in check_hashable(cells, word, source, rows)
    ]
    if isinstance(labels, str):
        what = f"The label set is a single text, {labels!r}."
        problems.append(Problem(what, remedy="Give a list of labels."))
    if problems:
        raise AnnotationError(problems)
    item_names, item = _codes(items)
    coder_names, coder = _codes(coders)
    notes: list[str] = []
    if labels is None:
        label_names, label = _codes(values)
        problems += check_order(label_names, scale)
        extra = _only_in_gold(gold, item_names, label_names, scale)
        if extra:
            notes.append(f"Labels that only the known gold uses: {some(extra)}.")
            wider = tuple(sorted([*label_names, *extra], key=natural_key))
            place = {name: k for k, name in enumerate(wider)}
            label = np.array([place[name] for name in label_names], dtype=np.int32)[label]
            label_names = wider
    else:
        label_names = tuple(labels)
        label, found = _declared_codes(values, label_names, source, rows)
        problems += found
    for names, word in ((item_names, "item"), (coder_names, "coder"), (label_names, "label")):
        problems += check_types(names, word, source)
    problems += check_numbers(label_names, scale, source)
    fields: dict[str, Any] = {}
    if gold:
        try:
            fields["gold"] = code_gold(gold, item_names, label_names)
        except AnnotationError as error:
            problems += error.problems
    if problems:
        raise AnnotationError(problems)
    if group is not None:
        fields["groups"], fields["group"] = _codes([group.get(name, "") for name in item_names])
    if texts is not None:
        fields["texts"] = tuple(texts.get(name, "") for name in item_names)
    order = np.lexsort((coder, item))
    return {
        **fields,
        "item": item[order],
        "coder": coder[order],
        "label": label[order],
        "items": item_names,
        "coders": coder_names,
        "labels": label_names,
        "declared": labels is not None,
        "notes": notes,
    }


def code_gold(gold: Mapping[Hashable, object], items: Names, labels: Names) -> Ints:
    """Return known true labels as codes, -1 where unknown, shape [item]."""
    lookup = {name: k for k, name in enumerate(labels)}
    out = np.full(len(items), -1, dtype=np.int32)
    unknown: list[Any] = []
    for i, name in enumerate(items):
        truth = gold.get(name)
        if is_blank(truth):
            continue
        if is_hashable(truth) and truth in lookup:
            out[i] = lookup[truth]
        else:
            unknown.append(truth)
    if unknown:
        raise AnnotationError(
            Problem(
                f"{counted(len(unknown), 'known truth')} outside the label set: "
                f"{some(dict.fromkeys(map(repr, unknown)), str)}.",
                f"labels {some(labels)}",
                f"Declare all labels with {Option('labels', [...])}, or fix the known gold.",
            )
        )
    return out


def _codes(names: Cells) -> tuple[Names, Ints]:
    if isinstance(names, np.ndarray):
        names = names.tolist()
    unique = natural_sorted(dict.fromkeys(names))
    lookup = {name: code for code, name in enumerate(unique)}
    return tuple(unique), np.fromiter(map(lookup.__getitem__, names), np.int32, len(names))


def _declared_codes(
    values: Cells, names: Names, source: str, rows: Sequence[int] | AnyArray | None
) -> tuple[Ints, list[Problem]]:
    problems = list(check_hashable(names, "label", "the declared label set"))
    if not names:
        problems.append(Problem("The declared label set is empty.", remedy="Name the labels."))
    if problems:
        return np.zeros(len(values), dtype=np.int32), problems
    if len(set(names)) < len(names):
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        what = f"Labels are declared twice: {some(twice)}."
        problems.append(Problem(what, remedy="Name each label once."))
    lookup = {name: k for k, name in enumerate(names)}
    label = np.array([lookup.get(value, -1) for value in values], dtype=np.int32)
    unknown = np.flatnonzero(label < 0).tolist()
    if unknown:
        strange = dict.fromkeys(values[n] for n in unknown)
        at = [n + 1 if rows is None else int(rows[n]) for n in unknown]
        problems.append(
            Problem(
                f"{counted(len(unknown), 'label')} outside the declared set: {some(strange)}.",
                at_rows(source, at),
                f"Declare them too (declared: {some(names)}) or fix the rows.",
                code="label-undeclared",
            )
        )
    return label, problems


def _only_in_gold(
    gold: Mapping[Hashable, object] | None, items: Names, labels: Names, scale: str
) -> list[Hashable]:
    """Return true labels that no coder gave, if their position in the label set is clear."""
    known = set(items)
    truths = dict.fromkeys(
        truth
        for name, truth in (gold or {}).items()
        if name in known and not is_blank(truth) and is_hashable(truth)
    )
    extra = sorted(truths.keys() - set(labels), key=natural_key)
    return extra if scale == "nominal" or all_numbers(extra) else []


def subset(
    keep: NDArray[np.bool_], item: Ints, coder: Ints
) -> tuple[Ints, Ints, NDArray[np.int64], NDArray[np.int64]]:
    """Return the kept items and coders as old codes, and the new codes of the rows."""
    kept_items, new_item = np.unique(item[keep], return_inverse=True)
    kept_coders, new_coder = np.unique(coder[keep], return_inverse=True)
    return kept_items, kept_coders, new_item, new_coder
