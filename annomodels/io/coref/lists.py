"""Read coreference from lists of mentions: JSON lines of clusters, tables of chains."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate

from annomodels.data.document import Document
from annomodels.data.expressions import Span
from annomodels.data.layers import Judgment
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, Note, Problem, raise_all
from annomodels.io.border import Members
from annomodels.io.coref.parts import CorefOptions, DocumentPart, Marks
from annomodels.io.objects import json_lines
from annomodels.io.tables.table import TextRows, from_records

# -- JSON lines: sentences, and clusters as lists of first and last word ---------------------------


def read_jsonlines(
    files: Members, name: str, coder: str, unnamed: str, options: CorefOptions
) -> list[DocumentPart]:
    """Read the documents of a file; a line may name its coder and genre."""
    source = files.where(name)
    values, lines = json_lines(files.text(name, options.encoding), source)
    parts, problems = [], []
    for number, (value, line) in enumerate(zip(values, lines, strict=True), 1):
        where = f"{source}, line {line}"
        try:
            fallback = unnamed if len(values) == 1 else f"document {number}"
            parts.append(DocumentPart(_document(value, coder, fallback), where))
        except AnnotationError as error:
            problems += [
                Problem(p.what, ", ".join(filter(None, (where, p.where))), p.remedy)
                for p in error.problems
            ]
    if not values:
        problems.append(Problem("The file has no documents.", source, "Write one in each line."))
    raise_all(problems)
    return parts


def _fail(what: str, remedy: str) -> AnnotationError:
    return AnnotationError(what, remedy=remedy)


def _document(value: object, coder: str, unnamed: str) -> Document:
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


def _words(sentence: object) -> list[str]:
    """Return the words of a sentence: a list of strings, or of objects with ``text``."""
    words = sentence.get("tokens") if isinstance(sentence, dict) else sentence
    if not isinstance(words, list):
        raise _fail(f"{sentence!r} is not a sentence.", 'Write a list of words, ["We", "go"].')
    return [str(w.get("text", "")) if isinstance(w, dict) else str(w) for w in words]


def _number(value: object) -> int:
    if isinstance(value, str) and value.lstrip("-").isdigit():
        return int(value)
    raise _fail(
        f"{value!r} is not the position of a word.", "Count the words of the document from 0."
    )


def _span(mention: object) -> Span:
    """Return the span of [first, last], of [[first, last], ...] or of {"tokens": [...]}."""
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


def _by_sentence(mention: object, starts: Iterable[int]) -> Span:
    """Return the span of [sentence, first, last], with positions in the sentence."""
    if not isinstance(mention, list) or len(mention) != 3:
        raise _fail(f"{mention!r} is not a mention.", "Write [sentence, first, last].")
    sentence, first, last = map(_number, mention)
    begin = list(starts)
    if not 0 <= sentence < len(begin) - 1:
        raise _fail(f"Sentence {sentence} does not exist.", "Count the sentences from 0.")
    return Span.between(begin[sentence] + first, begin[sentence] + last)


# -- tables of item, coder and chain (or label), as ezCoref exports them ---------------------------


ITEM = re.compile(r"(.*)#(\d+:\d+-\d+)$")
NUMBER = re.compile(r"\d+")
NEW = "NEW"
Rows = dict[str, dict[str, tuple[str, int]]]


def read_chains(
    files: Members, name: str, coder: str, unnamed: str, options: CorefOptions
) -> list[DocumentPart]:
    """Read the documents of a table; an item is document#sentence:first-end, end exclusive."""
    source = files.where(name)
    lines = TextRows(files.text(name, options.encoding), source)
    table = from_records(lines, lambda: lines.lines, source, lines.delimiter)
    columns = table.columns
    what = "chain" if "chain" in columns else "label"
    missing = [column for column in ("item", what) if column not in columns]
    if missing or table.problems:
        remedy = "Give the columns item, coder and chain, or item, coder and label."
        problem = Problem(f"Column {(missing or ['item'])[0]!r} is missing.", source, remedy)
        raise AnnotationError(table.problems or [problem])
    coders = columns.get("coder", [coder] * len(columns["item"]))
    rows: dict[str, Rows] = {}
    problems: list[Problem] = []
    strange: list[tuple[str, int]] = []
    repeated: Counter[str] = Counter()
    for item, who, label, line in zip(
        columns["item"], coders, columns[what], table.rows, strict=True
    ):
        found = ITEM.match(item)
        if not found:
            strange.append((item, line))
            continue
        held = rows.setdefault(found[1], {}).setdefault(str(who), {})
        repeated[found[1]] += found[2] in held
        held.setdefault(found[2], (label, line))
    if strange:
        first = f"(first: {strange[0][0]!r}, row {strange[0][1]})"
        are = "is not a mention position" if len(strange) == 1 else "are not mention positions"
        wrong = f"{len(strange):,} of {counted(len(table.rows), 'item')} {are} {first}."
        remedy = "Write document#sentence:first-end, such as news_1#0:3-5."
        problems.append(Problem(wrong, source, remedy))
    parts = []
    for document, by_coder in rows.items():
        again = repeated[document]
        text = f"{counted(again, 'repeated row')} of a coder left out."
        notes = (Note(text, "repeated rows"),) if again else ()
        parts.append(_Chains(source, document, by_coder, problems).part(what, notes))
    raise_all(problems)
    return [part for part in parts if part is not None]


