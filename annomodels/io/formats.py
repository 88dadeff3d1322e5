"""The formats that are understood, tried in this order; readers load only when asked."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tools.rows import ROWS, Rows, read_rows

if TYPE_CHECKING:
    from annomodels.io.span_builder import Spans


@dataclass(frozen=True)
class Format:
    """A way to write annotations down; ``a-b`` is read by ``read_a_b``, known by ``is_a_b``."""

    name: str
    title: str
    signature: str
    home: str = ""
    read: bool = True
    spans: bool = False
    rows: Rows | None = None  # where a row is a judgement
    shapes: tuple[str, ...] = ()  # of which it may be; a reader of others is not even loaded

    def fits(self, source: Source, options: Options) -> bool:
        if self.shapes and source.shape not in self.shapes:
            return False
        looks = self.rows.fits if self.rows else self._function("is")
        return bool(looks(source, options))

    def records(self, source: Source, options: Options) -> Records:
        return self._filled(source, options).closed()

    def marks(self, source: Source, options: Options) -> Spans:
        if not self.spans:
            what = f"The format {self.name!r} contains no marked stretches of text."
            remedy = f"Leave out {Option('units')} and alpha_u, which are for marked text."
            raise AnnotationError(Problem(what, source.name, remedy, code="no-spans"))
        return self._filled(source, options).spans()

    def _filled(self, source: Source, options: Options) -> Records:
        found = Records(source, options)
        if self.rows is not None:
            read_rows(self.rows, found)
        else:
            self._function("read")(found)
        return found

    def _function(self, verb: str) -> Any:
        home = import_module(f"annomodels.io.{self.home}")
        return getattr(home, f"{verb}_{self.name.replace('-', '_')}")


# Name, place of the reader below ``io/``, what it gives and the shapes of sources that it may be;
# a title; what it is known by.
_READ = """
webanno | tools.projects | spans | folder table
    WebAnno TSV 3, one file or a project export
    the first line is #FORMAT=WebAnno TSV 3.x
cas | tools.projects | spans | folder json xml
    UIMA CAS as XMI or JSON, one file or a project export (INCEpTION)
    XML with the root xmi:XMI, or a folder with TypeSystem.xml
brat | tools.brat | spans | folder
    brat standoff, one folder for each coder
    files *.ann
conll | tools.conll | spans | folder
    CoNLL, a word and its tag (BIO) on each line, one folder or file for each coder
    files whose lines end in tags such as B-PER, I-PER and O
potato | tools.potato | labels, spans | folder json table
    Potato, the folder annotation_output or exported rows
    files */user_state.json, or columns instance_id and user_id
prodigy | tools.prodigy | labels, spans | folder json
    Prodigy, JSON lines of db-out, one file or a folder with one for each coder
    records with _task_hash and answer
doccano | tools.doccano | labels, spans | folder
    doccano, an archive or folder with one file for each coder
    files with rows of id, text (or filename) and label
label-studio | tools.label_studio | labels, spans | json
    Label Studio, JSON
    records with data and annotations (or completions)
argilla | tools.argilla | labels | json
    Argilla, records as JSON
    records with fields, responses and suggestions
argilla-table | tools.argilla | labels | json table
    Argilla, a data set as JSON lines or Parquet
    a column that ends in .responses.users
inspect-ai | tools.logs | labels | folder json
    Inspect AI, an evaluation log (.eval or JSON), or a folder of them
    header.json and samples, or records with eval and samples
promptfoo | tools.logs | labels | json
    promptfoo, the results of an evaluation (JSON or JSON lines)
    results with gradingResult
deepeval | tools.logs | labels | folder json
    DeepEval, a test run (JSON), or a folder of them
    test cases with metricsData
lm-eval | tools.logs | labels | folder json
    lm-evaluation-harness, logged samples (samples_*.jsonl), one file or a folder
    records with doc_id and filtered_resps
langfuse | tools.logs | labels | json table
    Langfuse, exported scores (CSV, JSON or JSON lines)
    name, value and source of scores, and the trace they belong to
mturk | tools.mturk | labels | json table
    Amazon Mechanical Turk or Turkle, the results of a batch
    columns HITId and WorkerId
nested | tables.nested | labels, spans | json table
    the labels of all coders in one cell, as lists or objects (Hugging Face, Le-Wi-Di)
    lists of coders and labels, a list of objects with both, or an object by coder
long | tables.plain | labels | json table
    one row for each label (CSV, TSV, JSON lines, JSON, Parquet, Excel, ODS, SPSS, Stata)
    columns for item, coder and label, by name or by a known name
matrix | tables.matrix | labels | json table
    rows are items, columns are coders, no header (K-Alpha, ReCal, MACE)
    the first row holds labels
wide | tables.plain | labels | json table
    one row for each item, one column for each coder
    the first column names every item once
"""


def _parsed(text: str) -> tuple[Format, ...]:
    """Make formats of a table with three lines each."""
    lines = text.strip().split("\n")
    found: list[Format] = []
    for first, title, known_by in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        name, home, holds, *shapes = map(str.strip, first.split("|"))
        if name == "nested":  # after the other tools, before what looks at the cells
            found += (
                Format(*(n, form.title, form.known_by), rows=form) for n, form in ROWS.items()
            )
        labels, spans = "labels" in holds, "spans" in holds
        about = title.strip(), known_by.strip(), home, labels, spans
        found.append(Format(name, *about, shapes=tuple(shapes[0].split()) if shapes else ()))
    return tuple(found)


FORMATS = _parsed(_READ)
PLAIN = ("long", "wide", "matrix")  # tables that may be read so although they look odd
