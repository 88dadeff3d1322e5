"""Shapes that are read, or said for what they are: spreadsheets, nested lists, flat folders."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import annomodels as am
from annomodels.errors import AnnotationError

NAMES = " ".join(
    f'xmlns:{word}="urn:oasis:names:tc:opendocument:xmlns:{word}:1.0"'
    for word in ("office", "table", "text")
)


def ods(*sheets: tuple[str, str]) -> bytes:
    """Spreadsheet as LibreOffice writes it, with rows as XML."""
    tables = "".join(f'<table:table table:name="{n}">{rows}</table:table>' for n, rows in sheets)
    body = f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "content.xml", f"<office:document-content {NAMES}>{body}</office:document-content>"
        )
        archive.writestr("styles.xml", f"<office:document-styles {NAMES}/>")
    return out.getvalue()


def row(*cells: str | float, more: str = "") -> str:
    xml = "".join(
        f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>"
        if isinstance(cell, str)
        else f'<table:table-cell office:value-type="float" office:value="{cell}"/>'
        for cell in cells
    )
    blank = '<table:table-cell table:number-columns-repeated="1000"/>'
    return f"<table:table-row {more}>{xml}{blank}</table:table-row>"


def test_a_spreadsheet_of_libreoffice(tmp_path: Path) -> None:
    rows = [row("item", "coder", "label"), row("t1", "ana", 3.0), row("t1", "ben", 2.5)]
    blank = row(more='table:number-rows-repeated="1000000"')
    path = tmp_path / "votes.ods"
    path.write_bytes(ods(("Votes", "".join([*rows, blank]))))
    data = am.read(path)
    assert (data.n_items, data.coders, data.labels) == (1, ("ana", "ben"), ("2.5", "3"))
    path.write_bytes(ods(("Votes", "".join(rows)), ("Notes", row("x"))))
    with pytest.raises(AnnotationError, match="2 sheets") as caught:
        am.read(path)
    assert "sheet='Votes') reads 1 item × 2 coders" in str(caught.value)
    path.write_bytes(ods(("Votes", "<table:table-row>")))
    with pytest.raises(AnnotationError, match="well-formed"):
        am.read(path)


RESPONSES = [
    [{"worker_id": f"w{k}", "response": "ab"[n * k % 2]} for k in range(3)] for n in range(9)
]


@pytest.mark.parametrize(
    "shape",
    [
        RESPONSES,
        {f"t{n}": each for n, each in enumerate(RESPONSES)},
        [{"id": n, "responses": each} for n, each in enumerate(RESPONSES)],
        {"data": [{"id": n, "answers": each} for n, each in enumerate(RESPONSES)], "version": 1},
    ],
    ids=["lists", "by name", "records", "below a word"],
)
def test_nested_lists_of_responses(tmp_path: Path, shape: Any) -> None:
    path = tmp_path / "responses.json"
    path.write_text(json.dumps(shape), "utf-8")
    data = am.read(path)
    assert (data.n_items, data.coders, len(data)) == (9, ("w0", "w1", "w2"), 27)


def test_lists_of_labels_without_coders_are_read_by_place_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    rows = [{"idx": n, "annotator_labels": ["e", "n", "en"[n % 2]]} for n in range(9)]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    with pytest.raises(AnnotationError) as caught:
        am.read(path)
    assert "label='annotator_labels') reads 9 items × 3 coders" in str(caught.value)
    data = am.read(path, label="annotator_labels")
    assert (data.n_items, data.coders, len(data)) == (9, ("1", "2", "3"), 27)
    assert any("name no coders" in note for note in data.notes)
    rows[0]["annotator_labels"] = ["e"]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    with pytest.raises(AnnotationError):
        am.read(path, label="annotator_labels")


WEBANNO = (
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.NE|value\n\n\n#Text=Haag plays.\n"
    "1-1\t0-4\tHaag\t{}\n1-2\t5-10\tplays\t_\n1-3\t10-11\t.\t_\n"
)


def test_a_flat_folder_of_webanno_files(tmp_path: Path) -> None:
    for name, label in (("user1", "PER"), ("user2", "LOC"), ("curator", "PER")):
        (tmp_path / f"{name}.tsv").write_text(WEBANNO.format(label), "utf-8")
    data = am.read(tmp_path, units="exact")
    assert (data.n_items, data.coders, data.labels) == (1, ("user1", "user2"), ("LOC", "PER"))
    assert data.gold is not None
    assert data.labels[data.gold[0]] == "PER"


@pytest.mark.parametrize("pattern", ["{document}_{coder}", "{coder}-{document}"])
def test_a_flat_folder_of_brat_files(tmp_path: Path, pattern: str) -> None:
    for document, text in (("news", "Ana said he left."), ("blog", "Ben said he stayed.")):
        for coder in ("kim", "lee"):
            stem = pattern.format(document=document, coder=coder)
            (tmp_path / f"{stem}.txt").write_text(text, "utf-8")
            marks = f"T1\tM 0 3\t{text[:3]}\nT2\tM 9 11\the\nR1\tCoref Arg1:T1 Arg2:T2\n"
            (tmp_path / f"{stem}.ann").write_text(marks, "utf-8")
    assert am.read(tmp_path, units="exact").coders == ("kim", "lee")
    documents = am.coref.read(tmp_path)
    assert [(d.id, len(d.coders)) for d in documents] == [("blog", 2), ("news", 2)]


def test_a_folder_of_conll_files_one_for_each_coder(tmp_path: Path) -> None:
    for coder, tag in (("ana", "B-PER"), ("ben", "O")):
        (tmp_path / f"{coder}.conll").write_text(f"Haag {tag}\nplays O\n. B-X\n\n", "utf-8")
    data = am.read(tmp_path, units="exact")
    assert (data.n_items, data.coders) == (2, ("ana", "ben"))
    for coder, tag in (("ana", "B-PER"), ("ben", "O")):
        text = f"word\tner\tlink\nHaag\t{tag}\tO\n.\tB-X\tO\n\n" + "and\tO\tO\n" * 9
        (tmp_path / f"{coder}.conll").write_text(text, "utf-8")
    data = am.read(tmp_path, units="token", question="ner")
    assert (data.n_items, data.labels) == (11, ("(none)", "PER", "X"))


HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n'
TASK = "<version>1.1</version><meta>" + "<label>car</label>" * 200 + "</meta>"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("cvat.xml", f'{HEAD}{TASK}<track id="0"><box frame="0"/></track></annotations>', "CVAT"),
        ("tags.xml", f'{HEAD}<image><tag label="dog"/></image></annotations>', "CVAT"),
        ("other.xml", "<?xml version='1.0'?><votes><vote/></votes>", "XML in a form"),
        (
            "via.csv",
            "filename,file_size,region_count,region_shape_attributes\n"
            'a.jpg,1,1,"{""name"":""rect""}"\nb.jpg,1,1,"{""name"":""rect""}"\n',
            "VGG Image Annotator",
        ),
        (
            "lighttag.json",
            json.dumps(
                {
                    "examples": [
                        {
                            "content": "Haag",
                            "annotations": [{"start": 0, "annotated_by": [{"annotator": "a"}]}],
                        }
                    ]
                }
            ),
            "LightTag",
        ),
        ("eppi.json", '{"CodeSets": [{"SetId": 1}], "References": [{"Codes": []}]}', "EPPI-Rev"),
        ("agree.md", "# Report\n\n* 4 coders\n\n## Means\n\n| a | b |\n|---|---|\n", "Markdown"),
        (
            "votes.txt",
            "# d1\n1 So.\n2 No.\n" + "1-2 yes:7  no:3\n2-3 no:9 yes:1\n" * 3 + "\n",
            "This text counts labels",
        ),
        (
            "nli.json",
            json.dumps(
                {
                    str(n): {"label_counter": {"n": n, "c": 9 - n}, "premise": "So."}
                    for n in range(6)
                }
            ),
            "objects in 'label_counter' count",
        ),
    ],
)
def test_what_is_not_read_is_said_for_what_it_is(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(AnnotationError, match=said) as caught:
        am.read(path)
    assert caught.value.proposal is None
    assert all(problem.remedy for problem in caught.value.problems)
