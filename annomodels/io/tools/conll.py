"""CoNLL: one word and tag (IOB, BIO or BIOES) per line, one file per coder and document."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError
from annomodels.io.records import Records
from annomodels.io.source import Options, Source

ENDINGS = (".conll", ".bio", ".iob", ".iob2", ".txt", ".tsv")
_LINE = re.compile(r"(\S*)(?:[ \t].*)?[ \t](O|\?|[BIESLU]-\S+)[ \t]*")
_TAG = re.compile(r"O|[BIESLU]-\S+")
_UNSEEN = "?"  # tag of words that a coder did not see
_BEGIN = re.compile(
    r"-DOCSTART-\s*(?:\((?P<id>[^)]*)\))?.*|"
    r"#\s*(?:begin document|newdoc id =|doc_id =)\s*(?P<name>.*?);?\s*"
)
_HEAD = 20  # lines inspected to decide whether columns are coders
_ALONE = "document"  # name of an unnamed document
_LOOKED_AT = 3  # files that are inspected
_ENOUGH = 0.5  # minimum proportion of words that a coder must share with the others


@dataclass(frozen=True)
class _Sheet:
    """Words of one coder, tags by question, and the word indices that follow a sentence end."""

    words: tuple[str, ...]
    tags: dict[str, list[str]]
    breaks: frozenset[int]
    nameless: int = 0

    @property
    def is_unseen(self) -> bool:
        """Return True if the coder saw none of the words."""
        return all(tag == _UNSEEN for tags in self.tags.values() for tag in tags)


def is_conll(source: Source, options: Options) -> bool:
    if source.inside is None:
        head = (
            "\n".join(source.text[:4096].splitlines()[:_HEAD]) if source.kind == "delimited" else ""
        )
        return len(_by_coder(head)) > 1
    names = source.inside.ending(*ENDINGS)[:_LOOKED_AT]
    heads = [source.inside.head(name, 4096).splitlines()[:-1] for name in names]
    lines = [line for head in heads for line in head if line.strip()]
    sheets = [_parsed("\n".join(head)) for head in heads]
    words = sum(len(sheet.words) + sheet.nameless for sheet in sheets)
    tags = {tag for sheet in sheets for given in sheet.tags.values() for tag in given}
    return words > 0.8 * len(lines) and bool(tags - {"O"})


def read_conll(found: Records) -> None:
    """Read the tagged spans; if coders have different words, align their texts."""
    documents: dict[str, dict[str, _Sheet]] = {}
    for document, coder, text in _texts(found.source):
        for name, part in _parts(text, document):
            sheet = _parsed(part)
            if sheet.words and not sheet.is_unseen:
                documents.setdefault(name, {})[coder] = sheet
    differing, lost, strangers = [], 0, []
    nameless = sum(s.nameless for sheets in documents.values() for s in sheets.values())
    for document, sheets in documents.items():
        # the version that most coders have; in a tie, the longest
        counts = Counter(sheet.words for sheet in sheets.values())
        common = max(counts, key=lambda words: (counts[words], len(words), words))
        places = {coder: _matched(common, sheet.words) for coder, sheet in sheets.items()}
        few = [c for c, place in places.items() if len(place) < _ENOUGH * len(common)]
        strangers += [f"{document} by {coder}" for coder in few]
        kept = {coder: sheet for coder, sheet in sheets.items() if coder not in few}
        if any(sheet.words != common for sheet in sheets.values()):
            differing.append(document)
        shared = set(range(len(common))).intersection(*(set(places[c].values()) for c in kept))
        whole = next(sheet for sheet in sheets.values() if sheet.words == common)
        text, tokens = _text(whole)
        ours = [token for n, token in enumerate(tokens) if n in shared]
        for coder, sheet in kept.items():
            found.document(document, coder, text, ours)
            marks = [(name, *m) for name, tags in sheet.tags.items() for m in _stretches(tags)]
            for question, first, last, label in marks:
                at = [places[coder].get(n) for n in range(first, last + 1)]
                ends = (at[0], at[-1])
                if ends[0] is None or ends[1] is None or ends[1] - ends[0] != last - first:
                    lost += 1
                    continue
                place = tokens[ends[0]][0], tokens[ends[1]][1]
                found.mark(document, coder, question, place, label)
    documents_of = counted(len(differing), "document")
    told = (
        (differing, f"The words of {documents_of} differ between coders, and are aligned by the "
                    f"text; only words that all coders have are compared: {some(differing)}."),
        (lost, f"Left out because other coders do not have these words: {counted(lost, 'mark')}."),
        (strangers, "Left out because fewer than half of the words match those of the other "
                    f"coders: {some(strangers)}."),
        (nameless, f"Left out because a tag has no word: {counted(nameless, 'line')}."),
    )  # fmt: skip
    for found_any, note in told:
        if found_any:
            found.note(note)


def _texts(source: Source) -> Iterator[tuple[str, str, str]]:
    """Yield document, coder and lines of each coder."""
    if source.inside is None:
        for coder, text in _by_coder(source.text).items():
            yield _ALONE, coder, text
        return
    for name, document, coder in _placed(source):
        yield document, coder, source.member(name).text


def _parts(text: str, document: str) -> Iterator[tuple[str, str]]:
    """Yield name and lines of each document in a file; lines such as -DOCSTART- begin one."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line in text.splitlines():
        begun = _BEGIN.fullmatch(line)
        if begun is None:
            parts[-1][1].append(line)
        else:
            parts.append((begun["id"] or begun["name"] or str(len(parts)), []))
    for name, lines in parts:
        called = name if document == _ALONE else f"{document}/{name}"
        yield called if name else document, "\n".join(lines)