class _Chains:
    def __init__(self, source: str, name: str, coders: Rows, problems: list[Problem]) -> None:
        self.source = source
        self.name = name
        self.coders = coders
        self.problems = problems
        lengths: Counter[int] = Counter()
        places = {p: [int(n) for n in NUMBER.findall(p)] for held in coders.values() for p in held}
        for sentence, first, end in places.values():
            lengths[sentence] = max(lengths[sentence], end, first + 1)
        self.starts = [0, *accumulate(lengths[n] for n in range(max(lengths, default=-1) + 1))]
        self.spans = {
            place: Span.between(self.starts[n] + first, self.starts[n] + max(end - 1, first))
            for place, (n, first, end) in places.items()
        }

    def part(self, what: str, notes: tuple[str, ...]) -> DocumentPart | None:
        layers = {}
        for coder, held in self.coders.items():
            marks = Marks()
            for place in sorted(held, key=lambda place: self.spans[place]):
                marks.add(place, self.spans[place])
            readings = self._from_chains(held) if what == "chain" else self._from_labels(held)
            if readings is None:
                return None
            judgments = {
                place: Judgment(
                    place,
                    "phrase" if found else "none",
                    tuple(frozenset([marks.kept(one)]) for one in found),
                )
                for place, found in readings.items()
                if marks.kept(place) == place
            }
            layers[coder] = marks.layer(coder, None, judgments)
        words = ("_",) * self.starts[-1]
        starts = tuple(sorted(set(self.starts[:-1])))
        document = Document(self.name, words, starts, None, layers, notes)
        return DocumentPart(document, self.source)

    def _known(self, held: Mapping[str, tuple[str, int]], targets: list[str], line: int) -> bool:
        unknown = [one for one in targets if one not in held]
        if unknown:
            what = f"{unknown[0]!r} is named in a chain, but is not a mention of this coder."
            remedy = "Give a row for every mention of every coder."
            self.problems.append(Problem(what, f"{self.source}, row {line}", remedy))
        return not unknown

    def _from_labels(self, held: Mapping[str, tuple[str, int]]) -> dict[str, list[str]] | None:
        out = {}
        for place, (label, line) in held.items():
            targets = [] if label in ("", NEW) else label.split("&")
            if not self._known(held, targets, line):
                return None
            out[place] = targets
        return out

    def _from_chains(self, held: Mapping[str, tuple[str, int]]) -> dict[str, list[str]] | None:
        """Return the nearest preceding mention in each chain of each mention."""
        sets: dict[str, frozenset[str]] = {}
        for place, (label, line) in held.items():
            members = [one for one in label.split("|") if one]
            if not self._known(held, members, line):
                return None
            sets[place] = frozenset(members) | {place}
        single = {own for own in sets.values() if all(own <= sets[one] for one in own)}
        of: dict[str, list[frozenset[str]]] = {}
        for chain in single:
            for one in chain:
                of.setdefault(one, []).append(chain)
        out: dict[str, list[str]] = {}
        for place, own in sets.items():
            found = set()
            for chain in of.get(place, [own]):
                before = [one for one in chain if self.spans[one] < self.spans[place]]
                if before:
                    found.add(max(before, key=lambda one: self.spans[one]))
            out[place] = sorted(found, key=lambda one: self.spans[one])
        return out
