"""The last step of reading: columns to annotations, with all problems at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from annomodels.data.annotations import Annotations, Scale
from annomodels.data.setting_aside import SetAside
from annomodels.data.validation import check_labels, check_names, variants
from annomodels.errors import AnnotationError, Problem
from annomodels.io.columns import Columns

__all__ = ["finished"]


def finished(
    columns: Columns,
    source: str,
    labels: Sequence[Hashable] | None,
    scale: Scale,
    dont_know: Sequence[Hashable] = (),
) -> Annotations:
    """Code the columns, after a look at what they hold.

    Raises
    ------
    AnnotationError
        With all problems of the columns and of the names in them.
    """
    problems = list(columns.problems)
    if not problems and not len(columns.labels):
        what = "No cell holds a label."
        remedy = "Check the label column, and which texts stand for no label (missing=...)."
        problems.append(Problem(what, source, remedy))
    if problems:
        raise AnnotationError(problems)
    declared = labels is not None
    _, _, classes, rows = SetAside(dont_know).split(
        columns.items, columns.coders, columns.labels, columns.rows
    )
    problems += check_labels(classes, rows, declared=declared, scale=scale, source=source)
    for word, values in (
        ("item", columns.items),
        ("coder", columns.coders),
        ("label", columns.labels),
    ):
        problems += check_names(dict.fromkeys(values), word, source)
    notes = [
        *columns.notes,
        *variants(columns.labels, "label"),
        *variants(columns.coders, "coder"),
    ]
    try:
        data = Annotations._from_columns(
            columns.items,
            columns.coders,
            columns.labels,
            labels=labels,
            scale=scale,
            gold=columns.gold,
            group=columns.group,
            texts=columns.texts,
            skips=columns.skips,
            source=source,
            notes=notes,
            rows=columns.rows,
            dont_know=dont_know,
        )
    except AnnotationError as error:
        problems += error.problems
    if problems:
        raise AnnotationError(problems)
    return data