def _by_coder(text: str) -> dict[str, str]:
    """Return the lines of each coder if a file has one tag column per coder, else {}."""
    lines = [line.split() for line in text.splitlines()]
    is_row = [bool(row) and row[0][0] != "#" and row[0] != "-DOCSTART-" for row in lines]
    rows = list(compress(lines, is_row))
    width = len(rows[0]) if rows else 0
    if len(rows) < 2 or any(len(row) != width for row in rows):
        return {}
    header = [] if all(map(_is_tag, rows[0][1:])) else rows[0]
    is_row[lines.index(rows[0])] = not header
    places = [n for n in range(1, width) if all(_is_tag(row[n]) for row in rows[bool(header) :])]
    if places != list(range(width - len(places), width)):
        return {}
    names = [header[n] if header else f"coder {k}" for k, n in enumerate(places, 1)]
    told = [row for row in zip(lines, is_row, strict=True) if row[0] is not header]
    return {
        name: "\n".join(f"{row[0]} {row[n]}" if is_word else " ".join(row) for row, is_word in told)
        for name, n in zip(names, places, strict=True)
    }


def _is_tag(cell: str) -> bool:
    return cell == _UNSEEN or _TAG.fullmatch(cell) is not None


def _placed(source: Source) -> Iterator[tuple[str, str, str]]:
    """Yield path, document and coder; each file outside folders is a coder."""
    assert source.inside is not None
    paths = {name: name.split("/") for name in source.inside.ending(*ENDINGS)}
    while len({path[0] for path in paths.values()}) == 1 and min(map(len, paths.values())) > 1:
        paths = {name: path[1:] for name, path in paths.items()}
    flat = {name for name, path in paths.items() if len(path) < 2}
    if flat and len(flat) < len(paths):
        what = f"Some files are not in the folder of a coder: {some(sorted(flat))}."
        remedy = "Arrange all files as coder/document.txt."
        raise AnnotationError(what, source.name, remedy)
    for name, path in paths.items():
        stem = path[-1].rsplit(".", 1)[0]
        if flat:
            yield name, _ALONE, stem
        else:
            yield name, "/".join([*path[1:-1], stem]), path[0]


def _parsed(text: str) -> _Sheet:
    words: list[str] = []
    lines = text.splitlines()
    columns = _named(lines)
    tags: dict[str, list[str]] = {name: [] for name in columns}
    breaks: set[int] = set()
    nameless = 0
    for line in lines:
        found = _LINE.fullmatch(line)
        if not line.strip() or found is None:
            breaks.add(len(words))
        elif not found[1]:
            nameless += 1
        else:
            words.append(found[1])
            for name, place in columns.items():
                tags[name].append(found[2] if place is None else line.split("\t")[place].strip())
    return _Sheet(tuple(words), tags, frozenset(breaks), nameless)


def _named(lines: Sequence[str]) -> dict[str, int | None]:
    """Return the tag columns by header name if several have one, else the last column."""
    header, *rows = [line.split("\t") for line in lines if line.strip()] or [[]]
    columns = zip(*rows, strict=False)
    of_tags = {
        name: place
        for place, (name, cells) in enumerate(zip(header, columns, strict=False))
        if place and all(_TAG.fullmatch(cell.strip()) for cell in cells)
    }
    is_whole = all(len(row) >= len(header) for row in rows)
    named = is_whole and len(of_tags) > 1 and not any(map(_TAG.fullmatch, of_tags))
    return {**of_tags} if named else {"tag": None}


def _matched(common: Sequence[str], words: Sequence[str]) -> dict[int, int]:
    """Map each word that occurs in both texts to its index in the common words."""
    if common == words:
        return {n: n for n in range(len(words))}
    blocks = difflib.SequenceMatcher(None, common, words, autojunk=False).get_matching_blocks()
    return {b.b + n: b.a + n for b in blocks for n in range(b.size)}


def _text(sheet: _Sheet) -> tuple[str, list[tuple[int, int]]]:
    parts: list[str] = []
    tokens = []
    at = 0
    for n, word in enumerate(sheet.words):
        if n:
            parts.append("\n" if n in sheet.breaks else " ")
            at += 1
        parts.append(word)
        tokens.append((at, at + len(word)))
        at += len(word)
    return "".join(parts), tokens


def _stretches(tags: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    begin, label = 0, ""
    for n, tag in enumerate([*tags, "O"]):
        kind, _, name = tag.partition("-")
        goes_on = kind in ("I", "E", "L") and name == label
        if label and not goes_on:
            yield begin, n - 1, label
            label = ""
        if tag != "O" and not goes_on:
            begin, label = n, name
        if label and kind in ("E", "L", "S", "U"):
            yield begin, n, label
            label = ""
