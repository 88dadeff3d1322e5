"""Write labels for other programs, and gold labels for labeling tools."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.data.validation import all_numbers, counted, is_missing
from annomodels.errors import AnnotationError
from annomodels.io.tables.keys import quoted

if TYPE_CHECKING:
    import pandas as pd


NAME = "annomodels"
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


# -- gold labels: predictions, suggestions, tasks to review, tests ---------------------------------

NEEDED = ("item", "label", "probability")
# probabilities of the item, not of a label; a table with label probabilities lacks them, because a
# label may be named contested
OF_ITEMS = ("p_contested", "p_ambiguous", "p_easy")


@dataclass(frozen=True)
class GoldItem:
    """Item with its gold label ("" if it is not settled), its probability and its text."""

    item: str
    text: str
    label: str
    probability: float
    soft: Mapping[str, float]
    votes: str
    predicted: Mapping[str, float] = field(default_factory=dict)

    @property
    def doubt(self) -> float:
        """Entropy of the label in bits; without soft labels, of the label versus the rest."""
        parts = list(self.soft.values()) or [self.probability, 1 - self.probability]
        return sum(p * math.log2(1 / p) for p in parts if p > 0)


@dataclass(frozen=True)
class GoldList:
    items: tuple[GoldItem, ...]
    labels: tuple[str, ...]
    question: str

    @property
    def doubtful(self) -> list[GoldItem]:
        return sorted(self.items, key=lambda item: (-item.doubt, item.item))


def gold_list(
    gold: object, question: str = "label", texts: Mapping[object, str] | None = None
) -> GoldList:
    """Return the gold labels in a result of ``fit.gold()`` or in a table."""
    table = with_soft(gold)
    check_columns(table, NEEDED, "gold labels")
    named_p = [str(name) for name in table.columns if str(name).startswith("p_")]
    if set(named_p) <= set(OF_ITEMS):
        named_p = []
    # p_next_a predicts the next label a, unless a label is named next_a
    predicted = [n for n in named_p if n.startswith("p_next_") and f"p_{n[7:]}" in named_p]
    soft = [name for name in named_p if name not in predicted]
    labels = [name[2:] for name in soft] or sorted(
        {label_text(x) for x in table["label"] if _said(x)}
    )
    votes = table["votes"] if "votes" in table.columns else [""] * len(table)
    known = texts or {}
    items = []
    for item, label, probability, vote, *parts in zip(
        table["item"], table["label"], table["probability"], votes,
        *(table[n] for n in (*soft, *predicted)), strict=True,
    ):  # fmt: skip
        p = float(probability)
        if not 0 <= p <= 1 + 1e-9:
            what = f"The probability of item {item!r} is {probability}."
            raise AnnotationError(what, "gold", "Give numbers between 0 and 1.")
        named = {name: float(part) for name, part in zip(labels, parts, strict=False)}
        later = dict(zip((n[7:] for n in predicted), map(float, parts[len(soft) :]), strict=True))
        text = known.get(item) or str(item)
        said = label_text(label) if _said(label) else ""
        items.append(GoldItem(str(item), text, said, min(p, 1.0), named, str(vote), later))
    return GoldList(tuple(items), tuple(labels), question)


def check_columns(table: pd.DataFrame, names: Iterable[str], what: str) -> None:
    if lacking := [name for name in names if name not in table.columns]:
        told = f"The table of {what} lacks {', '.join(lacking)}."
        raise AnnotationError(told, "gold", "Give the table that fit.gold() returns.")


def _said(label: object) -> bool:
    return not is_missing(label) and label_text(label) != ""


def with_soft(gold: Any) -> pd.DataFrame:
    """Add the probability of each label to the table of a summary; return tables unchanged."""
    table: pd.DataFrame = getattr(gold, "table", gold)
    draws = getattr(gold, "draws", None)
    if draws is None or "p_truth" not in draws:
        return table
    soft = draws["p_truth"]
    table = table.drop(columns=[name for name in OF_ITEMS if name in table])
    return table.assign(**{f"p_{k}": soft.sel(truth=k).values for k in soft["truth"].values})


def label_studio_gold(gold: GoldList) -> str:
    return as_json([_task(item, gold.question) for item in gold.items])


def label_studio_review(gold: GoldList) -> str:
    """Return tasks, the most doubtful first."""
    return as_json([_task(item, gold.question) for item in gold.doubtful])


def _task(item: GoldItem, question: str) -> dict[str, Any]:
    data: dict[str, Any] = {"text": item.text, "item": item.item, "doubt": round(item.doubt, 4)}
    if item.votes:
        data["votes"] = item.votes
    for name, shares in (("p", item.soft), ("p_next", item.predicted)):
        if shares:
            data[name] = {label: round(p, 4) for label, p in shares.items()}
    prediction = {
        "model_version": NAME,
        "score": round(item.probability, 6),
        "result": [choice(question, item.label)] if item.label else [],
    }
    return {"data": data, "predictions": [prediction]}


def prodigy_gold(gold: GoldList) -> str:
    """Return Prodigy examples, the most doubtful first."""
    rows = []
    for item in gold.doubtful:
        meta = {"item": item.item, "probability": round(item.probability, 4)}
        hashes = _hash(item.item), _hash(f"{gold.question}\n{item.item}")
        rows.append(example(item.text, meta, gold.labels, item.label, NAME, *hashes))
    return as_lines(rows)


def _hash(name: str) -> int:
    """Return the hash of an example: the item name if it is a hash, else its CRC-32."""
    try:
        number = int(name)
    except ValueError:
        number = zlib.crc32(name.encode()) - 2**31
    return number if abs(number) < 2**31 else zlib.crc32(name.encode()) - 2**31


def hugging_face(gold: GoldList) -> str:
    """Return rows for ``datasets.load_dataset("json")``, with the soft labels as lists."""
    rows = [
        {
            "item": item.item,
            "text": item.text,
            "label": item.label or None,
            "soft_label": [round(item.soft[label], 6) for label in gold.labels if item.soft],
            "label_names": list(gold.labels),
        }
        for item in gold.items
    ]
    return as_lines(rows)


def argilla_gold(gold: GoldList) -> str:
    records = []
    for item in gold.items:
        suggestion = {"value": item.label, "score": round(item.probability, 6), "agent": NAME}
        given = {gold.question: suggestion} if item.label else {}
        doubt = {"doubt": round(item.doubt, 4)}
        records.append(record(item.item, item.text, metadata=doubt, suggestions=given))
    return as_json(records)


def toloka_golden(gold: GoldList) -> pd.DataFrame:
    import pandas as pd

    header = ["INPUT:item", "INPUT:text", f"GOLDEN:{gold.question}", "HINT:text"]
    rows = [[item.item, item.text, item.label, ""] for item in gold.items if item.label]
    return pd.DataFrame(rows, columns=header)


def appen_tests(gold: GoldList) -> pd.DataFrame:
    import pandas as pd

    header = ["item", "text", "_golden", f"{gold.question}_gold", f"{gold.question}_gold_reason"]
    rows = [[item.item, item.text, "TRUE", item.label, ""] for item in gold.items if item.label]
    return pd.DataFrame(rows, columns=header)
