"""A broken file gets a sentence that says what, in which line, and how to fix it."""

import os
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import annomodels as am
from annomodels.coref import read
from tests.coref.coref_files import CONLL, CORPUS_ENTITIES, conllu, write_brat, write_mmax

BEGIN, END = "#begin document (t); part 000\n", "\n#end document\n"
ENTITY = CORPUS_ENTITIES
FILE = Path(__file__).resolve().parents[1] / "cases" / "broken_coref_files.toml"
CASES = tomllib.loads(FILE.read_text("utf-8"))


def of_kind(kind: str) -> pytest.MarkDecorator:
    """Give a test the broken files of one format."""
    return pytest.mark.parametrize("case", CASES[kind].values(), ids=CASES[kind])


def problems(path: object, **options: object) -> list[tuple[str, str]]:
    with pytest.raises(am.errors.AnnotationError) as caught:
        read(path, **options)  # type: ignore[arg-type]
    assert all(problem.remedy for problem in caught.value.problems)
    return [(problem.what, problem.where) for problem in caught.value.problems]


@of_kind("conll")
def test_conll(tmp_path: Path, case: dict[str, Any]) -> None:
    (tmp_path / "t.conll").write_text(f"{BEGIN}{case['text']}\n{END}", "utf-8")
    assert problems(tmp_path / "t.conll") == [(case["what"], f"t.conll, line {case['line']}")]


@of_kind("whole")
def test_files_and_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any]
) -> None:
    """Files of any format with all that is said of them; CONLL is the text of coref_files.py."""
    monkeypatch.chdir(tmp_path)
    for name, text in case.get("files", {}).items():
        for old, new in [("CONLL", CONLL), *case.get("replace", {}).get(name, [])]:
            text = text.replace(old, new)
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, "utf-8")
    expected = [tuple(problem) for problem in case["problems"]]
    assert problems(case["path"], **case.get("options", {})) == expected


@of_kind("corpus")
def test_corefud(tmp_path: Path, case: dict[str, Any]) -> None:
    (tmp_path / "t.conllu").write_text(conllu({3: case["entity"]}), "utf-8")
    found = problems(tmp_path / "t.conllu", format="corefud")
    assert found == [(case["what"], f"t.conllu, line {case['line']}")]


def test_corefud_columns_header_and_unknown_parts(tmp_path: Path) -> None:
    text = conllu(ENTITY, {9: "SplitAnte=e1<e3,e77<e3"}).replace(
        "# global.Entity = eid", "# global.Entity = id"
    )
    (tmp_path / "t.conllu").write_text(text, "utf-8")
    (found,) = problems(tmp_path / "t.conllu")
    assert found == ("The header names the fields 'id-etype-head-other'.", "t.conllu, line 2")
    text = text.replace("= id", "= eid")
    (tmp_path / "t.conllu").write_text(text, "utf-8")
    (found,) = problems(tmp_path / "t.conllu")
    assert found[0] == "SplitAnte names e77, but there is no such entity."
    (tmp_path / "t.conllu").write_text(text.replace("\t_\t_\n", "\n", 1), "utf-8")
    assert "columns, not 10" in problems(tmp_path / "t.conllu")[0][0]


@of_kind("mmax")
def test_mmax(tmp_path: Path, case: dict[str, Any]) -> None:
    path = write_mmax(tmp_path / "p", **case.get("attributes", {}))
    level = tmp_path / "p" / "Markables" / "tiny_phrase_level.xml"
    level.write_text(level.read_text("utf-8").replace(case["old"], case["new"]), "utf-8")
    ((said, where),) = problems(path)
    assert said == case["what"]
    assert where.endswith(f"tiny_phrase_level.xml, line {case['line']}")


@pytest.mark.parametrize("broken", ["words", "not xml", "no levels", "attribute"])
def test_mmax_projects_that_are_not_whole(tmp_path: Path, broken: str) -> None:
    path = write_mmax(tmp_path / "p")
    folder = tmp_path / "p"
    if broken == "words":
        (folder / "Basedata" / "tiny_words.xml").unlink()
        assert "File 'tiny_words.xml' is not in" in problems(path)[0][0]
    elif broken == "not xml":
        (folder / "Basedata" / "tiny_words.xml").write_text(
            "<words>\n<word id='w'>a</wrd>\n", "utf-8"
        )
        ((what, where),) = problems(path)
        assert what == "This is not well-formed XML: mismatched tag."
        assert where.endswith("tiny_words.xml, line 2")
    elif broken == "no levels":
        for level in (folder / "Markables").iterdir():
            level.unlink()
        assert problems(path)[0][0] == "No markables were found for 'tiny'."
    else:
        assert problems(path, attributes={"sets": "x"})[0][0] == "Unknown attribute role 'sets'."


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE words [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>',
        '<!DOCTYPE words [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE words [<!ENTITY % a SYSTEM "http://localhost/x.dtd"> %a;]>',
        '<!DOCTYPE words SYSTEM "words.dtd">',
    ],
    ids=["growing", "file", "address", "undeclared"],
)
def test_xml_entities_are_refused(tmp_path: Path, declaration: str) -> None:
    path = write_mmax(tmp_path / "p", doctype=False)
    words = tmp_path / "p" / "Basedata" / "tiny_words.xml"
    (tmp_path / "p" / "Basedata" / "words.dtd").write_text('<!ENTITY a "leaked">', "utf-8")
    text = words.read_text("utf-8").replace("<words>", f"{declaration}\n<words>")
    words.write_text(text.replace("Ana", "&a;"), "utf-8")
    ((what, where),) = problems(path)
    assert what == "The XML declares or uses entities, which could pull in other files."
    assert "tiny_words.xml, line" in where


