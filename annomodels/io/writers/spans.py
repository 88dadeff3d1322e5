"""Write gold spans in tool formats; each tool reads the same spans back."""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from annomodels.data.names import label_text
from annomodels.data.validation import counted, is_missing, some
from annomodels.errors import NotApplicable, Option
from annomodels.io.span_builder import WORD, Spans, utf_16
from annomodels.io.writers.layouts import NAME, as_json, as_lines, check_columns

NEEDED = ("document", "start", "end", "label")
Files = dict[str, str]


class GoldSpan(NamedTuple):
    """Gold span with the probability that it is exactly right."""

    start: int
    end: int
    label: str
    p: float = 1.0


@dataclass(frozen=True)
class GoldSpans:
    """Gold spans of each document in text order, including documents without spans."""

    spans: Mapping[str, tuple[GoldSpan, ...]]
    texts: Mapping[str, str]
    tokens: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    question: str = ""

    @property
    def is_nested(self) -> bool:
        """Return True if spans overlap."""
        return any(a.end > b.start for found in self.spans.values() for a, b in pairwise(found))

    def pieces(self, document: str) -> list[tuple[int, int]]:
        """Return the tokens of a document, cut where a span begins or ends within one."""
        text = self.texts[document]
        known = self.tokens.get(document) or [found.span() for found in WORD.finditer(text)]
        ends = {place for span in self.spans[document] for place in span[:2]}
        # characters outside all tokens, at the start or end of a span
        lone = {n for n in (*ends, *(n - 1 for n in ends)) if text[n : n + 1].strip()}
        inside = sorted(known)
        starts = [start for start, _ in inside]
        for n in sorted(lone):
            at = bisect_left(starts, n + 1) - 1
            if at < 0 or not inside[at][0] <= n < inside[at][1]:
                inside.insert(at + 1, (n, n + 1))
                starts.insert(at + 1, n)
        return [
            piece
            for start, end in inside
            for piece in pairwise([start, *sorted(n for n in ends if start < n < end), end])
        ]


def gold_spans(gold: object, source: Spans | None = None) -> GoldSpans:
    """Return the gold spans in a result of ``fit.gold()`` or in a table.

    `source` provides the texts, the tokens and the documents without spans.
    """
    table: Any = getattr(gold, "table", gold)
    check_columns(table, NEEDED, "gold spans")
    found: dict[str, list[GoldSpan]] = {name: [] for name in (source.seen if source else ())}
    p = table["p_exact"] if "p_exact" in table else [1.0] * len(table)
    for *place, label, each in zip(*(table[name] for name in NEEDED), p, strict=True):
        if is_missing(label) or not label_text(label):
            continue
        document, start, end = place
        span = GoldSpan(int(start), int(end), label_text(label), float(each))
        found.setdefault(str(document), []).append(span)
    spans = {name: tuple(sorted(each)) for name, each in found.items()}
    if source is None:
        return GoldSpans(spans, {})
    question = next(iter(source.questions), "")
    return GoldSpans(spans, source.texts, source.tokens, question)


def with_texts(gold: GoldSpans, to: str) -> None:
    """Raise if texts of gold spans are missing."""
    lacking = [name for name in gold.spans if name not in gold.texts]
    if lacking:
        raise NotApplicable(
            f"{to} needs the texts, but the texts of {counted(len(lacking), 'document')} are not "
            f"known: {some(lacking)}. Read the spans with their texts: for a table, use "
            f"{Option('text', ...)}."
        )


# -- files -----------------------------------------------------------------------------------------


def _file(document: str, ending: str) -> str:
    """Return the file path of a document, which cannot leave the folder."""
    parts = [part if part.strip(".") else "_" for part in re.split(r"[/\\]", document) if part]
    return "/".join(parts or ["_"]) + ending


def brat(gold: GoldSpans) -> Files:
    """Return the text and annotation files of each document."""
    files: Files = {}
    for document, spans in gold.spans.items():
        text = gold.texts[document]
        rows = [
            f"T{n}\t{re.sub(r'[^\w-]', '_', s.label)} {_in_lines(text, s)}\t"
            f"{' '.join(text[s.start : s.end].splitlines())}\n"
            for n, s in enumerate(spans, 1)
        ]  # fmt: skip
        files[_file(document, ".ann")] = "".join(rows)
        files[_file(document, ".txt")] = text
    return files


def _in_lines(text: str, span: GoldSpan) -> str:
    """Return the offsets of a span for brat, split at line breaks."""
    cuts = [m.span() for m in re.finditer(r"\s*\n\s*", text[span.start : span.end])]
    ends = [0, *(end for cut in cuts for end in cut), span.end - span.start]
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return ";".join(f"{span.start + a} {span.start + b}" for a, b in pairs)


_NER = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|value"
_RESERVED = re.compile(r"->|[\\\[\]|_;*]")


def webanno(gold: GoldSpans) -> Files:
    """Return WebAnno TSV 3.3 of each document, with offsets in UTF-16 units."""
    layer, dot, feature = gold.question.partition(".")
    name = f"webanno.custom.{layer}|{feature}" if dot and layer != "NamedEntity" else _NER
    return {
        _file(document.replace("/", "_"), ".tsv"): "\n".join(
            ["#FORMAT=WebAnno TSV 3.3", f"#T_SP={name}", "", "", *_tsv(gold, document), ""]
        )
        for document in gold.spans
    }


