"""From columns of names to integer codes, with every problem reported at once."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.errors import AnnotationError, Problem

__all__ = ["code", "code_gold", "from_rows", "is_missing", "natural_key"]

SHOWN = 5
_DIGITS = re.compile(r"(\d+)")


def is_missing(value: Any) -> bool:
    """Whether a cell holds nothing: None or NaN. The texts "None" and "NA" are labels.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing("NA"), is_missing("")
    (True, True, False, False)
    """
    return value is None or (isinstance(value, float) and math.isnan(value))


def natural_key(name: Any) -> tuple[Any, ...]:
    """Sorting key by which t2 stands before t10, and numbers are sorted by value.

    Examples
    --------
    >>> sorted(["t10", "t2", "a"], key=natural_key)
    ['a', 't2', 't10']
    """
    text = str(name)
    try:
        value = float(text)
        if math.isfinite(value):
            return (0, value, text)
    except ValueError:
        pass
    if isinstance(name, (frozenset, set)):
        return (2, len(name), tuple(sorted(map(str, name))))
    parts = tuple(
        (0, int(part), "") if part.isascii() and part.isdigit() else (1, 0, part.casefold())
        for part in _DIGITS.split(text)
        if part
    )
    return (1, parts, text)


def from_rows(
    rows: Iterable[Sequence[Any]], source: str
) -> tuple[list[Any], list[Any], list[Any], int]:
    """Split rows into columns; gives items, coders, labels and the number of skipped labels."""
    items: list[Any] = []
    coders: list[Any] = []
    values: list[Any] = []
    wrong: list[int] = []
    empty: list[int] = []
    skips = 0
    for number, row in enumerate(rows, 1):
        if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 3:
            wrong.append(number)
            continue
        item, coder, value = row
        if is_missing(item) or is_missing(coder):
            empty.append(number)
        elif is_missing(value):
            skips += 1
        else:
            items.append(item)
            coders.append(coder)
            values.append(value)
    problems = []
    if wrong:
        problems.append(
            Problem(
                f"{len(wrong)} row(s) are not (item, coder, label).",
                _rows(source, wrong),
                "Give three values a row.",
            )
        )
    if empty:
        problems.append(
            Problem(
                f"{len(empty)} row(s) have no item or no coder.",
                _rows(source, empty),
                "Name the item and the coder of every label.",
            )
        )
    if not problems and not items:
        problems.append(
            Problem("There is no label.", source, "Give at least one (item, coder, label).")
        )
    if problems:
        raise AnnotationError(problems)
    return items, coders, values, skips


def code(
    items: Sequence[Any] | NDArray[Any],
    coders: Sequence[Any] | NDArray[Any],
    values: Sequence[Any] | NDArray[Any],
    *,
    labels: Sequence[Hashable] | None,
    scale: str,
    gold: Mapping[Any, Any] | None,
    group: Mapping[Any, Any] | None,
    texts: Mapping[Any, str] | None,
    source: str,
    rows: Sequence[int] | NDArray[Any] | None,
) -> dict[str, Any]:
    """Give the fields of an ``Annotations``; see there."""
    if not len(items):
        raise AnnotationError(
            Problem("There is no label.", source, "Give at least one (item, coder, label).")
        )
    item_names, item = _codes(items)
    coder_names, coder = _codes(coders)
    problems: list[Problem] = []
    declared = labels is not None
    if labels is None:
        label_names, label = _codes(values)
        if scale == "ordinal" and not _all_numbers(label_names):
            problems.append(
                Problem(
                    "The scale is ordinal but the labels are words without an order.",
                    f"labels {_some(label_names)}",
                    "Give the labels in their order: labels=[...] or --labels low,mid,high.",
                )
            )
    else:
        label_names = tuple(labels)
        problems += _check_declared(label_names)
        lookup = {name: k for k, name in enumerate(label_names)}
        label = np.array([lookup.get(value, -1) for value in values], dtype=np.int32)
        unknown = np.flatnonzero(label < 0)
        if len(unknown):
            names = tuple(dict.fromkeys(values[int(n)] for n in unknown))
            at = [int(n) + 1 if rows is None else int(rows[int(n)]) for n in unknown]
            problems.append(
                Problem(
                    f"{len(unknown)} label(s) are not in the declared set: {_some(names)}.",
                    _rows(source, at),
                    f"Declare them too (declared: {_some(label_names)}) or mend the rows.",
                )
            )
    if scale in ("interval", "ratio") and not _all_numbers(label_names):
        words = tuple(n for n in label_names if not _all_numbers((n,)))
        problems.append(
            Problem(
                f"The scale is {scale} but some labels are not numbers: {_some(words)}.",
                source,
                "Use the nominal or the ordinal scale, or mend the labels.",
            )
        )
    if problems:
        raise AnnotationError(problems)
    order = np.lexsort((coder, item))
    notes: list[str] = []
    fields: dict[str, Any] = {
        "item": item[order],
        "coder": coder[order],
        "label": label[order],
        "items": item_names,
        "coders": coder_names,
        "labels": label_names,
        "declared": declared,
    }
    if gold:
        if not declared:
            extra = sorted(
                {v for i, v in gold.items() if i in set(item_names)} - set(label_names),
                key=natural_key,
            )
            if extra:
                label_names = tuple(sorted([*label_names, *extra], key=natural_key))
                shift = np.array([label_names.index(n) for n in fields["labels"]], dtype=np.int32)
                fields["label"] = shift[fields["label"]]
                fields["labels"] = label_names
                notes.append(f"Labels that only the known gold uses: {_some(extra)}.")
        fields["gold"] = code_gold(gold, item_names, label_names)
    if group is not None:
        fields["groups"], fields["group"] = _codes([group[name] for name in item_names])
    if texts is not None:
        fields["texts"] = tuple(texts.get(name, "") for name in item_names)
    fields["notes"] = notes
    return fields


def code_gold(
    gold: Mapping[Any, Any], items: tuple[Hashable, ...], labels: tuple[Hashable, ...]
) -> NDArray[np.int32]:
    """Known truth as codes, -1 where unknown, shape [item]."""
    lookup = {name: k for k, name in enumerate(labels)}
    out = np.full(len(items), -1, dtype=np.int32)
    unknown: list[Any] = []
    for i, name in enumerate(items):
        truth = gold.get(name)
        if is_missing(truth):
            continue
        if truth in lookup:
            out[i] = lookup[truth]
        else:
            unknown.append(truth)
    if unknown:
        raise AnnotationError(
            Problem(
                f"{len(unknown)} known truth(s) are not in the label set: "
                f"{_some(dict.fromkeys(unknown))}.",
                f"labels {_some(labels)}",
                "Declare all labels with labels=[...], or mend the gold column.",
            )
        )
    return out


def _codes(names: Sequence[Any] | NDArray[Any]) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
    if isinstance(names, np.ndarray):
        names = names.tolist()
    unique = sorted(dict.fromkeys(names), key=natural_key)
    lookup = {name: code for code, name in enumerate(unique)}
    return tuple(unique), np.array([lookup[name] for name in names], dtype=np.int32)


def _check_declared(labels: tuple[Hashable, ...]) -> list[Problem]:
    problems = []
    if len(set(labels)) < len(labels):
        twice = [name for name in dict.fromkeys(labels) if labels.count(name) > 1]
        problems.append(
            Problem(f"Labels are declared twice: {_some(twice)}.", remedy="Name each label once.")
        )
    if not labels:
        problems.append(Problem("The declared label set is empty.", remedy="Name the labels."))
    return problems


def _all_numbers(names: Iterable[Any]) -> bool:
    for name in names:
        try:
            if not math.isfinite(float(name)):
                return False
        except (TypeError, ValueError):
            return False
    return True


def _some(names: Iterable[Any]) -> str:
    names = list(names)
    shown = ", ".join(_short(name) for name in names[:SHOWN])
    more = len(names) - SHOWN
    return shown + (f" and {more} more" if more > 0 else "")


def _short(name: Any) -> str:
    text = repr(name)
    return text if len(text) <= 40 else text[:37] + "..."


def _rows(source: str, rows: Sequence[int]) -> str:
    shown = ", ".join(str(row) for row in rows[:SHOWN])
    more = len(rows) - SHOWN
    text = f"row {shown}" + (f" and {more} more" if more > 0 else "")
    return f"{source}, {text}" if source else text
