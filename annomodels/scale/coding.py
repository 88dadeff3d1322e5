"""From the names that were met to the label set, with what is wrong or worth saying about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.coding import natural_key
from annomodels.data.names import label_text
from annomodels.data.validation import (
    MANY_LABELS,
    all_numbers,
    check_names,
    check_numbers,
    check_order,
    counted,
    is_blank,
    some,
    variants,
)
from annomodels.errors import AnnotationError, Problem
from annomodels.scale.intake import Intake
from annomodels.scale.sorting import Census, used_truths
from annomodels.scale.spill import Bucket
from annomodels.scale.unanswered import left_out

__all__ = ["final_labels", "label_problems", "scan_notes"]

Codes = NDArray[np.int32]


def label_problems(intake: Intake, scale: str, source: str) -> list[Problem]:
    """Say what is wrong with the names as a whole."""
    labels = tuple(intake.labels.codes)
    problems: list[Problem] = []
    given = sum(intake.labels.counts.values())
    if not given and not intake.places.found and any(intake.dont_know.counts.values()):
        what = "Every label is one that is no class."
        remedy = "See that dont_know= (--dont-know) names the right one."
        return [Problem(what, source, remedy)]
    if not given and not intake.places.found:
        what = "No cell holds a label."
        remedy = "Check the label column, and which texts stand for no label (missing=...)."
        return [Problem(what, source, remedy)]
    for word, names in (("coder", intake.coders.codes), ("label", intake.labels.codes)):
        problems += check_names(names, word, source)
    if intake.declared is None:
        problems += check_order(labels, scale)
        problems += check_numbers(labels, scale, source)
        free = scale not in ("interval", "ratio") and len(labels) > max(MANY_LABELS, given / 2)
        if free and not intake.places.found:
            what = f"There are {len(labels):,} different labels on {counted(given, 'annotation')}."
            remedy = (
                "This looks like free text or measurements: name the label column, or declare the "
                "labels with labels=[...] (--labels)."
            )
            problems.append(Problem(what, f"{source}, labels {some(sorted(labels))}", remedy))
    elif len(set(intake.declared)) < len(intake.declared) or not intake.declared:
        what = "The declared label set is empty or names a label twice."
        problems.append(Problem(what, f"labels {some(intake.declared)}", "Name each label once."))
    return problems


def final_labels(
    intake: Intake,
    buckets: Sequence[Bucket],
    declared: Sequence[Hashable] | None,
    scale: str,
    known: Mapping[str, Any] | None,
) -> tuple[tuple[Hashable, ...], Codes, Codes, dict[str, int] | None, list[str]]:
    """Sort the labels, those that only the gold uses among them.

    Parameters
    ----------
    intake
        What was met.
    buckets
        The rows, to see whether a truth belongs to an item that somebody labelled.
    declared
        The declared labels, or None.
    scale
        Scale of the labels.
    known
        Known truth by item, instead of a column.

    Returns
    -------
    tuple
        Names; final code of each label met, and of each truth met (-1 for those of items that
        nobody labelled); known truth by item as codes; notes.

    Raises
    ------
    AnnotationError
        When a known truth is outside the label set.
    """
    met, truths = tuple(intake.labels.codes), dict(intake.truths.codes)
    notes: list[str] = []
    if known is not None:
        known = {name: value for name, value in known.items() if not is_blank(value)}
        truths = {label_text(value): -1 for value in known.values()}
    names: tuple[Hashable, ...] = met if declared is None else tuple(declared)
    texts = [label_text(name) for name in names]
    absent = {"", *intake.missing}
    extra = sorted(truths.keys() - set(texts) - absent, key=natural_key)
    if extra and known is None:
        wanted = np.array([truths[name] for name in extra])
        used = used_truths(buckets, wanted)
        extra = [name for name in extra if truths[name] in used]
    if extra and (declared is not None or not (scale == "nominal" or all_numbers(extra))):
        what = f"{counted(len(extra), 'known truth')} outside the label set: {some(extra)}."
        remedy = "Declare all labels with labels=[...] (--labels), or fix the known gold."
        raise AnnotationError(Problem(what, f"labels {some(texts)}", remedy))
    if extra:
        notes.append(f"Labels that only the known gold uses: {some(extra)}.")
    if declared is None:
        names = tuple(sorted([*met, *extra], key=natural_key))
    place = {label_text(name): k for k, name in enumerate(names)}
    label = np.array([place[name] for name in met], dtype=np.int32)
    truth = np.array([place.get(name, -1) for name in truths], dtype=np.int32)
    codes = (
        None if known is None else {name: place[label_text(value)] for name, value in known.items()}
    )
    return names, label, truth, codes, notes


def scan_notes(intake: Intake, census: Census) -> list[str]:
    """Say what is worth knowing about the labels, as ``annomodels.read`` says it."""
    said = Counter(intake.labels.counts) + Counter(intake.dont_know.counts)
    notes = [
        *variants(said, "label"),  # counts are taken over as they are
        *variants(intake.coders.counts, "coder"),
    ]
    repeats, differ, shared = (int(n) for n in census.found[:3])
    if census.unlabelled:
        left = counted(census.unlabelled, "item")
        notes.insert(0, f"Left out because nobody labelled them: {left}.")
    if census.dropped:
        notes.insert(
            0,
            f"{counted(census.dropped, 'row')} dropped that repeat an annotation id with the same "
            "item, coder and label.",
        )
    if repeats:
        notes.append(
            f"{counted(repeats, 'label')} given by a coder who had labelled the item before; "
            f"{differ:,} of them differ from the label before; all are kept."
        )
    if len(census.per_coder) == 1:
        notes.append("There is only one coder, so nothing can be said about agreement.")
    elif not shared:
        notes.append("No item was labelled by two coders, so there is no agreement to measure.")
    elif census.components > 1:
        notes.append(
            f"The coders fall into {census.components} groups that share no item, so they are "
            "compared through the model only."
        )
    silent = len(intake.coders.codes) - len(intake.answering)
    return [*notes, *left_out(tuple(intake.dont_know.codes), census.silent, silent)]
