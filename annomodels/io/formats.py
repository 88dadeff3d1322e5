"""The formats that are understood, tried in this order; readers load only when asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from annomodels.io.source import Options, Source
from annomodels.io.tools.rows import ROWS, Rows, read_rows

if TYPE_CHECKING:
    from annomodels.io.span_builder import Spans
    from annomodels.io.tables.columns import Columns

Hint = Callable[[Source], bool]
_LOOKED_AT = 200  # rows


@dataclass(frozen=True)
class Format:
    """A way to write annotations down; ``a-b`` is read by ``read_a_b``, known by ``is_a_b``."""

    name: str
    title: str
    signature: str
    home: str
    hint: Hint
    read: bool = True
    spans: bool = False
    rows: Rows | None = None  # where a row is a judgement

    def fits(self, source: Source, options: Options) -> bool:
        """Whether a source looks like it."""
        if not self.hint(source):
            return False
        looks: Any = self.rows.fits if self.rows else self._function("is")
        return looks is None or bool(looks(source, options))

    def columns(self, source: Source, options: Options) -> Columns:
        """Columns of a source."""
        if self.rows is not None:
            return read_rows(self.rows, source, options)
        columns: Columns = self._function("read")(source, options)
        return columns

    def marks(self, source: Source, options: Options) -> Spans:
        """Spans of a source."""
        spans: Spans = self._function("spans_of")(source, options)
        return spans

    def _function(self, verb: str) -> Any:
        home = import_module(f"annomodels.io.{self.home}")
        return getattr(home, f"{verb}_{self.name.replace('-', '_')}", None)


def _files(*endings: str) -> Hint:
    """Whether any file of a folder or archive has one of these endings."""
    low = tuple(ending.lower() for ending in endings)
    return lambda source: source.inside is not None and bool(source.inside.ending(*low))


def _columns(*names: str, begin: str = "", end: str = "", but: str = "") -> Hint:
    """Whether there are columns of these names, one that begins or ends so, and not another."""

    def fits(source: Source) -> bool:
        header = source.header
        some = any(n.startswith(begin) and n.endswith(end) for n in header)
        return some and {*names} <= {*header} and but not in header

    return fits


def _fields(*keys: str) -> Hint:
    """Whether a record of JSON has these keys."""
    return lambda source: any({*keys} <= record.keys() for record in source.sample)


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


def _all(*hints: Hint) -> Hint:
    return lambda source: all(hint(source) for hint in hints)


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


_DIAGNOSIS = ("Type", "Collection", "Document", "Layer", "Feature", "Position", "Flags")

# Name, place of the reader below ``io/`` and what it gives; a title; what it is known by.
_READ = """
webanno | tools.webanno | spans
    WebAnno TSV 3, one file or a project export
    the first line is #FORMAT=WebAnno TSV 3.x
cas | tools.cas | spans
    UIMA CAS as XMI or JSON, one file or a project export (INCEpTION)
    XML with the root xmi:XMI, or a folder with TypeSystem.xml
brat | tools.brat | spans
    brat standoff, one folder for each coder
    files *.ann
conll | tools.conll | spans
    CoNLL, a word and its tag (BIO) on each line, one folder or file for each coder
    files whose lines end in tags such as B-PER, I-PER and O
potato | tools.potato | labels, spans
    Potato, the folder annotation_output or exported rows
    files */user_state.json, or columns instance_id and user_id
sagemaker | tools.sagemaker | labels
    SageMaker Ground Truth, the answers of the coders (a folder, a request or a manifest)
    a folder worker-response, or records with datasetObjectId and annotations
prodigy | tools.prodigy | labels, spans
    Prodigy, JSON lines of db-out, one file or a folder with one for each coder
    records with _task_hash and answer
doccano | tools.doccano | labels, spans
    doccano, an archive or folder with one file for each coder
    files with rows of id, text (or filename) and label
label-studio | tools.label_studio | labels, spans
    Label Studio, JSON
    records with data and annotations (or completions)
argilla | tools.argilla | labels
    Argilla, records as JSON
    records with fields, responses and suggestions
argilla-table | tools.argilla | labels
    Argilla, a data set as JSON lines or Parquet
    a column that ends in .responses.users
inspect-ai | logs.inspect_ai | labels
    Inspect AI, an evaluation log (.eval or JSON), or a folder of them
    header.json and samples, or records with eval and samples
promptfoo | logs.promptfoo | labels
    promptfoo, the results of an evaluation (JSON or JSON lines)
    results with gradingResult
deepeval | logs.deepeval | labels
    DeepEval, a test run (JSON), or a folder of them
    test cases with metricsData
lm-eval | logs.lm_eval | labels
    lm-evaluation-harness, logged samples (samples_*.jsonl), one file or a folder
    records with doc_id and filtered_resps
langfuse | logs.langfuse | labels
    Langfuse, exported scores (CSV, JSON or JSON lines)
    name, value and source of scores, and the trace that they are of
