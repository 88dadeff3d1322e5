"""Judgments as decisions on candidates, with names in an order that rows cannot change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.coref.readings import to_mpa_frame
from annomodels.data.candidates import NONE, Candidates, class_of
from annomodels.data.validation import is_blank
from annomodels.errors import AnnotationError, Problem

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("item", "coder", "label")


def candidates_of(data: Any, always: Sequence[str] = (), none: bool = False) -> Candidates:
    """Take the candidates of each mention from documents or a long table.

    Candidates are the labels that anyone gave it, those of `always`, and "none of these" if asked.
    Every coder of a mention decides on all of them; rows of one coder are several readings.

    Raises
    ------
    AnnotationError
        With every problem of the table at once.
    """
    rows = _rows(data)
    coders = sorted({coder for _, coder, _ in rows})
    code = {name: j for j, name in enumerate(coders)}
    said: dict[str, dict[int, set[str]]] = {}
    for item, coder, label in rows:
        said.setdefault(item, {}).setdefault(code[coder], set()).add(label)
    items = sorted(said)
    listed = [sorted({*always, *(x for given in said[i].values() for x in given)}) for i in items]
    classes = sorted({class_of(label) for labels in listed for label in labels})
    if none:
        classes.append(NONE)
    number = {name: h for h, name in enumerate(classes)}
    labels: list[str] = []
    firsts, starts, who, accepted, cls = [0], [0], [], [], []
    for item, options in zip(items, listed, strict=True):
        given = sorted(said[item].items())
        for option in options:
            who += [j for j, _ in given]
            accepted += [int(option in readings) for _, readings in given]
            starts.append(len(who))
            cls.append(number[class_of(option)])
        if none:
            starts.append(len(who))
            cls.append(number[NONE])
        labels += [*options, NONE] if none else options
        firsts.append(len(labels))
    codes = (np.array(values, dtype=np.int64) for values in (firsts, starts, who, accepted, cls))
    return Candidates(tuple(items), tuple(coders), tuple(classes), tuple(labels), *codes)


def _rows(data: Any) -> list[tuple[str, str, str]]:
    """Rows of item, coder and label as text."""
    frame = data if hasattr(data, "columns") else to_mpa_frame(data)
    missing = [name for name in COLUMNS if name not in list(frame.columns)]
    if missing:
        raise AnnotationError(
            Problem(
                f"The table has no column {' and no column '.join(missing)}.",
                f"columns {', '.join(map(str, frame.columns))}",
                "Give one row per judgment, with the columns item, coder and label.",
            )
        )
    columns = [_cells(frame, name) for name in COLUMNS]
    problems = []
    for name, cells in zip(COLUMNS, columns, strict=True):
        empty = [n for n, cell in enumerate(cells, 1) if is_blank(cell)]
        if empty:
            where = f"row {', '.join(map(str, empty[:5]))}{' ...' if len(empty) > 5 else ''}"
            remedy = "Fill it in, or drop the row."
            problems.append(Problem(f"The column {name} is empty.", where, remedy))
    if not columns[0]:
        remedy = "Give one row per judgment."
        problems.append(Problem("There are no judgments.", "", remedy))
    if problems:
        raise AnnotationError(problems)
    return sorted({(str(i), str(j), str(k)) for i, j, k in zip(*columns, strict=True)})


def _cells(frame: pd.DataFrame, name: str) -> Iterable[Any]:
    return list(frame[name])