def test_a_project_file_cannot_name_files_outside(tmp_path: Path) -> None:
    path = write_mmax(tmp_path / "p")
    (tmp_path / "secret.xml").write_text("<words><word id='word_1'>x</word></words>", "utf-8")
    path.write_text(path.read_text("utf-8").replace("tiny_words.xml", "../../secret.xml"), "utf-8")
    assert "File '../../secret.xml' is not in" in problems(path)[0][0]


@pytest.mark.parametrize(
    "name", ["../evil.conll", "/evil.conll", "a/../../evil.conll", "C:\\evil.conll"]
)
def test_archives_cannot_lead_out(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr(name, CONLL)
    ((what, _),) = problems(tmp_path / "t.zip")
    assert "points outside it" in what


def test_damaged_archives_and_links_that_lead_out(tmp_path: Path) -> None:
    (tmp_path / "t.zip").write_bytes(b"PK\x03\x04 nothing")
    assert "is damaged" in problems(tmp_path / "t.zip")[0][0]
    (tmp_path / "folder").mkdir()
    (tmp_path / "out.conll").write_text(CONLL, "utf-8")
    os.symlink(tmp_path / "out.conll", tmp_path / "folder" / "in.conll")
    ((what, _),) = problems(tmp_path / "folder")
    assert what == "1 link outside the folder: 'in.conll'."


def test_archives_that_grow_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annomodels.io.border.LARGEST", 1000)
    with zipfile.ZipFile(tmp_path / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.conll", " " * 2000)
    assert "which no export does" in problems(tmp_path / "t.zip")[0][0]


@of_kind("brat")
def test_brat(tmp_path: Path, case: dict[str, Any]) -> None:
    path = write_brat(tmp_path / "b")
    path.write_text(path.read_text("utf-8") + case["text"] + "\n", "utf-8")
    ((said, where),) = problems(path)
    assert said == case["what"]
    assert where.endswith("tiny.ann, line 10")


def test_brat_without_its_text(tmp_path: Path) -> None:
    path = write_brat(tmp_path / "b")
    path.with_suffix(".txt").unlink()
    assert "File 'tiny.txt' is not in" in problems(path)[0][0]


@of_kind("json")
def test_json_lines(tmp_path: Path, case: dict[str, Any]) -> None:
    good = '{"sentences": [["a"]], "clusters": [], "doc_key": "good"}'
    (tmp_path / "t.jsonl").write_text(f"{good}\n{case['text']}\n", "utf-8")
    ((said, where),) = problems(tmp_path / "t.jsonl")
    assert case["what"] in said
    assert where.startswith("t.jsonl, line 2")


def test_items_that_are_no_mentions_are_counted_once(tmp_path: Path) -> None:
    rows = ["item,coder,label", *(f"r{n},a,x" for n in range(1600))]
    (tmp_path / "votes.csv").write_text("\n".join(rows), "utf-8")
    assert problems(tmp_path / "votes.csv") == [
        ("1,600 of 1,600 items are not mention positions (first: 'r0', row 2).", "votes.csv"),
    ]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (CONLL.replace("Ana", "Än").encode("cp1252"), "is not UTF-8"),
        (CONLL.encode("utf-16-le"), "NUL byte"),
        (b"", "The file is empty."),
        (b"nothing of the kind", "A word is outside any document."),
    ],
    ids=["cp1252", "utf-16 without mark", "empty", "unknown"],
)
def test_encodings_and_unknown_files(tmp_path: Path, data: bytes, what: str) -> None:
    (tmp_path / "t.conll").write_bytes(data)
    assert what in problems(tmp_path / "t.conll")[0][0]
    if "UTF-8" in what:
        assert problems(tmp_path / "t.conll")[0][1] == "t.conll, row 10"
        assert read(tmp_path / "t.conll", encoding="cp1252")[0].tokens[7] == "Än"


def test_utf16_with_its_mark_and_files_of_no_format(tmp_path: Path) -> None:
    (tmp_path / "t.conll").write_bytes(CONLL.encode("utf-16"))
    assert read(tmp_path / "t.conll")[0].id
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("nothing of the kind", "utf-8")
    assert problems(other)[0][0] == "The format was not recognised."
    # a file that is named like coreference is not passed over
    (other / "ana.conll").write_text("", "utf-8")
    assert problems(other)[0][0] == "The file has no documents."
