"""Write judgments in the layouts that other programs read."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.data.validation import all_numbers, counted
from annomodels.errors import AnnotationError
from annomodels.io.tables.keys import quoted

if TYPE_CHECKING:
    import pandas as pd


QUESTION = "label"


def long(data: Annotations) -> pd.DataFrame:
    frame = data.to_frame()
    frame["label"] = [_text(data.labels[k]) for k in data.label]
    if data.texts is not None:
        frame["text"] = [data.texts[i] for i in data.item]
    if data.group is not None:
        frame["group"] = [data.groups[data.group[i]] for i in data.item]
    if data.gold is not None:
        frame["gold"] = [_text(data.labels[k]) if k >= 0 else "" for k in data.gold[data.item]]
    return frame


def crowd_kit(data: Annotations) -> pd.DataFrame:
    return data.to_frame().set_axis(["task", "worker", "label"], axis=1)


def wide(data: Annotations) -> pd.DataFrame:
    return _by_coder(data, [_text(label) for label in data.labels])


def cleanlab(data: Annotations) -> pd.DataFrame:
    """Return the table for cleanlab's multiannotator functions: label codes from 0."""
    return _by_coder(data, [str(k) for k in range(data.n_labels)])


def _by_coder(data: Annotations, names: list[str]) -> pd.DataFrame:
    import pandas as pd

    cells = _matrix(data, names, "")
    columns = {str(coder): cells[:, j] for j, coder in enumerate(data.coders)}
    return pd.DataFrame({"item": [str(item) for item in data.items], **columns})


def k_alpha(data: Annotations) -> str:
    """Return a matrix for the K-Alpha calculator: numbers, NA for a missing label."""
    return _bare(_matrix(data, _numbers(data), "NA"))


def recal(data: Annotations) -> str:
    """Return a matrix for ReCal: numbers, # for a missing label."""
    return _bare(_matrix(data, _numbers(data), "#"))


def mace(data: Annotations) -> str:
    """Return a matrix for MACE: labels without a header, empty for a missing label."""
    return _bare(_matrix(data, [quoted(_text(label)) for label in data.labels], ""))


def label_studio(data: Annotations) -> str:
    tasks = []
    for i, item in enumerate(data.items):
        annotations = [
            {
                "id": n + 1,
                "completed_by": {"email": _text(data.coders[data.coder[n]])},
                "was_cancelled": False,
                "ground_truth": False,
                "result": [choice(QUESTION, data.labels[data.label[n]])],
            }
            for n in range(data.starts[i], data.starts[i + 1])
        ]
        if data.gold is not None and data.gold[i] >= 0:
            truth = [choice(QUESTION, data.labels[data.gold[i]])]
            annotations.append({"id": len(data) + i + 1, "ground_truth": True, "result": truth})
        content = {"text": _text_of(data, i), "item": _text(item)}
        tasks.append({"id": i + 1, "data": content, "annotations": annotations, "predictions": []})
    return as_json(tasks)


def choice(question: str, label: Hashable) -> dict[str, Any]:
    names = sorted(map(label_text, label)) if isinstance(label, frozenset) else [_text(label)]
    return {
        "from_name": question,
        "to_name": "text",
        "type": "choices",
        "value": {"choices": names},
    }


def prodigy(data: Annotations) -> str:
    options = [_text(label) for label in data.labels]
    codes = zip(data.item.tolist(), data.coder.tolist(), data.label.tolist(), strict=True)
    return as_lines(
        example(
            *(_text_of(data, i), {"item": _text(data.items[i])}, options, options[k]),
            *(_text(data.coders[j]), i, i),
        )
        for i, j, k in codes
    )


def example(
    text: str,
    meta: dict[str, Any],
    labels: Iterable[str],
    label: str,
    coder: str,
    input_hash: int,
    task_hash: int,
) -> dict[str, Any]:
    """Return an example of Prodigy's choice interface, ignored if it has no label."""
    return {
        "text": text,
        "meta": meta,
        "options": [{"id": name, "text": name} for name in labels],
        "config": {"choice_style": "single"},
        "accept": [label] if label else [],
        "answer": "accept" if label else "ignore",
        "_view_id": "choice",
        "_input_hash": input_hash,
        "_task_hash": task_hash,
        "_annotator_id": coder,
        "_session_id": coder,
    }


def argilla(data: Annotations) -> str:
    records = []
    for i, item in enumerate(data.items):
        responses = [
            {
                "value": _text(data.labels[data.label[n]]),
                "user_id": _text(data.coders[data.coder[n]]),
            }
            for n in range(data.starts[i], data.starts[i + 1])
        ]
        given = {QUESTION: responses}
        records.append(record(_text(item), _text_of(data, i), responses=given))
    return as_json(records)


def record(item: str, text: str, **parts: object) -> dict[str, Any]:
    """Return an Argilla record; omitted parts are empty."""
    empty = ("metadata", "suggestions", "responses", "vectors")
    return {"id": item, "fields": {"text": text}, **{name: parts.get(name, {}) for name in empty}}


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def as_lines(rows: Iterable[object]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _text(name: Hashable) -> str:
    """Return a name as text; the labels of a set are sorted and joined."""
    return "|".join(sorted(map(label_text, name))) if isinstance(name, frozenset) else str(name)


def _text_of(data: Annotations, i: int) -> str:
    return (data.texts[i] if data.texts is not None else "") or _text(data.items[i])


def _matrix(data: Annotations, names: list[str], missing: str) -> Any:
    """Return the labels as strings, shape [item, coder]."""
    if data.repeats:
        what = f"{counted(data.repeats, 'label')} given again by the same coder to the same item."
        remedy = "A matrix holds one label per cell: use data.without_repeats(), or a long table."
        raise AnnotationError(what, data.source, remedy)
    cells = np.full((data.n_items, data.n_coders), missing, dtype=object)
    cells[data.item, data.coder] = np.array(names, dtype=object)[data.label]
    return cells


def _numbers(data: Annotations) -> list[str]:
    """Return numeric labels unchanged; otherwise label codes from 1."""
    if all_numbers(data.labels):
        return [str(label) for label in data.labels]
    return [str(k) for k in range(1, data.n_labels + 1)]


def _bare(cells: Any) -> str:
    return "".join(",".join(row) + "\n" for row in cells.tolist())
