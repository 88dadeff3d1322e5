"""Remarks on labels that were read: codes for no label, numbers, options that match nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from annomodels.data.names import label_text
from annomodels.data.validation import LONGEST_RATING, all_numbers, same_numbers, some
from annomodels.errors import Option
from annomodels.io.words import NO_LABEL, NO_LABEL_CODES


class Missing(frozenset[str]):
    """Texts that stand for no label; those that were looked for and found are `met`."""

    met: set[str]

    def __new__(cls, texts: Iterable[str] = ()) -> Missing:
        made = super().__new__(cls, texts)
        made.met = set()
        return made

    def __contains__(self, text: object) -> bool:
        for form in spellings(text) if self else ():
            if super().__contains__(form):
                self.met.add(str(form))
                return True
        return False


def spellings(text: object) -> tuple[object, ...]:
    """Text and, of a number, what it is beside empty cells, or would be without: -1.0 and -1."""
    if not isinstance(text, str) or not all_numbers([text]):
        return (text,)
    return text, text.removesuffix(".0") if text.endswith(".0") else f"{text}.0"


def unused(
    name: str, words: Iterable[object], used: Collection[object], labels: Collection[object]
) -> list[str]:
    absent = [word for word in words if word not in used]
    if not absent:
        return []
    known = some(sorted({label_text(label) for label in labels}))
    return [
        f"Given with {Option(name)}, but no cell holds it: {some(absent)}. The labels are {known}."
    ]


def remarks_on(
    items: Sequence[object],
    labels: Sequence[object],
    gold: Iterable[object],
    scale: str,
    declared: bool,
) -> list[str]:
    counts = Counter(label for label in labels if isinstance(label, str))
    notes = _no_labels(counts, "label", "labels") if not declared else []
    truths = Counter(truth for truth in gold if isinstance(truth, str))
    notes += _no_labels(truths, "known truth", "items")
    if scale == "nominal" and len(counts) > LONGEST_RATING and all_numbers(counts):
        notes.append(
            f"The labels are {len(counts):,} different numbers, each a class without an order: if "
            f"their distances count, use {Option('scale', 'interval')}, and if their order does, "
            f"{Option('scale', 'ordinal')}."
        )
    return notes + same_numbers(Counter(i for i in items if isinstance(i, str)), "item")


def no_labels(labels: Collection[str]) -> list[str]:
    """Labels that may mean that there is none: words such as NA, and codes beyond the others."""
    words = [label for label in labels if label.strip().casefold() in NO_LABEL]
    rest = [label for label in labels if label not in words]
    if not rest:
        return []
    codes = [label for label in rest if not NO_LABEL_CODES.isdisjoint(spellings(label))]
    others = [float(label) for label in rest if label not in codes] if all_numbers(rest) else []
    if codes and len(others) > 1:
        low, top = min(others), max(others)  # -1 beside 0 and 1 is a label
        below = [c for c in codes if float(c) < 0 <= low and float(c) != -top]
        words += [*below, *(c for c in codes if float(c) >= max(2 * top, 50))]
    return words


def _no_labels(counts: Counter[str], word: str, of: str) -> list[str]:
    found = no_labels(list(counts))
    if not found:
        return []
    named = some(found, lambda name: f"{name!r} ({counts[name]:,} {of})")
    them = "it" if len(found) == 1 else "them"
    return [
        f"Read as a {word}, but perhaps a sign that there is none: {named}. "
        f"{Option('missing', found)} leaves {them} out."
    ]


def no_labels_undeclared(labels: Sequence[object], declared: Collection[object]) -> tuple[str, ...]:
    unknown = dict.fromkeys(label for label in labels if label not in declared) if declared else {}
    texts = map(label_text, unknown)
    return tuple(
        t for t in texts
        if not NO_LABEL_CODES.isdisjoint(spellings(t)) or t.strip().casefold() in NO_LABEL
    )  # fmt: skip
