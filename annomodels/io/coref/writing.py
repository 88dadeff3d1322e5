"""Write the clusters of one coder to a file: JSON lines or CoNLL-2012."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from annomodels.data.document import Corpus, Document, documents_of
from annomodels.data.expressions import Key, Span
from annomodels.data.layers import PHRASE
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, NotApplicable, Option
from annomodels.io.coref.parts import crossings
from annomodels.io.writing import atomic_path

WRITTEN = {"jsonlines": ".jsonl", "conll": ".conll"}
ENDINGS = {
    ".jsonl": "jsonlines", ".jsonlines": "jsonlines", ".conll": "conll", ".v4_gold_conll": "conll",
}  # fmt: skip
PARTED = re.compile(r"(.*)#(\d+)$", re.DOTALL)
Probabilities = Mapping[tuple[str, Span], float]


def write(
    corpus: Corpus,
    path: str | os.PathLike[str],
    coder: str | None = None,
    *,
    format: str = "auto",
    singletons: bool = True,
    force: bool = False,
) -> tuple[str, ...]:
    """Write the clusters of one coder; :func:`read` returns the same documents.

    Parameters
    ----------
    corpus
        One or more documents; documents without this coder are left out.
    path
        Output file; it appears when it is complete.
    coder
        Coder of the clusters, such as "silver"; optional if there is only one.
    format
        "jsonlines", "conll" (CoNLL-2012 with twelve columns), or "auto" to go by the ending of the
        path: .jsonl or .conll.
    singletons
        Whether to write mentions that do not corefer with any other.
    force
        Whether to overwrite an existing file.

    Returns
    -------
    tuple of str
        Notes on content that was lost: CoNLL-2012 has no mentions with gaps or words with spaces.

    Raises
    ------
    AnnotationError
        If the coder is unknown, or if there are several and none is named.
    NotApplicable
        If the format is unknown.
    OutputError
        If the file exists or cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from annomodels.coref import document, read
    >>> text = document("t", {"ana": [["a", "c"], ["b"]]})
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ana.jsonl"
    >>> write(text, path), read(path)
    ((), [Document t: 3 words, 1 coders, 3 mentions])
    """
    form = ENDINGS.get(Path(path).suffix) if format == "auto" else format
    if form not in WRITTEN:
        ways = " or ".join(map(repr, WRITTEN))
        raise NotApplicable(
            f"{Option('format', format)} for {str(path)!r} is not known. Use {ways}."
        )
    text, notes = to_text(corpus, form, coder, singletons=singletons)
    with atomic_path(path, force) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")
    return notes


def to_text(
    corpus: Corpus,
    format: str,
    coder: str | None = None,
    *,
    singletons: bool = True,
    probabilities: Probabilities | None = None,
) -> tuple[str, tuple[str, ...]]:
    documents = documents_of(corpus)
    coders = sorted({name for document in documents for name in document.layers})
    if coder is None and len(coders) != 1:
        what = f"The documents have {len(coders)} coders; a file holds one."
        raise AnnotationError(what, remedy=f"Name one of {', '.join(coders)}.")
    who = coders[0] if coder is None else coder
    chosen = [document for document in documents if who in document.layers]
    if not chosen:
        remedy = f"Use one of {', '.join(coders)}."
        raise AnnotationError(f"Unknown coder {who!r}.", remedy=remedy)
    if format == "conll":
        return _conll(chosen, who, singletons)
    lines = [_json(document, who, singletons, probabilities) for document in chosen]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), ()


def _clusters(document: Document, coder: str, singletons: bool) -> list[list[Key]]:
    least = 1 if singletons else 2
    groups = (
        sorted((key for key in group if key[0] == PHRASE), key=lambda key: key[1])
        for group in document.layers[coder].groups
    )
    return sorted((g for g in groups if len(g) >= least), key=lambda g: g[0][1])


def _pieces(span: Span) -> list[list[int]]:
    runs: list[list[int]] = []
    for token in span.tokens:
        if runs and token == runs[-1][1] + 1:
            runs[-1][1] = token
        else:
            runs.append([token, token])
    return runs


def _sentences(document: Document) -> Iterator[tuple[int, Sequence[str]]]:
    starts = sorted({0, *document.sentence_starts}) if document.tokens else []
    for first, end in zip(starts, [*starts[1:], len(document.tokens)], strict=True):
        yield first, document.tokens[first:end]


def _json(
    document: Document, coder: str, singletons: bool, probabilities: Probabilities | None
) -> dict[str, Any]:
    clusters = _clusters(document, coder, singletons)
    out: dict[str, Any] = {"doc_key": document.id}
    if document.genre is not None:
        out["genre"] = document.genre
    out["coder"] = coder
    out["sentences"] = [list(words) for _, words in _sentences(document)]
    runs = [[_pieces(span) for _, span in group] for group in clusters]
    out["clusters"] = [[run[0] if len(run) == 1 else run for run in group] for group in runs]
    if probabilities is not None:
        known = [[probabilities.get((document.id, span)) for _, span in g] for g in clusters]
        out["p_link"] = [[None if p is None else round(p, 6) for p in group] for group in known]
    return out


def _conll(
    documents: Sequence[Document], coder: str, singletons: bool
) -> tuple[str, tuple[str, ...]]:
    lines: list[str] = []
    gaps = spaces = crossed = 0
    for document in documents:
        found = PARTED.match(document.id)
        title, part = (found[1], int(found[2])) if found else (document.id, 0)
        opens: dict[int, list[tuple[int, int]]] = {}
        closes: dict[int, list[tuple[int, int]]] = {}
        alone: dict[int, list[int]] = {}
        clusters = _clusters(document, coder, singletons)
        whole = [(s, "", "") for group in clusters for _, s in group if s.is_continuous]
        crossed += len(crossings(whole, "error", ""))
        for n, group in enumerate(clusters):
            for _, span in group:
                if not span.is_continuous:
                    gaps += 1
                elif len(span) == 1:
                    alone.setdefault(span.start, []).append(n)
                else:
                    opens.setdefault(span.start, []).append((-span.end, n))
                    closes.setdefault(span.end, []).append((-span.start, n))
        lines.append(f"#begin document ({title}); part {part:03}")
        name = "_".join(title.split()) or "_"
        for first, words in _sentences(document):
            for n, word in enumerate(words):
                at = first + n
                marks = [f"{c})" for _, c in sorted(closes.get(at, []))]
                marks += [f"({c}" for _, c in sorted(opens.get(at, []))]
                marks += [f"({c})" for c in alone.get(at, [])]
                plain = "_".join(word.split()) or "_"
                spaces += plain != word
                columns = [name, str(part), str(n), plain, *"-*----*", "|".join(marks) or "-"]
                lines.append("\t".join(columns))
            lines.append("")
        lines.append("#end document")
    notes = []
    if gaps:
        notes.append(f"CoNLL-2012 has no gaps: {counted(gaps, 'mention')} left out.")
    if crossed:
        what = counted(crossed, "mention")
        notes.append(f"CoNLL-2012 brackets nest: {what} across others may be read differently.")
    if spaces:
        notes.append(
            f"Words of CoNLL-2012 contain no spaces: {counted(spaces, 'word')} written with _."
        )
    return "\n".join(lines) + "\n", tuple(notes)
