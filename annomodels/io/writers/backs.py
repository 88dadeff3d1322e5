"""Write gold labels for tools: predictions, suggestions, tasks to review, tests."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from annomodels.data.names import label_text
from annomodels.data.validation import is_missing
from annomodels.errors import AnnotationError
from annomodels.io.writers.layouts import as_json, as_lines, choice, example, record

if TYPE_CHECKING:
    import pandas as pd


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
    lacking = [name for name in NEEDED if name not in table.columns]
    if lacking:
        what = f"The table of gold labels lacks {', '.join(lacking)}."
        raise AnnotationError(what, "gold", "Give the table that fit.gold() returns.")
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


# -- files -----------------------------------------------------------------------------------------


NAME = "annomodels"


def label_studio(items: Iterable[GoldItem], question: str) -> str:
    return as_json([_task(item, question) for item in items])


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


def prodigy_review(gold: GoldList) -> str:
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


def argilla_suggestions(gold: GoldList) -> str:
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