qualtrics | tools.qualtrics | labels
    Qualtrics, CSV with three header rows
    the cells of the third row begin with {"ImportId":
inception | tools.inception | labels
    INCEpTION, the diagnosis table of the agreement page
    the header begins Type,Collection,Document,Layer,Feature,Position,Flags
mturk | tools.mturk | labels
    Amazon Mechanical Turk or Turkle, the results of a batch
    columns HITId and WorkerId
appen-json | tools.appen | labels
    Appen (Figure Eight, CrowdFlower), the full report as JSON
    records with results.judgments, each with worker_id and data
nested | tables.nested | labels, spans
    the labels of all coders in one cell, as lists or objects (Hugging Face, Le-Wi-Di)
    lists of coders and labels, a list of objects with both, or an object by coder
long | tables.long | labels
    one row for each label (CSV, TSV, JSON lines, JSON, Parquet, Excel, ODS, SPSS)
    columns for item, coder and label, by name or by a known name
grouped | tables.matrix | labels
    patterns of labels with counts (R package rater)
    the last column is n and holds whole numbers
matrix | tables.matrix | labels
    rows are items, columns are coders, no header (K-Alpha, ReCal, MACE)
    the first row holds labels
wide | tables.wide | labels
    one row for each item, one column for each coder
    the first column names every item once
"""

# Exports that hold no judgements of single coders: looked for last, and explained.
_REFUSED = """
doccano-alone | tools.doccano | labels
    doccano export without coders
    records with id, text and a list of labels
sagemaker-manifest | tools.sagemaker | labels
    SageMaker output manifest
    records with X and X-metadata
toloka-aggregated | tools.appen | labels
    Toloka aggregated result
    columns that begin with CONFIDENCE:
appen-aggregated | tools.appen | labels
    Appen aggregated report
    the column _unit_id and no _worker_id
project-alone | tools.projects | labels
    INCEpTION or WebAnno project without annotations that can be read
    a folder annotation_ser, or exportedproject*.json
counts | tables.counts | labels
    Numbers of labels by class
    columns of whole numbers that add up to another one
marked-text | tables.marked | labels
    texts with marks inside
    most cells hold tags
images | tools.images | labels
    Regions of images (COCO, VIA, LabelMe, CVAT, Pascal VOC)
    bbox, shapes, regions or bndbox
lighttag | tools.images | labels
    LightTag, JSON
    examples with annotations and annotated_by
"""

# Whether a source may be in the format, told from names alone.
_HINTS: dict[str, Hint] = {
    "webanno": _any(_files(".tsv", ".zip"), _begins("#FORMAT=WebAnno")),
    "cas": _any(_files(".xmi", ".zip", "TypeSystem.xml"), _begins("<"), _keys("%FEATURE_")),
    "brat": _files(".ann"),
    "conll": _files(".conll", ".bio", ".iob", ".iob2", ".txt", ".tsv"),
    "potato": _any(_files("user_state.json"), _names("instance_id")),
    "sagemaker": _any(_files(".json"), _names("datasetObjectId", ".annotationsFromAllWorkers")),
    "prodigy": _any(_files(".jsonl"), _keys("_task_hash")),
    "doccano": _files(".jsonl", ".json", ".csv", ".txt"),
    "label-studio": _keys("annotations", "completions"),
    "argilla": _fields("fields", "responses", "suggestions"),
    "argilla-table": _names(".responses.users", "user_id"),
    "inspect-ai": _any(_files("header.json", ".eval", ".json"), _keys("samples")),
    "promptfoo": _keys("results", "gradingResult"),
    "deepeval": _any(
        _files(".json"), _keys("testCases", "test_cases", "test_results", "TestCases")
    ),
    "lm-eval": _any(_files(".jsonl", ".jsonl.gz"), _keys("filtered_resps")),
    "langfuse": _names("traceId", "trace_id", "Trace ID", "data"),
    "qualtrics": _third_row('{"ImportId":'),
    "inception": lambda source: source.header[:7] == _DIAGNOSIS,
    "mturk": _columns("HITId", "WorkerId"),
    "appen-json": _keys("results"),
    "nested": _lists,
    "long": _is_table,
    "grouped": _is_table,
    "matrix": _is_table,
    "wide": _is_table,
    "doccano-alone": _keys("label", "entities"),
    "sagemaker-manifest": _keys("-metadata"),
    "toloka-aggregated": _all(
        _columns(begin="OUTPUT:"), _columns(begin="CONFIDENCE:", but="ASSIGNMENT:worker_id")
    ),
    "appen-aggregated": _columns("_unit_id", end=":confidence", but="_worker_id"),
    "project-alone": _files(".ser", ".txt"),
    "counts": _is_table,
    "marked-text": _tags,
    "images": _any(
        _files(".xml"),
        _begins("<"),
        _keys("images", "shapes", "regions", "_via", "spans"),
        _columns("region_shape_attributes"),
    ),
    "lighttag": _keys("examples"),
}


def _parsed(text: str) -> tuple[Format, ...]:
    """Make formats of a table with three lines each."""
    lines = text.strip().split("\n")
    found = []
    for first, title, known_by in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        name, home, holds = map(str.strip, first.split("|"))
        labels, spans = "labels" in holds, "spans" in holds
        more = (home, _HINTS[name], labels, spans)
        found.append(Format(name, title.strip(), known_by.strip(), *more))
    return tuple(found)


def _of_rows(name: str, form: Rows) -> Format:
    return Format(name, form.title, form.known_by, "", lambda _: True, rows=form)


_FILES = _parsed(_READ)
_PLACE = next(n for n, form in enumerate(_FILES) if form.name == "appen-json")
_OF_ROWS = tuple(_of_rows(*each) for each in ROWS.items())
FORMATS = (*_FILES[:_PLACE], *_OF_ROWS, *_FILES[_PLACE:])
REFUSED = _parsed(_REFUSED)
PLAIN = ("long", "wide", "matrix", "grouped")  # tables that may be read so although they look odd
