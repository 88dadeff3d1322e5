"""Label Studio: the JSON export, a list of tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from annomodels.errors import Option, Problem
from annomodels.io.objects import at, keys_of
from annomodels.io.source import Options, Source
from annomodels.io.span_builder import Span, to_code_points
from annomodels.io.tools.judgements import Judgements, Unreadable, name_of_value

SPAN_TAGS = ("labels", "hypertextlabels", "paragraphlabels", "timeserieslabels")


def is_label_studio(source: Source, options: Options) -> bool:
    """Whether records hold ``data`` and a list of ``annotations`` (or ``completions``)."""
    return any(
        isinstance(task.get("data"), dict) and isinstance(_annotations(task), list)
        for task in source.sample
    )


def _annotations(task: dict[str, Any]) -> Any:
    return task.get("annotations", task.get("completions"))


def read_label_studio(source: Source, options: Options, found: Judgements) -> None:
    """Columns of a list of tasks: who chose what, without cancelled and drafted annotations."""
    if options.item is not None or options.text is not None:
        keys = keys_of([task.get("data") for task in source.sample])
        found.require(keys, options.item, "item")
        found.require(keys, options.text, "text")
    spans = _Apart()
    for row, task in found.objects():
        item = task.get("id") if options.item is None else at(task.get("data"), options.item)
        found.text(item, at(task.get("data"), options.text or "text"))
        for annotation, coder in _counted(task, item, row, found):
            _add_results(found, spans, item, coder, annotation, row)
        if options.models:
            _add_models(found, spans, item, task, row)
    if spans.texts and found.empty:
        found.marked(spans.texts)
    elif spans.texts:
        named = ", ".join(sorted(spans.texts))
        found.note(f"Not read, because they mark stretches of text: {named}.")
    if spans.regions and found.empty:
        found.problems.append(spans.refusal(source.name))
    elif spans.regions:
        found.note(f"Not read, because they are no labels of items: {spans.counted()}.")


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


@dataclass
class _Apart:
    """What is no label of an item: questions about stretches of text, and regions of images."""

    texts: set[str] = field(default_factory=set)
    regions: Counter[str] = field(default_factory=Counter)

    def counted(self) -> str:
        """Give the numbers of regions in words."""
        named = {tag: _REGIONS[tag.removesuffix("labels")] for tag in self.regions}
        return ", ".join(
            f"{n:,} {named[tag][n != 1]} ({tag})" for tag, n in self.regions.most_common()
        )

    def refusal(self, source: str) -> Problem:
        """Say that regions of images are not read, and what can be done."""
        what = f"It holds {self.counted()} drawn on images, and no labels of items."
        remedy = (
            "Regions of images are not read: which regions of two coders are the same has to be "
            "decided first. Match them in a program for images and give a table with item (the "
            "region), coder, label; or ask for a choice about each image."
        )
        return Problem(what, source, remedy)


def _region(tag: str) -> bool:
    return tag.removesuffix("labels") in _REGIONS


def _counted(
    task: dict[str, Any], item: Any, row: int, found: Judgements
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Annotations that count, with their coders; the others are counted."""
    annotations = _annotations(task)
    if not isinstance(annotations, list):
        if annotations is not None:
            found.unreadable("the list of annotations", row)
        return
    for annotation in annotations:
        if not isinstance(annotation, dict):
            found.unreadable("an annotation", row)
        elif annotation.get("was_cancelled") or annotation.get("skipped"):
            found.skip(item)
        else:
            yield annotation, _coder(annotation.get("completed_by"))


def _coder(who: Any) -> Any:
    """Name of who completed an annotation: a number, or an object with an e-mail address."""
    if isinstance(who, dict):
        return who.get("email") or who.get("username") or who.get("id")
    return who


def _add_results(
    found: Judgements, spans: _Apart, item: Any, coder: Any, annotation: dict[str, Any], row: int
) -> None:
    answers = _answers(annotation, spans)
    if answers is None:
        found.unreadable("the result of an annotation", row)
        return
    for question, values in answers.items():
        if len(values) > 1:
            found.problem(
                f"Question {question!r} is answered more than once in one annotation: it is asked "
                "of regions, not of items.",
                f"Choose another with {Option('question', ...)}, or export the regions as a table.",
            )
        elif annotation.get("ground_truth") is True:
            found.gold(item, question, values[0])
        else:
            found.add(item, coder, question, values[0], row, annotation.get("id"))
    if not answers and not annotation.get("ground_truth"):
        found.skip(item)


