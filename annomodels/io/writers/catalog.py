"""All output formats by name: labels in layouts, and gold labels for tools."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annomodels.data.annotations import Annotations
from annomodels.errors import NotApplicable, meant
from annomodels.io.span_builder import Spans
from annomodels.io.writers import layouts, spans
from annomodels.io.writers.layouts import gold_list, with_soft
from annomodels.io.writing import atomic_path, write_table


@dataclass(frozen=True)
class Writer:
    title: str
    make: Callable[[Any], Any]
    form: str | None = None


LAYOUTS: Mapping[str, Writer] = {
    "long": Writer("one row for each label", layouts.long),
    "wide": Writer("one column for each coder", layouts.wide),
    "crowd-kit": Writer("columns task, worker, label", layouts.crowd_kit),
    "cleanlab": Writer("wide, labels as numbers from 0", layouts.cleanlab),
    "k-alpha": Writer("matrix of numbers, NA for none (K-Alpha)", layouts.k_alpha),
    "recal": Writer("matrix of numbers, # for none (ReCal)", layouts.recal),
    "mace": Writer("matrix of labels, empty for none (MACE)", layouts.mace),
    "label-studio": Writer("Label Studio, tasks with annotations", layouts.label_studio),
    "prodigy": Writer("Prodigy, examples of the choice interface", layouts.prodigy),
    "argilla": Writer("Argilla, records with responses", layouts.argilla),
}
BACKS: Mapping[str, Writer] = {
    "label-studio": Writer("Label Studio, predictions", layouts.label_studio_gold),
    "label-studio-review": Writer(
        "Label Studio, tasks to decide, most doubtful first", layouts.label_studio_review
    ),
    "prodigy": Writer("Prodigy, examples to review", layouts.prodigy_gold),
    "argilla": Writer("Argilla, suggestions", layouts.argilla_gold),
    "hugging-face": Writer("Hugging Face, rows with soft labels as a list", layouts.hugging_face),
    "toloka": Writer("Toloka, control tasks", layouts.toloka_golden, "tsv"),
    "appen": Writer("Appen, test questions", layouts.appen_tests, "csv"),
}
# gold spans; `make` returns files by name, and a single file has the name ""
SPAN_BACKS: Mapping[str, Writer] = {
    "brat": Writer("brat, texts and annotations (a folder)", spans.brat, "folder"),
    "webanno": Writer("WebAnno TSV 3.3, a file per document (a folder)", spans.webanno, "folder"),
    "conll": Writer("CoNLL, a token and its tag in each line", spans.conll),
    "label-studio": Writer("Label Studio, predictions", spans.label_studio),
    "prodigy": Writer("Prodigy, examples to review", spans.prodigy),
    "doccano": Writer("doccano, rows of sequence labeling", spans.doccano),
    "spacy": Writer("spaCy, a document per line (Doc.from_json)", spans.spacy),
}


def span_files(gold: object, to: str, source: Spans | None = None) -> dict[str, str]:
    """Return the files of gold spans for a tool by name; a single file has the name ""."""
    found = spans.gold_spans(gold, source)
    writer = named(to, SPAN_BACKS)
    spans.with_texts(found, to)
    made: dict[str, str] = writer.make(found)
    return made


def put_files(files: Mapping[str, str], path: Path, force: bool) -> Path:
    """Write one file, or several in a folder, as UTF-8."""
    for name, made in files.items():
        place = path / name if name else path
        if name:
            place.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(place, force) as temporary:
            temporary.write_bytes(made.encode())
    return path


def named(to: str, writers: Mapping[str, Writer]) -> Writer:
    if to in writers:
        return writers[to]
    hint = f"{meant(to, writers)}Use one of {', '.join(writers)}."
    raise NotApplicable(f"{to!r} is not an output format. {hint}")


def write(
    data: Annotations,
    path: str | os.PathLike[str],
    to: str = "long",
    *,
    force: bool = False,
    spreadsheet: bool = False,
) -> Path:
    r"""Write labels in a layout that another program reads.

    Parameters
    ----------
    data
        The annotations.
    path
        The file. Its ending sets the format of a table: .csv, .tsv, .jsonl, .json or .parquet.
    to
        "long", "wide", "crowd-kit", "cleanlab", "k-alpha", "recal", "mace", "label-studio",
        "prodigy" or "argilla".
    force
        Whether to replace an existing file.
    spreadsheet
        Whether to put an apostrophe before strings that a spreadsheet reads as formulas.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    NotApplicable
        If the layout is unknown.
    AnnotationError
        If the layout is a matrix and a coder labeled an item twice.
    OutputError
        If the file exists or cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import annomodels as am
    >>> data = am.Annotations.from_records([("t1", "ana", "pos"), ("t2", "ben", "neg")])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "matrix.csv"
    >>> am.write(data, path, to="k-alpha").read_text()
    '2,NA\nNA,1\n'
    """
    return _put(named(to, LAYOUTS), data, path, force, spreadsheet)


def write_gold(
    gold: object,
    path: str | os.PathLike[str],
    to: str = "label-studio",
    *,
    question: str = "label",
    texts: Mapping[object, str] | Spans | None = None,
    force: bool = False,
    spreadsheet: bool = False,
) -> Path:
    """Write gold labels in a format that a labeling tool imports.

    Parameters
    ----------
    gold
        Result of ``fit.gold()``, also for spans, or a data frame with the columns item, label,
        probability and optionally ``p_<label>`` and ``p_next_<label>``. An empty label means
        not settled.
    path
        The file.
    to
        "label-studio" (predictions), "label-studio-review" (tasks, most doubtful first),
        "prodigy", "argilla" (suggestions), "hugging-face" (soft labels as a list), "toloka"
        (control tasks), "appen" (test questions) or "parquet" (a column ``p_<label>`` per label).
        For spans: "brat" or "webanno" (a folder), "conll", "label-studio", "prodigy", "doccano" or
        "spacy".
    question
        Name of the question in the tool.
    texts
        Text of each item [default: the item name]. For gold spans, the fitted spans, which have
        texts and tokens.
    force
        Whether to replace an existing file.
    spreadsheet
        Whether to put an apostrophe before strings that a spreadsheet reads as formulas.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    NotApplicable
        If the tool is unknown.
    AnnotationError
        If `gold` is not a table of gold labels.
    OutputError
        If the file exists or cannot be written.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import pandas as pd
    >>> import annomodels as am
    >>> gold = pd.DataFrame({"item": ["t1"], "label": ["pos"], "probability": [0.97]})
    >>> path = am.write_gold(gold, pathlib.Path(tempfile.mkdtemp()) / "gold.json", to="argilla")
    >>> json.loads(path.read_text())[0]["suggestions"]
    {'label': {'value': 'pos', 'score': 0.97, 'agent': 'annomodels'}}
    """
    if {*spans.NEEDED} <= {*getattr(gold, "table", gold).columns}:  # type: ignore[attr-defined]
        files = span_files(gold, to, texts if isinstance(texts, Spans) else None)
        return put_files(files, Path(path), force)
    if isinstance(texts, Spans):
        raise NotApplicable("Spans have the texts of gold spans, not of gold labels of items.")
    if to == "parquet":
        return _put(Writer("", with_soft, to), gold, path, force, spreadsheet)
    return _put(named(to, BACKS), gold_list(gold, question, texts), path, force, spreadsheet)


def _put(
    writer: Writer, given: object, path: str | os.PathLike[str], force: bool, spreadsheet: bool
) -> Path:
    made = writer.make(given)
    if not isinstance(made, str):
        return write_table(made, path, writer.form, force=force, spreadsheet=spreadsheet)
    return put_files({"": made}, Path(path), force)