def _tsv(gold: GoldSpans, document: str) -> Iterator[str]:
    """Yield the TSV lines of a document; each line of its text is a sentence."""
    text, pieces = gold.texts[document], gold.pieces(document)
    numbered = list(enumerate(gold.spans[document], 1))
    units = list(accumulate(map(utf_16, text), initial=0))
    number = at = 0
    for line in re.finditer(r"[^\n]+", text):
        last = line.end()
        inside: list[tuple[int, int]] = []
        while at < len(pieces) and pieces[at][0] < last:
            inside.append(pieces[at])
            at += 1
        if not inside:
            continue
        number += 1
        if number > 1:
            yield ""
        yield f"#Text={_escaped(text[inside[0][0] : max(last, inside[-1][1])])}"
        for n, (start, end) in enumerate(inside, 1):
            here = [(k, s) for k, s in numbered if s.start < end and start < s.end]
            cell = "|".join(f"{_escaped(s.label)}[{k}]" for k, s in here) or "_"
            yield (
                f"{number}-{n}\t{units[start]}-{units[end]}\t{_escaped(text[start:end])}\t{cell}\t"
            )


def _escaped(text: str) -> str:
    plain = _RESERVED.sub(lambda found: f"\\{found[0]}", text)
    return plain.replace("\t", "\\t").replace("\n", "\\n")


def conll(gold: GoldSpans) -> Files:
    """Return one token and its IOB2 tag per line; leave out nested spans."""
    lines: list[str] = []
    for document, spans in gold.spans.items():
        rows = [f"-DOCSTART- ({document}) O", ""]
        before, text = 0, gold.texts[document]
        outer: list[GoldSpan] = []
        for span in sorted(spans, key=lambda s: (s.start, -s.end)):
            if not outer or span.start >= outer[-1].end:
                outer.append(span)
        for start, end in gold.pieces(document):
            if "\n" in text[before:start] and rows[-1]:
                rows.append("")
            found = [s for s in outer if s.start <= start and end <= s.end]
            tag = f"{'B' if found[0].start == start else 'I'}-{found[0].label}" if found else "O"
            rows.append(f"{text[start:end]} {tag}")
            before = end
        lines += [*rows, *[""] * bool(rows[-1])]
    return {"": "\n".join(lines) + "\n"}


def label_studio(gold: GoldSpans) -> Files:
    """Return tasks with predictions; offsets count UTF-16 units, as in a browser."""
    tasks = []
    question = gold.question if re.fullmatch(r"[\w-]+", gold.question) else "label"
    for document, spans in gold.spans.items():
        text = gold.texts[document]
        units = list(accumulate(map(utf_16, text), initial=0))
        result = [
            {
                "id": f"{n}",
                "from_name": question,
                "to_name": "text",
                "type": "labels",
                "score": round(s.p, 6),
                "value": {
                    "start": units[s.start],
                    "end": units[s.end],
                    "text": text[s.start : s.end],
                    "labels": [s.label],
                },
            }
            for n, s in enumerate(spans, 1)
        ]
        score = round(min((s.p for s in spans), default=1.0), 6)
        prediction = {"model_version": NAME, "score": score, "result": result}
        data = {"text": text, "document": document}
        tasks.append({"data": data, "annotations": [], "predictions": [prediction]})
    return {"": as_json(tasks)}


def prodigy(gold: GoldSpans) -> Files:
    """Return accepted examples of the span interface, with tokens."""
    rows = []
    for document, spans in gold.spans.items():
        text, pieces = gold.texts[document], gold.pieces(document)
        starts, ends = ({piece[k]: n for n, piece in enumerate(pieces)} for k in (0, 1))
        tokens = [
            {"text": text[a:b], "start": a, "end": b, "id": n, "ws": text[b : b + 1] == " "}
            for n, (a, b) in enumerate(pieces)
        ]
        marks = [
            {
                "start": s.start, "end": s.end, "label": s.label,
                "token_start": starts.get(s.start), "token_end": ends.get(s.end),
            }
            for s in spans
        ]  # fmt: skip
        key = zlib.crc32(document.encode()) - 2**31
        rows.append(
            {
                "text": text, "meta": {"document": document}, "tokens": tokens, "spans": marks,
                "_input_hash": key, "_task_hash": key, "_view_id": "spans_manual",
                "_annotator_id": NAME, "answer": "accept",
            }
        )  # fmt: skip
    return {"": as_lines(rows)}


def doccano(gold: GoldSpans) -> Files:
    return {
        "": as_lines(
            {"id": document, "text": gold.texts[document], "label": [list(s[:3]) for s in spans]}
            for document, spans in gold.spans.items()
        )
    }


def spacy(gold: GoldSpans) -> Files:
    """Return one line per document for ``spacy.tokens.Doc.from_json``."""
    rows = []
    for document, spans in gold.spans.items():
        text, before = gold.texts[document], 0
        tokens: list[tuple[int, int]] = []
        for start, end in [*gold.pieces(document), (len(text),) * 2]:
            if tokens and text[before:start].startswith(" "):  # spaCy keeps it with the token
                before += 1
            tokens += [piece for piece in ((before, start), (start, end)) if piece[0] < piece[1]]
            before = end
        marks = [{"start": s.start, "end": s.end, "label": s.label, "kb_id": ""} for s in spans]
        rows.append(
            {
                "text": text,
                "ents": [] if gold.is_nested else marks,
                "tokens": [{"id": n, "start": a, "end": b} for n, (a, b) in enumerate(tokens)],
                "spans": {"sc": marks} if gold.is_nested else {},
                "document": document,
            }
        )
    return {"": as_lines(rows)}