def _answers(annotation: dict[str, Any], spans: _Apart) -> dict[str, list[Any]] | None:
    """Answers of an annotation by question; what is about parts of an item goes to `spans`."""
    results = annotation.get("result")
    if not isinstance(results, list) or not all(isinstance(part, dict) for part in results):
        return None
    answers: dict[str, list[Any]] = {}
    for part in results:
        question, tag, value = part.get("from_name"), part.get("type"), part.get("value")
        if not (isinstance(question, str) and isinstance(tag, str) and isinstance(value, dict)):
            if tag != "relation":
                return None
        elif _region(tag):
            spans.regions[tag] += 1
        elif "start" in value or "end" in value or "x" in value or "points" in value:
            spans.texts.add(question)
        else:
            answer = value.get("selected" if tag == "pairwise" else tag, value.get("choices"))
            if tag == "taxonomy" and isinstance(answer, list):
                answer = [
                    "/".join(map(str, path)) if isinstance(path, list) else path for path in answer
                ]
            answers.setdefault(question, []).append(answer)
    return answers


def _add_models(
    found: Judgements, spans: _Apart, item: Any, task: dict[str, Any], row: int
) -> None:
    predictions = task.get("predictions")
    for prediction in predictions if isinstance(predictions, list) else ():
        if not isinstance(prediction, dict):
            found.note("Some predictions are exported as numbers only; they are not read.")
            continue
        name = prediction.get("model_version") or "unnamed"
        answers = _answers(prediction, spans) or {}
        for question, values in answers.items():
            found.add(item, f"model:{name}", question, values[0], row)


def spans_of_label_studio(source: Source, options: Options, found: Judgements) -> None:
    """Stretches of text that were marked, with their places in code points."""
    builder = found.marks
    done: set[Any] = set()
    regions = _Apart()
    for row, task in found.objects():
        try:
            item = name_of_value(
                task.get("id") if options.item is None else at(task.get("data"), options.item)
            )
        except Unreadable:
            continue
        text = at(task.get("data"), options.text or "text")
        text = text if isinstance(text, str) else ""
        for annotation, who in _counted(task, item, row, found):
            key = str(annotation.get("id") or "")
            if key and key in done:
                continue
            done.add(key)
            try:
                coder = "" if annotation.get("ground_truth") is True else name_of_value(who)
            except Unreadable:
                continue
            if not coder and annotation.get("ground_truth") is not True:
                builder.note("Annotations without a coder are left out.")
                continue
            builder.document(item, coder, text)
            results = annotation.get("result")
            for part in results if isinstance(results, list) else ():
                if isinstance(part, dict) and _region(str(part.get("type"))):
                    regions.regions[str(part.get("type"))] += 1
                for span in _spans_in(part, item, coder, text):
                    builder.add(span)
    if regions.regions and builder.empty:
        found.problems.append(regions.refusal(source.name))


def _spans_in(part: Any, item: str, coder: str, text: str) -> Iterator[Span]:
    if not isinstance(part, dict) or not isinstance(part.get("value"), dict):
        return
    tag, value = part.get("type"), part["value"]
    labels = value.get(tag) if tag in SPAN_TAGS else None
    try:
        start, end = int(value["start"]), int(value["end"])
    except (KeyError, TypeError, ValueError):
        return
    marked = value.get("text")
    if isinstance(marked, str) and text and text[start:end] != marked:
        places = to_code_points(text)  # a browser counts UTF-16 units
        if 0 <= start <= end < len(places):
            moved = places[start], places[end]
            start, end = moved if text[slice(*moved)] == marked else (start, end)
    for label in labels if isinstance(labels, list) else ():
        if isinstance(label, str):
            yield Span(item, coder, str(part.get("from_name") or "labels"), start, end, label)
