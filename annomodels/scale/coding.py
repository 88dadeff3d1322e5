"""Final codes of the names in a scan, with problems and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from annomodels.data.coding import natural_key
from annomodels.data.names import label_text
from annomodels.data.validation import (
    FREE,
    MANY_LABELS,
    all_numbers,
    check_names,
    check_numbers,
    check_order,
    counted,
    is_blank,
    overlap_notes,
    some,
    variants,
)
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.tables.columns import read_with_points, without_label
from annomodels.scale.intake import Intake, declare
from annomodels.scale.rows import CodedRows
from annomodels.scale.sorting import Recoding, SortedCounts


def label_problems(intake: Intake, scale: str, source: str) -> list[Problem]:
    """List problems with the names of coders and labels."""
    labels = tuple(intake.labels.codes)
    given = sum(intake.labels.counts.values())
    faultless = not intake.places.wrong
    if not given and faultless:
        if any(intake.dont_know.counts.values()):
            what = "None of the labels is a class."
            remedy = f"Check that {Option('dont_know')} names the right label."
        else:
            what = "No cell contains a label."
            remedy = (
                "Check the label column, and which texts mean a missing label "
                f"({Option('missing', ...)})."
            )
        return [Problem(what, source, remedy)]
    problems = check_names(intake.coders.codes, "coder", source)
    problems += check_names(labels, "label", source)
    if intake.declared is not None:
        if len(set(intake.declared)) < len(intake.declared) or not intake.declared:
            what = "The declared label set is empty or names a label twice."
            where = f"labels {some(intake.declared)}"
            problems.append(Problem(what, where, "Name each label once."))
        return problems
    problems += [*check_order(labels, scale), *check_numbers(labels, scale, source)]
    free = scale not in ("interval", "ratio") and len(labels) > max(MANY_LABELS, FREE * given)
    if free and faultless:
        what = f"{len(labels):,} different labels on {counted(given, 'annotation')}."
        remedy = (
            f"This looks like free text or measurements: name the label column, or {declare()}."
        )
        problems.append(Problem(what, f"{source}, labels {some(sorted(labels))}", remedy))
    return problems


def final_codes(
    intake: Intake,
    rows: CodedRows,
    declared: Sequence[Hashable] | None,
    scale: str,
    known: Mapping[str, object] | None,
) -> tuple[tuple[str, ...], tuple[Hashable, ...], Recoding, list[str]]:
    """Return sorted coders and labels (including labels of gold only), their codes, and notes."""
    met, truths = tuple(intake.labels.codes), dict(intake.truths.codes)
    notes: list[str] = []
    spelt: dict[str, str] | None = None
    if known is not None:
        given = {name: label_text(value) for name, value in known.items() if not is_blank(value)}
        spelt = {name: intake.points.get(text, text) for name, text in given.items()}
        truths = dict.fromkeys(spelt.values(), -1)
    names: tuple[Hashable, ...] = met if declared is None else tuple(declared)
    texts = list(map(label_text, names))
    extra = sorted(truths.keys() - set(texts), key=natural_key)
    if extra and known is None:
        used = rows.used_truths(np.array([truths[name] for name in extra], dtype=np.int32))
        extra = [name for name in extra if truths[name] in used]
    if extra and (declared is not None or not (scale == "nominal" or all_numbers(extra))):
        what = f"{counted(len(extra), 'known truth')} outside the label set: {some(extra)}."
        remedy = f"Declare all labels with {Option('labels', [...])}, or fix the known gold."
        raise AnnotationError(Problem(what, f"labels {some(texts)}", remedy))
    if extra:
        notes.append(f"Labels that only the known gold uses: {some(extra)}.")
    if declared is None:
        names = tuple(sorted([*met, *extra], key=natural_key))
    met_coders = list(intake.coders.codes)
    coders = sorted((met_coders[n] for n in intake.answering), key=natural_key)
    place = {label_text(name): k for k, name in enumerate(names)}
    place_of_coder = {name: j for j, name in enumerate(coders)}
    recoding = Recoding(
        coder=np.array([place_of_coder.get(name, -1) for name in met_coders], dtype=np.int32),
        label=np.array([place[name] for name in met], dtype=np.int32),
        gold=np.array([place.get(name, -1) for name in truths], dtype=np.int32),
        known=None if spelt is None else {name: place[text] for name, text in spelt.items()},
        n_labels=len(names),
        n_kinds=len(intake.dont_know.codes),
    )
    return tuple(coders), names, recoding, notes


def scan_notes(intake: Intake, census: SortedCounts) -> list[str]:
    """List notes on the labels, as ``annomodels.read`` does."""
    notes = []
    if census.dropped:
        notes.append(
            f"{counted(census.dropped, 'row')} dropped because they repeat an annotation id with "
            "the same item, coder and label."
        )
    if census.unlabelled:
        items = counted(census.unlabelled, "item")
        notes.append(f"Left out because nobody labeled them: {items}.")
    if skips := intake.skips - census.dropped_skips:
        given = sum((Counter(intake.labels.counts) + Counter(intake.dont_know.counts)).values())
        notes.append(without_label(skips, given - (census.dropped - census.dropped_skips)))
    if intake.points:
        number = sum(intake.labels.counts.get(point, 0) for point in intake.points.values())
        notes.append(read_with_points(intake.points, number))
    notes += variants(Counter(intake.labels.counts) + Counter(intake.dont_know.counts), "label")
    notes += variants(intake.coders.counts, "coder")
    if census.repeats:
        notes.append(
            f"{counted(census.repeats, 'label')} given by a coder who had labeled the item "
            f"before; {census.conflicts:,} of them differ from it; models use all of them."
        )
    notes += overlap_notes(census.n_coders, census.shared_items, lambda: census.components)
    kinds = "/".join(intake.dont_know.codes)
    mute = len(intake.coders.codes) - len(intake.answering)
    notes += [
        f"Left out because their only label is {kinds}: {counted(n, word)}."
        for n, word in ((census.silent, "item"), (mute, "coder"))
        if n
    ]
    return notes
