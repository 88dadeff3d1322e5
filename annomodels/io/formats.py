"""The formats that are understood: one line each, tried in this order."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from annomodels.data.validation import some
from annomodels.errors import AnnotationError, Problem
from annomodels.io.columns import Columns
from annomodels.io.files import unreadable
from annomodels.io.long import is_long, read_long
from annomodels.io.matrix import is_matrix, read_matrix
from annomodels.io.source import Options, Source
from annomodels.io.span_builder import Spans
from annomodels.io.tools import (
    appen,
    argilla,
    brat,
    cas,
    doccano,
    grouped,
    inception,
    label_studio,
    label_studio_table,
    mturk,
    potato,
    prodigy,
    qualtrics,
    sagemaker,
    toloka,
    webanno,
)
from annomodels.io.wide import is_wide, read_wide

__all__ = ["FORMATS", "PLAIN", "REFUSED", "Format", "chosen"]

Looks = Callable[[Source, Options], bool]


@dataclass(frozen=True)
class Format:
    """A way to write annotations down.

    Parameters
    ----------
    name
        What the user says: ``format="long"``.
    title
        A few words for lists.
    signature
        What it is recognised by, in words.
    matches
        Whether a source looks like it.
    read
        Columns of a source; None if it holds spans only.
    spans
        Spans of a source; None if it holds none.
    """

    name: str
    title: str
    signature: str
    matches: Looks
    read: Callable[[Source, Options], Columns] | None
    spans: Callable[[Source, Options], Spans] | None = None


FORMATS: tuple[Format, ...] = (
    Format(
        "webanno",
        "WebAnno TSV 3, one file or a project export",
        "the first line is #FORMAT=WebAnno TSV 3.x",
        webanno.is_webanno,
        None,
        webanno.spans_of_webanno,
    ),
    Format(
        "cas",
        "UIMA CAS as XMI or JSON, one file or a project export (INCEpTION)",
        "XML with the root xmi:XMI, or a folder with TypeSystem.xml",
        cas.is_cas,
        None,
        cas.spans_of_cas,
    ),
    Format(
        "brat",
        "brat standoff, one folder for each coder",
        "files *.ann",
        brat.is_brat,
        None,
        brat.spans_of_brat,
    ),
    Format(
        "potato",
        "Potato, the folder annotation_output or exported rows",
        "files */user_state.json, or columns instance_id and user_id",
        potato.is_potato,
        potato.read_potato,
        potato.spans_of_potato,
    ),
    Format(
        "sagemaker",
        "SageMaker Ground Truth, the answers of the coders",
        "a folder worker-response, or records with datasetObjectId and annotations",
        sagemaker.is_sagemaker,
        sagemaker.read_sagemaker,
    ),
    Format(
        "prodigy",
        "Prodigy, JSON lines of db-out",
        "records with _task_hash and answer",
        prodigy.is_prodigy,
        prodigy.read_prodigy,
        prodigy.spans_of_prodigy,
    ),
    Format(
        "doccano",
        "doccano, an archive or folder with one file for each coder",
        "files with rows of id, text (or filename) and label",
        doccano.is_doccano,
        doccano.read_doccano,
        doccano.spans_of_doccano,
    ),
    Format(
        "label-studio",
        "Label Studio, JSON",
        "records with data and annotations (or completions)",
        label_studio.is_label_studio,
        label_studio.read_label_studio,
        label_studio.spans_of_label_studio,
    ),
    Format(
        "label-studio-table",
        "Label Studio, JSON-MIN or CSV",
        "columns annotation_id and annotator",
        label_studio_table.is_label_studio_table,
        label_studio_table.read_label_studio_table,
    ),
    Format(
        "argilla",
        "Argilla, records as JSON",
        "records with fields, responses and suggestions",
        argilla.is_argilla,
        argilla.read_argilla,
    ),
    Format(
        "argilla-table",
        "Argilla, a data set as JSON lines or Parquet",
        "a column that ends in .responses.users",
        argilla.is_argilla_table,
        argilla.read_argilla_table,
    ),
    Format(
        "qualtrics",
        "Qualtrics, CSV with three header rows",
        'the cells of the third row begin with {"ImportId":',
        qualtrics.is_qualtrics,
        qualtrics.read_qualtrics,
    ),
    Format(
        "inception",
        "INCEpTION, the diagnosis table of the agreement page",
        "the header begins Type,Collection,Document,Layer,Feature,Position,Flags",
        inception.is_inception,
        inception.read_inception,
    ),
    Format(
        "mturk",
        "Amazon Mechanical Turk or Turkle, the results of a batch",
        "columns HITId and WorkerId",
        mturk.is_mturk,
        mturk.read_mturk,
    ),
    Format(
        "toloka",
        "Toloka, the file of assignments",
        "columns that begin with ASSIGNMENT:",
        toloka.is_toloka,
        toloka.read_toloka,
    ),
    Format(
        "appen",
        "Appen (Figure Eight, CrowdFlower), the full report",
        "columns _unit_id and _worker_id",
        appen.is_appen,
        appen.read_appen,
    ),
    Format(
        "long",
        "one row for each label (CSV, TSV, JSON lines, JSON, Parquet, Excel, SPSS)",
        "columns for item, coder and label, by name or by a known name",
        is_long,
        read_long,
    ),
    Format(
        "grouped",
        "patterns of labels with counts (R package rater)",
        "the last column is n and holds whole numbers",
        grouped.is_grouped,
        grouped.read_grouped,
    ),
    Format(
        "matrix",
        "rows are items, columns are coders, no header (K-Alpha, ReCal, MACE)",
        "the first row holds labels",
        is_matrix,
        read_matrix,
    ),
    Format(
        "wide",
        "one row for each item, one column for each coder",
        "the first column names every item once",
        is_wide,
        read_wide,
    ),
)

PLAIN = ("long", "wide", "matrix", "grouped")  # tables that may be read so although they look odd

# Exports that hold no judgements of single coders: looked for first, and explained.
REFUSED: Mapping[str, tuple[Looks, Callable[[Source, Options], Columns]]] = {
    "doccano export without coders": (doccano.is_doccano_alone, doccano.refuse_doccano),
    "SageMaker output manifest": (sagemaker.is_manifest, sagemaker.refuse_manifest),
    "Toloka aggregated result": (toloka.is_toloka_aggregated, toloka.refuse_toloka),
    "Appen aggregated report": (appen.is_appen_aggregated, appen.refuse_appen),
}


def chosen(name: str, source: Source, options: Options) -> Format:
    """Format by name, or the first that matches; the long table when none does.

    Raises
    ------
    AnnotationError
        When the name is none of the formats, the source is known to hold no judgements, or is a
        folder or archive in no known format.
    """
    if name != "auto":
        found = {form.name: form for form in FORMATS}.get(name)
        if found is None:
            names = ["auto", *(form.name for form in FORMATS)]
            near = difflib.get_close_matches(str(name), names, n=1)
            remedy = f"Did you mean {near[0]!r}? " if near else ""
            remedy += f"Use one of {', '.join(names)}."
            raise AnnotationError(Problem(f"There is no format {name!r}.", remedy=remedy))
        if found.name not in PLAIN and not found.matches(source, options):
            _refuse(source, options)
            what = f"This is not in the format {name!r}, which is known by: {found.signature}."
            remedy = "Leave format to 'auto' (leave out --input-format), or export it again."
            raise AnnotationError(Problem(what, source.name, remedy))
        return found
    match = next((form for form in FORMATS if _looks(form.matches, source, options)), None)
    if match is not None and match.name not in PLAIN:
        return match
    _refuse(source, options)
    if match is None and source.inside is not None:
        raise AnnotationError(_unknown_folder(source))
    # A file that is no format is told what the columns of a long table would have to be.
    return match or next(form for form in FORMATS if form.name == "long")


def _refuse(source: Source, options: Options) -> None:
    """Raise if the source is known to hold no judgements of single coders."""
    for looks, refuse in REFUSED.values():
        if looks(source, options):
            raise AnnotationError(refuse(source, options).problems)


def _looks(looks: Looks, source: Source, options: Options) -> bool:
    """Whether a source looks like a format; the views of plain tables are not asked of folders."""
    if source.inside is not None and looks in (is_long, is_wide, is_matrix, grouped.is_grouped):
        return False
    return looks(source, options)


def _unknown_folder(source: Source) -> Problem:
    assert source.inside is not None
    names = source.inside.names
    problem = unreadable(Path(source.path)) if source.is_folder else None
    if problem is not None:
        return problem
    what = f"The archive is in no known format; it holds {some(names)}."
    remedy = "Give one of its files, or say what it is with format=... (--input-format)."
    return Problem(what, source.name, remedy)
