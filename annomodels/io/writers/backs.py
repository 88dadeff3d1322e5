"""Gold labels for the tools they came from: predictions, suggestions, tasks to review, tests."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from annomodels.io.writers.goldlist import GoldItem, GoldList

if TYPE_CHECKING:
    import pandas as pd


NAME = "annomodels"


def label_studio_predictions(gold: GoldList) -> str:
    """Tasks of Label Studio with the gold label as a prediction."""
    return _json([_task(item, gold.question) for item in gold.items])


def label_studio_review(gold: GoldList) -> str:
    """Tasks of Label Studio for an expert to decide, the most doubtful first."""
    doubtful = sorted(gold.items, key=lambda item: (-item.doubt, item.item))
    return _json([_task(item, gold.question) for item in doubtful])


def _task(item: GoldItem, question: str) -> dict[str, Any]:
    data: dict[str, Any] = {"text": item.text, "item": item.item, "doubt": round(item.doubt, 4)}
    if item.votes:
        data["votes"] = item.votes
    for name, shares in (("p", item.soft), ("p_next", item.foretold)):
        if shares:
            data[name] = {label: round(p, 4) for label, p in shares.items()}
    result = {
        "from_name": question,
        "to_name": "text",
        "type": "choices",
        "value": {"choices": [item.label]},
    }
    prediction = {
        "model_version": NAME,
        "score": round(item.probability, 6),
        "result": [result] if item.label else [],
    }
    return {"data": data, "predictions": [prediction]}


def prodigy_review(gold: GoldList) -> str:
    """Examples of Prodigy, the most doubtful first."""
    options = [{"id": label, "text": label} for label in gold.labels]
    rows = [
        {
            "text": item.text,
            "meta": {"item": item.item, "probability": round(item.probability, 4)},
            "options": options,
            "config": {"choice_style": "single"},
            "accept": [item.label] if item.label else [],
            "answer": "accept" if item.label else "ignore",
            "_view_id": "choice",
            "_input_hash": _hash(item.item),
            "_task_hash": _hash(f"{gold.question}\n{item.item}"),
            "_annotator_id": NAME,
            "_session_id": NAME,
        }
        for item in sorted(gold.items, key=lambda item: (-item.doubt, item.item))
    ]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _hash(name: str) -> int:
    """Hash of an example: its own where the item is named by it, else one that stays the same."""
    try:
        number = int(name)
    except ValueError:
        number = zlib.crc32(name.encode()) - 2**31
    return number if abs(number) < 2**31 else zlib.crc32(name.encode()) - 2**31


def hugging_face(gold: GoldList) -> str:
    """Rows for ``datasets.load_dataset("json")``, with the soft labels as one column of lists."""
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
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def argilla_suggestions(gold: GoldList) -> str:
    """Give records of Argilla with the gold label as a suggestion."""
    records = []
    for item in gold.items:
        suggestion = {"value": item.label, "score": round(item.probability, 6), "agent": NAME}
        records.append(
            {
                "id": item.item,
                "fields": {"text": item.text},
                "metadata": {"doubt": round(item.doubt, 4)},
                "suggestions": {gold.question: suggestion} if item.label else {},
                "responses": {},
                "vectors": {},
            }
        )
    return _json(records)


def toloka_golden(gold: GoldList) -> pd.DataFrame:
    """Control tasks of Toloka: a row for each settled item."""
    import pandas as pd

    header = ["INPUT:item", "INPUT:text", f"GOLDEN:{gold.question}", "HINT:text"]
    rows = [[item.item, item.text, item.label, ""] for item in gold.items if item.label]
    return pd.DataFrame(rows, columns=header)


def appen_tests(gold: GoldList) -> pd.DataFrame:
    """Test questions of Appen: a row for each settled item."""
    import pandas as pd

    header = ["item", "text", "_golden", f"{gold.question}_gold", f"{gold.question}_gold_reason"]
    rows = [[item.item, item.text, "TRUE", item.label, ""] for item in gold.items if item.label]
    return pd.DataFrame(rows, columns=header)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
