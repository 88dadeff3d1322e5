"""The formats that are understood, tried in this order; readers load only when asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from annomodels.io.source import Options, Source

if TYPE_CHECKING:
    from annomodels.io.span_builder import Spans
    from annomodels.io.tables.columns import Columns

Hint = Callable[[Source], bool]
_LOOKED_AT = 200  # rows


@dataclass(frozen=True)
class Format:
    """A way to write annotations down; ``a-b`` is read by functions ``is_a_b``, ``read_a_b`` ..."""

    name: str
    title: str
    signature: str
    home: str
    hint: Hint
    read: bool = True
    spans: bool = False

    def fits(self, source: Source, options: Options) -> bool:
        """Whether a source looks like it."""
        return self.hint(source) and bool(self._call("is", source, options))

    def columns(self, source: Source, options: Options) -> Columns:
        """Columns of a source."""
        columns: Columns = self._call("read", source, options)
        return columns

    def marks(self, source: Source, options: Options) -> Spans:
        """Spans of a source."""
        spans: Spans = self._call("spans_of", source, options)
        return spans

    def _call(self, verb: str, source: Source, options: Options) -> Any:
        home = import_module(f"annomodels.io.{self.home}")
        return getattr(home, f"{verb}_{self.name.replace('-', '_')}")(source, options)


def _files(*endings: str) -> Hint:
    """Whether any file of a folder or archive has one of these endings."""
    low = tuple(ending.lower() for ending in endings)
    return lambda source: source.inside is not None and bool(source.inside.ending(*low))


def _names(*parts: str) -> Hint:
    """Whether a column, or a key of a record, has one of these in its name."""
    return lambda source: any(part in name for name in source.names for part in parts)


def _keys(*parts: str) -> Hint:
    """Whether a key of a record of JSON has one of these in its name."""
    return lambda source: source.is_json and any(p in name for name in source.names for p in parts)


def _begins(start: str) -> Hint:
    """Whether the text begins so."""
    return lambda source: source.is_text and source.text.lstrip().startswith(start)


def _third_row(start: str) -> Hint:
    """Whether the first cell of the third row begins so."""
    return lambda source: any(row[:1] and row[0].startswith(start) for row in source.records[2:3])


def _any(*hints: Hint) -> Hint:
    return lambda source: any(hint(source) for hint in hints)


def _is_table(source: Source) -> bool:
    return source.inside is None


def _lists(source: Source) -> bool:
    """Whether cells may be lists or objects, or a column may name several coders."""
    if source.inside is not None or source.kind == "xml":
        return False
    return source.is_json or any(
        name.strip().casefold().endswith("s")
        or any(not isinstance(cell, str) or cell[:1] in ("[", "{") for cell in cells[:_LOOKED_AT])
        for name, cells in source.table.columns.items()
    )


def _tags(source: Source) -> bool:
    """Whether any of the first cells may hold a tag."""
    if source.inside is not None or source.kind == "xml":
        return False
    cells = (cell for column in source.table.columns.values() for cell in column[:_LOOKED_AT])
    return any(isinstance(cell, str) and "<" in cell for cell in cells)


FORMATS: tuple[Format, ...] = (
    Format(
        "webanno",
        "WebAnno TSV 3, one file or a project export",
        "the first line is #FORMAT=WebAnno TSV 3.x",
        "tools.webanno",
        _any(_files(".tsv", ".zip"), _begins("#FORMAT=WebAnno")),
        spans=True,
        read=False,
    ),
    Format(
        "cas",
        "UIMA CAS as XMI or JSON, one file or a project export (INCEpTION)",
        "XML with the root xmi:XMI, or a folder with TypeSystem.xml",
        "tools.cas",
        _any(_files(".xmi", ".zip", "TypeSystem.xml"), _begins("<"), _keys("%FEATURE_")),
        spans=True,
        read=False,
    ),
    Format(
        "brat",
        "brat standoff, one folder for each coder",
        "files *.ann",
        "tools.brat",
        _files(".ann"),
        spans=True,
        read=False,
    ),
    Format(
        "conll",
        "CoNLL, a word and its tag (BIO) on each line, one folder or file for each coder",
        "files whose lines end in tags such as B-PER, I-PER and O",
        "tools.conll",
        _files(".conll", ".bio", ".iob", ".iob2", ".txt", ".tsv"),
        spans=True,
        read=False,
    ),
    Format(
        "potato",
        "Potato, the folder annotation_output or exported rows",
        "files */user_state.json, or columns instance_id and user_id",
        "tools.potato",
        _any(_files("user_state.json"), _names("instance_id")),
        spans=True,
    ),
    Format(
        "sagemaker",
        "SageMaker Ground Truth, the answers of the coders (a folder, a request or a manifest)",
        "a folder worker-response, or records with datasetObjectId and annotations",
        "tools.sagemaker",
        _any(_files(".json"), _names("datasetObjectId", ".annotationsFromAllWorkers")),
    ),
    Format(
        "prodigy",
        "Prodigy, JSON lines of db-out, one file or a folder with one for each coder",
        "records with _task_hash and answer",
        "tools.prodigy",
        _any(_files(".jsonl"), _keys("_task_hash")),
        spans=True,
    ),
    Format(
        "doccano",
        "doccano, an archive or folder with one file for each coder",
        "files with rows of id, text (or filename) and label",
        "tools.doccano",
        _files(".jsonl", ".json", ".csv", ".txt"),
        spans=True,
    ),
    Format(
        "label-studio",
        "Label Studio, JSON",
        "records with data and annotations (or completions)",
        "tools.label_studio",
        _keys("annotations", "completions"),
        spans=True,
    ),
    Format(
        "label-studio-table",
        "Label Studio, JSON-MIN or CSV",
        "columns annotation_id and annotator",
        "tools.label_studio",
        _names("annotation_id"),
    ),
    Format(
        "argilla",
        "Argilla, records as JSON",
        "records with fields, responses and suggestions",
        "tools.argilla",
        _keys("responses"),
    ),
    Format(
        "argilla-table",
        "Argilla, a data set as JSON lines or Parquet",
        "a column that ends in .responses.users",
        "tools.argilla",
        _names(".responses.users", "user_id"),
    ),
    Format(
        "inspect-ai",
        "Inspect AI, an evaluation log (.eval or JSON), or a folder of them",
        "header.json and samples, or records with eval and samples",
        "logs.inspect_ai",
        _any(_files("header.json", ".eval", ".json"), _keys("samples")),
    ),
    Format(
        "promptfoo",
        "promptfoo, the results of an evaluation (JSON or JSON lines)",
        "results with gradingResult",
        "logs.promptfoo",
        _keys("results", "gradingResult"),
    ),
    Format(
        "deepeval",
        "DeepEval, a test run (JSON), or a folder of them",
        "test cases with metricsData",
        "logs.deepeval",
        _any(_files(".json"), _keys("testCases", "test_cases", "test_results", "TestCases")),
    ),
    Format(
        "lm-eval",
        "lm-evaluation-harness, logged samples (samples_*.jsonl), one file or a folder",
        "records with doc_id and filtered_resps",
        "logs.lm_eval",
        _any(_files(".jsonl", ".jsonl.gz"), _keys("filtered_resps")),
    ),
    Format(
        "langfuse",
        "Langfuse, exported scores (CSV, JSON or JSON lines)",
        "name, value and source of scores, and the trace that they are of",
        "logs.langfuse",
        _names("traceId", "trace_id", "Trace ID", "data"),
    ),
    Format(
        "qualtrics",
        "Qualtrics, CSV with three header rows",
        'the cells of the third row begin with {"ImportId":',
        "tools.qualtrics",
        _third_row('{"ImportId":'),
    ),
    Format(
        "inception",
        "INCEpTION, the diagnosis table of the agreement page",
        "the header begins Type,Collection,Document,Layer,Feature,Position,Flags",
        "tools.inception",
        _names("Collection"),
    ),
    Format(
        "mturk",
        "Amazon Mechanical Turk or Turkle, the results of a batch",
        "columns HITId and WorkerId",
        "tools.mturk",
        _names("HITId"),
    ),
    Format(
        "toloka",
        "Toloka, the file of assignments",
        "columns that begin with ASSIGNMENT:",
        "tools.toloka",
        _names("ASSIGNMENT:"),
    ),
    Format(
        "appen",
        "Appen (Figure Eight, CrowdFlower), the full report",
        "columns _unit_id and _worker_id",
        "tools.appen",
        _names("_unit_id"),
    ),
    Format(
        "appen-json",
        "Appen (Figure Eight, CrowdFlower), the full report as JSON",
        "records with results.judgments, each with worker_id and data",
        "tools.appen",
        _keys("results"),
    ),
    Format(
        "nested",
        "the labels of all coders in one cell, as lists or objects (Hugging Face, Le-Wi-Di)",
        "lists of coders and labels, a list of objects with both, or an object by coder",
        "tables.nested",
        _lists,
        spans=True,
    ),
    Format(
        "long",
        "one row for each label (CSV, TSV, JSON lines, JSON, Parquet, Excel, SPSS)",
        "columns for item, coder and label, by name or by a known name",
        "tables.long",
        _is_table,
    ),
    Format(
        "grouped",
        "patterns of labels with counts (R package rater)",
        "the last column is n and holds whole numbers",
        "tables.matrix",
        _is_table,
    ),
    Format(
        "matrix",
        "rows are items, columns are coders, no header (K-Alpha, ReCal, MACE)",
        "the first row holds labels",
        "tables.matrix",
        _is_table,
    ),
    Format(
        "wide",
        "one row for each item, one column for each coder",
        "the first column names every item once",
        "tables.wide",
        _is_table,
    ),
)

PLAIN = ("long", "wide", "matrix", "grouped")  # tables that may be read so although they look odd

# Exports that hold no judgements of single coders: looked for last, and explained.
REFUSED: tuple[Format, ...] = (
    Format(
        "doccano-alone",
        "doccano export without coders",
        "records with id, text and a list of labels",
        "tools.doccano",
        _keys("label", "entities"),
    ),
    Format(
        "sagemaker-manifest",
        "SageMaker output manifest",
        "records with X and X-metadata",
        "tools.sagemaker",
        _keys("-metadata"),
    ),
    Format(
        "toloka-aggregated",
        "Toloka aggregated result",
        "columns that begin with CONFIDENCE:",
        "tools.toloka",
        _names("CONFIDENCE:"),
    ),
    Format(
        "appen-aggregated",
        "Appen aggregated report",
        "the column _unit_id and no _worker_id",
        "tools.appen",
        _names("_unit_id"),
    ),
    Format(
        "project-alone",
        "INCEpTION or WebAnno project without annotations that can be read",
        "a folder annotation_ser, or exportedproject*.json",
        "tools.projects",
        _files(".ser", ".txt"),
    ),
    Format(
        "marked-text",
        "texts with marks inside",
        "most cells hold tags",
        "tables.marked",
        _tags,
    ),
    Format(
        "images",
        "Regions of images (COCO, VIA, LabelMe, CVAT, Pascal VOC)",
        "bbox, shapes, regions or bndbox",
        "tools.images",
        _any(_files(".xml"), _begins("<"), _keys("images", "shapes", "regions", "_via", "spans")),
    ),
)
