"""Label Studio: the JSON export, a list of tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from annomodels.data.validation import counted
from annomodels.errors import Option
from annomodels.io.objects import at, keys_of
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.span_builder import GOLD, to_code_points
from annomodels.io.tools.refused import REGIONS

SPAN_TAGS = ("labels", "hypertextlabels", "paragraphlabels", "timeserieslabels")
_REGIONS = {
    "rectangle": ("bounding box", "bounding boxes"),
    "ellipse": ("ellipse", "ellipses"),
    "polygon": ("polygon", "polygons"),
    "keypoint": ("key point", "key points"),
    "brush": ("brushed region", "brushed regions"),
    "bitmask": ("masked region", "masked regions"),
    "vector": ("line", "lines"),
    "video": ("region of a video", "regions of videos"),
}


def is_label_studio(source: Source, options: Options) -> bool:
    return any(
        isinstance(task.get("data"), dict) and isinstance(_annotations(task), list)
        for task in source.sample
    )


def _annotations(task: dict[str, Any]) -> Any:
    return task.get("annotations", task.get("completions"))


def read_label_studio(found: Records) -> None:
    """Read the choices and spans in each task, without canceled annotations and drafts."""
    options = found.options
    if options.item is not None or options.text is not None:
        keys = keys_of([task.get("data") for task in found.source.sample])
        found.require(keys, options.item, "item")
        found.require(keys, options.text, "text")
    regions: Counter[str] = Counter()
    done: set[Any] = set()  # annotations whose spans were read
    seen: list[tuple[Any, Any, Any]] = []
    truths = 0
    for row, task in found.objects():
        data = task.get("data")
        item = task.get("id") if options.item is None else at(data, options.item)
        text = at(data, found.text_field(data or ()))
        found.text(item, text)
        for annotation in found.members(_annotations(task), "an annotation", row):
            if annotation.get("was_cancelled") or annotation.get("skipped"):
                found.skip(item)
                continue
            who = annotation.get("completed_by")
            if isinstance(who, dict):
                who = who.get("email") or who.get("username") or who.get("id")
            coder = who or None
            if annotation.get("ground_truth") is True:
                truths += bool(who)
                coder = GOLD
            number = str(annotation.get("id") or "")
            parts = _parts(annotation)
            if parts is None:
                found.unreadable("the result of an annotation", row)
                continue
            _add_answers(found, item, coder, parts.answers, row, number)
            regions.update(parts.regions)
            seen.append((item, coder, text))
            if parts.stretches and not (number and number in done):
                done.add(number)
                for question, tag, value in parts.stretches:
                    _add_mark(found, item, coder, question, tag, value, text)
        for prediction in _predictions(task, found) if options.models else ():
            coder = f"model:{prediction.get('model_version') or 'unnamed'}"
            given = _parts(prediction)
            for question, values in given.answers.items() if given else ():
                found.add(item, coder, question, values[0], row)
            if given and (given.stretches or not given.answers):
                seen.append((item, coder, text))
            for question, tag, value in given.stretches if given else ():
                _add_mark(found, item, coder, question, tag, value, text)
    for item, coder, text in seen if found.stretches else ():
        found.document(item, coder, text)
    if truths:
        found.note(
            f"{counted(truths, 'annotation')} marked as ground truth: known truths, not labels of "
            "their coders. To count them as labels, set ground_truth to false in the file."
        )
    if regions:
        named = {tag: _REGIONS[tag.removesuffix("labels")] for tag in regions}
        drawn = ", ".join(f"{n:,} {named[t][n != 1]} ({t})" for t, n in regions.most_common())
        if found.empty:
            found.problem(
                f"It holds {drawn} drawn on images, not labels of items.",
                f"{REGIONS}; or ask for a choice about each image.",
                code="regions",
            )
        found.note(f"Not read, because they are not labels of items: {drawn}.")


class _Parts(NamedTuple):
    answers: dict[str, list[Any]]
    stretches: list[tuple[str, str, dict[str, Any]]]
    regions: list[str]


def _parts(annotation: dict[str, Any]) -> _Parts | None:
    """Return the parts of an annotation, or None if any is malformed."""
    results = annotation.get("result")
    if not isinstance(results, list) or not all(isinstance(part, dict) for part in results):
        return None
    found = _Parts({}, [], [])
    for part in results:
        question, tag, value = part.get("from_name"), part.get("type"), part.get("value")
        if not (isinstance(question, str) and isinstance(tag, str) and isinstance(value, dict)):
            if tag != "relation":
                return None
        elif tag.removesuffix("labels") in _REGIONS:
            found.regions.append(tag)
        elif "start" in value or "end" in value or "x" in value or "points" in value:
            found.stretches.append((question, tag, value))
        else:
            answer = value.get("selected" if tag == "pairwise" else tag, value.get("choices"))
            if tag == "taxonomy" and isinstance(answer, list):
                answer = ["/".join(map(str, p)) if isinstance(p, list) else p for p in answer]
            found.answers.setdefault(question, []).append(answer)
    return found


def _add_answers(
    found: Records,
    item: object,
    coder: object,
    answers: dict[str, list[Any]],
    row: int,
    number: str,
) -> None:
    for question, values in answers.items():
        if len(values) > 1:
            found.problem(
                f"Question {question!r} is answered more than once in one annotation: it is asked "
                "of regions, not of items.",
                f"Choose another with {Option('question', ...)}, or export the regions as a table.",
                of_labels=True,
                code="regions",
            )
        elif coder == GOLD:
            found.gold(item, question, values[0])
        else:
            found.add(item, coder, question, values[0], row, number)
    if not answers and coder != GOLD:
        found.skip(item)


def _predictions(task: dict[str, Any], found: Records) -> Iterator[dict[str, Any]]:
    predictions = task.get("predictions")
    for prediction in predictions if isinstance(predictions, list) else ():
        if isinstance(prediction, dict):
            yield prediction
        else:
            found.note("Some predictions are exported as numbers only; they are not read.")


def _add_mark(
    found: Records,
    item: object,
    coder: object,
    question: str,
    tag: str,
    value: dict[str, Any],
    text: object,
) -> None:
    """Add the labels of a text span, whose offsets may be in UTF-16 units."""
    found.stretches[question] = None
    labels = value.get(tag) if tag in SPAN_TAGS else None
    try:
        start, end = int(value["start"]), int(value["end"])
    except (KeyError, TypeError, ValueError):
        return
    marked = value.get("text")
    if not (isinstance(marked, str) and isinstance(text, str) and text):
        marked = None
    elif end > len(text) or text[start:end] != marked:
        places = to_code_points(text)
        if 0 <= start <= end < len(places):
            moved = places[start], places[end]
            start, end = moved if text[slice(*moved)] == marked else (start, end)
    for label in labels if isinstance(labels, list) else ():
        if isinstance(label, str):
            found.mark(item, coder, question, (start, end), label)
