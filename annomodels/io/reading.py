"""Read annotations from a file."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from annomodels.annotations import SCALES, Annotations, Scale
from annomodels.errors import AnnotationError, Problem
from annomodels.io.columns import Columns
from annomodels.io.formats import chosen
from annomodels.io.source import Options, Source
from annomodels.validation import check_labels, check_names, variants

__all__ = ["read"]


def read(
    path: str | os.PathLike[str],
    *,
    item: str | None = None,
    coder: str | None = None,
    label: str | None = None,
    gold: str | Mapping[Any, Any] | None = None,
    group: str | None = None,
    text: str | None = None,
    labels: Sequence[Hashable] | None = None,
    scale: Scale = "nominal",
    format: str = "auto",
    question: str | None = None,
    missing: Iterable[str] = (),
    coder_columns: Sequence[str] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Annotations:
    r"""Read annotations from a CSV, TSV, JSON, JSON lines or Parquet file.

    Every cell is taken as the text it is: ``None``, ``NA``, ``001`` and ``1.0`` are labels, only an
    empty cell is none. Nothing is stripped or merged; labels that differ in case or spaces only are
    kept apart and reported in ``notes``.

    Parameters
    ----------
    path
        A file (perhaps gzipped), or "-" for the standard input.
    item, coder, label
        Names of the columns of a long table; without them, known names are looked for
        (item/coder/label, task/worker/label, item/rater/rating, unit/annotator/annotation, ...).
        For a wide table, `item` names the column of the items (else the first).
    gold
        A column with the known truth of items, or a mapping from item to truth.
    group
        A column with the document or batch of each item.
    text
        A column with the text of each item.
    labels
        The label set in its order; without it, the labels that occur, sorted.
    scale
        Scale of the labels: "nominal", "ordinal", "interval" or "ratio".
    format
        "auto", "long" (a row for each label), "wide" (a column for each coder) or "matrix"
        (wide without a header).
    question
        Which question to read when a column ``question`` holds several.
    missing
        Further texts that stand for no label, such as ["NA"].
    coder_columns
        The columns of a wide table that are coders; without it, all but the named ones.
    encoding
        Encoding of the text; without it, UTF-8, or UTF-16 with its mark.
    delimiter
        Delimiter of the text; without it, whichever of ``, ; tab |`` fits.

    Returns
    -------
    Annotations
        With ``skips``, the number of cells or rows without a label, and ``notes``.

    Raises
    ------
    AnnotationError
        With all problems at once, each with its row in the file (the header is row 1).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "votes.csv"
    >>> _ = path.write_text("item,ana,ben\nt1,NA,no\nt2,no,\n")
    >>> data = read(path)
    >>> data
    2 items × 2 coders × 2 labels · 3 annotations · 1–2 labels per item
    >>> data.labels, data.skips
    (('NA', 'no'), 1)
    """
    source = _source(path, encoding, delimiter)
    if scale not in SCALES:
        remedy = f"Use one of {', '.join(SCALES)}."
        raise AnnotationError(Problem(f"{scale!r} is not a scale.", remedy=remedy))
    options = Options(
        item=item,
        coder=coder,
        label=label,
        gold=gold if isinstance(gold, str) else None,
        group=group,
        text=text,
        question=question,
        missing=frozenset([missing] if isinstance(missing, str) else missing),
        coder_columns=_tuple(coder_columns),
        forced=format != "auto",
    )
    columns = chosen(format, source, options).read(source, options)
    if isinstance(gold, Mapping):
        columns.gold = gold
    return _annotations(columns, source.name, labels, scale)


def _source(path: object, encoding: str | None, delimiter: str | None) -> Source:
    if not isinstance(path, (str, os.PathLike)):
        what = f"A file name was expected, but this is {type(path).__name__!r}."
        remedy = (
            "Use Annotations.from_frame for a data frame and Annotations.from_records for rows."
        )
        raise AnnotationError(Problem(what, remedy=remedy))
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        what = f"{delimiter!r} cannot be a delimiter."
        remedy = "Use one character, such as ',', ';', '|' or a tab."
        raise AnnotationError(Problem(what, remedy=remedy))
    return Source(path, encoding, delimiter)


def _tuple(names: Sequence[str] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    return (names,) if isinstance(names, str) else tuple(names)


def _annotations(
    columns: Columns, source: str, labels: Sequence[Hashable] | None, scale: Scale
) -> Annotations:
    """Code the columns, after a look at what they hold."""
    problems = list(columns.problems)
    if not problems and not len(columns.labels):
        what = "No cell holds a label."
        remedy = "Check the label column, and which texts stand for no label (missing=...)."
        problems.append(Problem(what, source, remedy))
    if problems:
        raise AnnotationError(problems)
    declared = labels is not None
    problems += check_labels(
        columns.labels, columns.rows, declared=declared, scale=scale, source=source
    )
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
        )
    except AnnotationError as error:
        problems += error.problems
    if problems:
        raise AnnotationError(problems)
    return data
