"""JSON lines: sentences, and clusters as lists of first and last word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annomodels.data.document import Document
from annomodels.data.expressions import Span
from annomodels.errors import AnnotationError, Problem
from annomodels.io.archives import Members
from annomodels.io.coref.parts import Marks, Options, Part
from annomodels.io.objects import json_lines


def read(files: Members, name: str, coder: str, unnamed: str, options: Options) -> list[Part]:
    """Documents of a file; a line may name its own coder and genre."""
    source = files.where(name)
    values, lines = json_lines(files.text(name, options.encoding), source)
    parts, problems = [], []
    for number, (value, line) in enumerate(zip(values, lines, strict=True), 1):
        where = f"{source}, line {line}"
        try:
            fallback = unnamed if len(values) == 1 else f"document {number}"
            parts.append(Part(_document(value, coder, fallback), where))
        except AnnotationError as error:
            problems += [
                Problem(p.what, ", ".join(filter(None, (where, p.where))), p.remedy)
                for p in error.problems
            ]
    if not values:
        problems.append(Problem("There are no documents.", source, "Write one in each line."))
    if problems:
        raise AnnotationError(problems)
    return parts


def _fail(what: str, remedy: str) -> AnnotationError:
    return AnnotationError(Problem(what, remedy=remedy))


def _document(value: Any, coder: str, unnamed: str) -> Document:
    if not isinstance(value, dict) or "sentences" not in value:
        raise _fail("The line has no sentences.", 'Write {"doc_key", "sentences", "clusters"}.')
    name = str(value.get("doc_key", value.get("id", unnamed)))
    sentences = [_words(sentence) for sentence in value["sentences"]]
    starts = [0]
    for sentence in sentences:
        starts.append(starts[-1] + len(sentence))
    marks = Marks()
    clusters: list[list[str]] = []
    groups, offset = (
        (value["clusters"], False) if "clusters" in value else (value.get("coref_chains"), True)
    )
    if not isinstance(groups, list):
        raise _fail("The line has no list of clusters.", "Write [] if there are none.")
    for n, group in enumerate(groups):
        clusters.append([])
        for m, mention in enumerate(group if isinstance(group, list) else [group]):
            span = _by_sentence(mention, starts) if offset else _span(mention)
            one = f"{n}.{m}"
            if marks.add(one, span):
                clusters[-1].append(one)
    coder = str(value.get("coder", coder))
    layer = marks.layer(coder, clusters)
    genre = value.get("genre") or (name.split("/")[0] if "/" in name else None)
    tokens = tuple(word for sentence in sentences for word in sentence)
    return Document(name, tokens, tuple(starts[:-1]), genre, {coder: layer})


def _words(sentence: Any) -> list[str]:
    """Words of a sentence: a list of texts, or of objects with a text."""
    words = sentence.get("tokens") if isinstance(sentence, dict) else sentence
    if not isinstance(words, list):
        raise _fail(f"{sentence!r} is not a sentence.", 'Write a list of words, ["We", "go"].')
    return [str(w.get("text", "")) if isinstance(w, dict) else str(w) for w in words]


def _number(value: Any) -> int:
    if isinstance(value, str) and value.lstrip("-").isdigit():
        return int(value)
    raise _fail(
        f"{value!r} is not the position of a word.", "Count the words of the document from 0."
    )


def _span(mention: Any) -> Span:
    """Span of [first, last], of [[first, last], ...] or of {"tokens": [...]}."""
    if isinstance(mention, dict) and isinstance(mention.get("tokens"), list):
        return Span(tuple(map(_number, mention["tokens"])))
    if isinstance(mention, list) and mention and all(isinstance(p, list) for p in mention):
        return Span(tuple({token for piece in mention for token in _span(piece).tokens}))
    if not isinstance(mention, list) or len(mention) != 2:
        remedy = "Write [first, last], [[first, last], ...] with gaps, or {'tokens': [...]}."
        raise _fail(f"{mention!r} is not a mention.", remedy)
    first, last = map(_number, mention)
    if first > last:
        raise _fail(f"The mention [{first}, {last}] runs backwards.", "Name the first word first.")
    return Span.between(first, last)


def _by_sentence(mention: Any, starts: Iterable[int]) -> Span:
    """Span of [sentence, first, last], counted within the sentence."""
    if not isinstance(mention, list) or len(mention) != 3:
        raise _fail(f"{mention!r} is not a mention.", "Write [sentence, first, last].")
    sentence, first, last = map(_number, mention)
    begin = list(starts)
    if not 0 <= sentence < len(begin) - 1:
        raise _fail(f"There is no sentence {sentence}.", "Count the sentences from 0.")
    return Span.between(begin[sentence] + first, begin[sentence] + last)
