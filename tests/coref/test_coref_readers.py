"""Six formats and projects of two tools say the same; a broken file gets a sentence."""

import gzip
import os
import shutil
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import annomodels as am
from annomodels.cli.main import main
from annomodels.coref import Document, agreement, pair_agreement, read
from tests.coref.coref_files import (
    CONLL,
    CORPUS_ENTITIES,
    WORDS,
    conllu,
    write_brat,
    write_chains,
    write_json,
    write_mmax,
)

FILE = Path(__file__).resolve().parents[1] / "cases" / "coref_readings.toml"
READINGS = tomllib.loads(FILE.read_text("utf-8"))


def clusters(text: Document, coder: str = "") -> list[list[str]]:
    """Name the mentions of each cluster, of a coder or of the only one."""
    layer = text.layers[coder or text.coders[0]]
    assert coder or len(text.layers) == 1
    return [[span.name for _, span in sorted(group)] for group in layer.groups]


@pytest.mark.parametrize("case", READINGS.values(), ids=READINGS)
def test_a_file_is_read_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in case["files"].items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content, "utf-8")
    for text, expected in zip(
        read(case["path"], **case.get("options", {})), case["texts"], strict=True
    ):
        assert {coder: clusters(text, coder) for coder in text.layers} == expected["clusters"]
        for one, readings in expected.get("readings", {}).items():
            judgment = text.layers["c"].judgments[one]
            assert list(map(sorted, judgment.readings)) == readings
        assert list(text.notes) == expected.get("notes", [])
        assert text.id == expected.get("id", text.id)
        assert text.genre == expected.get("genre", text.genre)


def test_all_formats_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "tiny.conll").write_text(CONLL, "utf-8")
    (tmp_path / "tiny.conllu").write_text(conllu(CORPUS_ENTITIES), "utf-8")
    paths = [tmp_path / "tiny.conll", tmp_path / "tiny.conllu", write_json(tmp_path)]
    paths += [write_mmax(tmp_path / "mmax"), write_brat(tmp_path / "brat")]
    for path in paths:
        (text,) = read(path)
        assert clusters(text) == [["0-1", "9"], ["3", "7"]], path
        assert list(text.tokens) == WORDS
        assert text.id in ("nw/tiny", "tiny")
        assert text.sentence_starts == ((0,) if path.suffix == ".mmax" else (0, 7))
    (text,) = read(write_chains(tmp_path))
    assert clusters(text) == [["0-1", "6"], ["3", "4"]]  # words between mentions are not known
    assert read(tmp_path / "tiny.conll")[0].genre == "nw"
    assert read(tmp_path / "brat")[0].notes == ("brat: 1 relation of the type 'Near' not used.",)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_marks_at_the_beginning_of_a_file_are_no_words(tmp_path: Path, encoding: str) -> None:
    for name, content in (("a.conll", CONLL), ("a.conllu", conllu(CORPUS_ENTITIES))):
        (tmp_path / name).write_text(content, encoding)
        assert (
            read(tmp_path / name, format=name[2:].replace("conllu", "corefud"))[0].tokens[0]
            == "The"
        )


def test_coders_are_told_apart_by_file_by_folder_or_by_name(tmp_path: Path) -> None:
    for coder, text in (("ana", CONLL), ("ben", CONLL.replace("(3)", "(1)"))):
        (tmp_path / f"{coder}.conll").write_text(text, "utf-8")
        (tmp_path / coder).mkdir()
        (tmp_path / coder / "doc.conll").write_text(text, "utf-8")
    files = [tmp_path / "ana.conll", tmp_path / "ben.conll"]
    for (text,) in (
        read(files),
        read([tmp_path / "ana", tmp_path / "ben"]),
        read({"ana": files[0], "ben": tmp_path / "ben"}),
    ):
        assert text.coders == ("ana", "ben")
        assert pair_agreement(text).pooled == (1, 1, 2, 2)
    (only,) = read(files[0], coder="cho", genre=lambda name: name[3:])
    assert (only.coders, only.genre) == (("cho",), "tiny")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for coder in ("ana", "ben"):
            archive.write(tmp_path / coder / "doc.conll", f"{coder}/doc.conll")
    (text,) = read(tmp_path / "all.zip")
    assert text.coders == ("ana", "ben")
    (tmp_path / "ana.conll.gz").write_bytes(gzip.compress(files[0].read_bytes()))
    assert read(tmp_path / "ana.conll.gz")[0].coders == ("ana",)


def test_brat_and_mmax_of_two_coders_in_folders(tmp_path: Path) -> None:
    for coder in ("ana", "ben"):
        write_brat(tmp_path / "brat" / coder)
        write_mmax(tmp_path / "mmax" / coder)
    (tmp_path / "brat" / "ben" / "tiny.ann").write_text("", "utf-8")
    (text,) = read(tmp_path / "brat")
    assert text.coders == ("ana", "ben")
    assert len(text.layers["ben"].mentions) == 0
    assert any("4 of 4 mentions were not marked by all coders" in note for note in text.notes)
    (text,) = read(tmp_path / "mmax")
    assert pair_agreement(text).mean == 1


def test_a_brat_project_of_two_coders(formats: Path) -> None:
    (text,) = read(formats / "brat")
    assert text.coders == ("ana", "ben")
    assert [text.text(span) for _, span in text.shared()] == ["Haag"]
    assert text.unaligned()["text"].tolist() == ["Paris"]


def test_corefud_gaps_heads_empty_words_and_split_antecedents(tmp_path: Path) -> None:
    entities = {0: "(e2[1/2]-animal-3-", 1: "e2[1/2])", 5: "(e2[2/2]-animal-3-)"}
    entities |= {3: "(e1-person-1-)", 9: "(e11-group-1-)"}
    text = conllu(entities, {9: "SplitAnte=e1<e11,e2<e11"}).split("\n")
    text.insert(5, "2.1\tghost" + "\t_" * 8)
    text.insert(3, "1-2\tThedog" + "\t_" * 8)
    (tmp_path / "a.conllu").write_text("\n".join(text), "utf-8")
    (made,) = read(tmp_path / "a.conllu")
    assert made.tokens[2] == "ghost"
    (layer,) = made.layers.values()
    named = {m.span.name: m for m in layer.markables.values()}
    assert set(named) == {"0-1+6", "4", "10"}
    assert named["0-1+6"].head == 6
    assert layer.judgments[named["10"].id].readings == (
        frozenset({named["4"].id, named["0-1+6"].id}),
    )


def test_mmax_pointers_are_readings(tmp_path: Path) -> None:
    path = write_mmax(
        tmp_path / "p",
        m1='type="none"',
        m2='type="none"',
        m3='type="phrase" antecedent="m2"',
        m4='type="phrase" antecedent="m1;turn:m9"',
    )
    (text,) = read(path, attributes={"category": "type"})
    (layer,) = text.layers.values()
    assert layer.judgments["phrase:m4"].is_ambiguous
    assert layer.judgments["phrase:m4"].antecedents == {"phrase:m1", "turn:m9"}
    assert layer.markables["turn:m9"].level == "turn"
    assert len(layer.mentions) == 4
    other = am.coref.Layer("q", layer.markables, layer.judgments)
    two = text.with_layers({"p": layer, "q": other})
    assert agreement(two, "incl-").value == 1


@pytest.mark.calibration
@pytest.mark.shared
def test_ezcoref(shared: Path) -> None:
    folder = shared / "data" / "ezcoref"
    texts = read(folder / "chains.csv.gz", genre=lambda name: name.split("_")[0])
    assert len(texts) == 264
    assert sum(len(text.keys) for text in texts) == 13361
    assert {len(text.coders) for text in texts} <= {5, 6}
    labels = {text.id: text for text in read(folder / "labels.csv")}
    same = different = 0
    for text in texts:
        for coder, layer in text.layers.items():
            for one, judgment in layer.judgments.items():
                other = labels[text.id].layers[coder].judgments[one]
                same += set(judgment.readings) == set(other.readings)
                different += set(judgment.readings) != set(other.readings)
    # two chains of the same mentions look like one in the table of chains
    assert (same + different, different) == (66845, 26)
    found = pair_agreement(texts)
    assert 0.5 < found.mean < 0.6
    assert sum(found.by_genre["texts"]) == 264
    values = {
        chain: agreement(texts[::6], chain, "dice").value for chain in ("incl-", "excl-", "incl+")
    }
    assert values["excl-"] < values["incl-"]
    assert values["incl+"] < values["incl-"]


BEGIN, END = "#begin document (t); part 000\n", "\n#end document\n"
ENTITY = CORPUS_ENTITIES
BROKEN = Path(__file__).resolve().parents[1] / "cases" / "broken_coref_files.toml"
CASES = tomllib.loads(BROKEN.read_text("utf-8"))


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


@of_kind("project")
def test_projects(tmp_path: Path, case: dict[str, Any]) -> None:
    folder = tmp_path / "p"
    path = {"mmax": write_mmax, "brat": write_brat}[case["kind"]](folder, **case.get("varied", {}))
    for name in case.get("remove", []):
        (folder / name).unlink()
    for name, text in case.get("files", {}).items():
        (folder / name).write_text(text, "utf-8")
    for name, changes in case.get("replace", {}).items():
        text = (folder / name).read_text("utf-8")
        for old, new in changes:
            text = text.replace(old, new)
        (folder / name).write_text(text, "utf-8")
    ((said, where),) = problems(path, **case.get("options", {}))
    assert said == case["what"] if "what" in case else said.startswith(case["begins"])
    assert where.endswith(case.get("where", ""))


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


HEAD = "#FORMAT=WebAnno TSV 3.3\n"
LAYER = "#T_CH=de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
TSV_WORDS = ["Ana", "😊", "said", "her", "dog", "saw", "her"]
CHAINS = {
    "ana": [["*[1]", "*->1-1"], None, None, ["*[1]|*[2]", "*->1-2|*->2-1"], ["*[2]", "*->2-1"],
            None, ["*[1]", "*->1-3"]],
    "ben": [["*[1]", "*->1-1"], None, None, ["*[1]|*[2]", "*->1-2|*->2-1"], ["*[2]", "*->2-1"],
            None, ["*[2]", "*->2-2"]],
}  # fmt: skip


def webanno(chains: list[list[str] | None], layer: str = LAYER) -> str:
    rows, place = [], 0
    for n, (word, cells) in enumerate(zip(TSV_WORDS, chains, strict=True), 1):
        size = len(word.encode("utf-16-le")) // 2
        rows.append(f"1-{n}\t{place}-{place + size}\t{word}\t" + "\t".join(cells or "__") + "\t")
        place += size + 1
    head = f"{HEAD}{layer}|referenceType|referenceRelation\n\n\n#Text={' '.join(TSV_WORDS)}\n"
    return head + "\n".join(rows) + "\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    for coder, chains in CHAINS.items():
        file = made / "annotation" / "d.txt" / f"{coder}.tsv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(webanno(chains), "utf-8")
    return made


def test_chains_of_all_coders_are_read_from_a_folder_or_an_archive(project: Path) -> None:
    packed = shutil.make_archive(str(project), "zip", project)
    for path in (project, Path(packed)):
        (text,) = read(path)
        assert (text.id, text.tokens) == ("d.txt", tuple(TSV_WORDS))
        assert clusters(text, "ana") == [["0", "3", "6"], ["3-4"]]
        assert clusters(text, "ben") == [["0", "3"], ["3-4", "6"]]


def test_the_curated_version_is_no_coder_and_a_note_says_so(project: Path) -> None:
    file = project / "curation" / "d.txt" / "CURATION_USER.tsv"
    file.parent.mkdir(parents=True)
    file.write_text(webanno(CHAINS["ana"]), "utf-8")
    (text,) = read(project)
    assert text.coders == ("ana", "ben")
    assert "The curated version is left out." in text.notes


def test_files_of_their_own_are_named_by_the_user(project: Path) -> None:
    paths = sorted(project.rglob("*.tsv"))
    (text,) = read({"A": paths[0], "B": paths[1]})
    assert text.coders == ("A", "B")


def test_several_layers_of_chains_are_listed_and_one_can_be_named(project: Path) -> None:
    other = project / "annotation" / "d.txt" / "ana.tsv"
    other.write_text(webanno(CHAINS["ana"], "#T_CH=my.BridgeLink"), "utf-8")
    with pytest.raises(
        am.errors.AnnotationError, match=r"2 layers: 'BridgeLink', 'CoreferenceLink'"
    ):
        read(project)
    (text,) = read(project, relations="CoreferenceLink")
    assert clusters(text, "ben") == [["0", "3"], ["3-4", "6"]]
    assert not text.layers["ana"].markables


def test_a_project_without_chains_says_what_to_do_instead(project: Path, capsys) -> None:
    for file in project.rglob("*.tsv"):
        row = "1-1\t0-2\tJo\tPER\t\n"
        file.write_text(f"{HEAD}#T_SP=a.NE|value\n\n\n#Text=Jo\n{row}", "utf-8")
    assert main(["coref", str(project)]) == 3
    said = capsys.readouterr().err
    assert "no chains" in said
    assert "annomodels run with --units" in said


def test_the_other_commands_point_to_coref_when_there_are_chains(project: Path, capsys) -> None:
    assert main(["check", str(project)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "spans 8" in said
    assert "annomodels coref" in said


def test_chains_of_uima_cas_files_whose_links_have_two_features(tmp_path: Path) -> None:
    cassis = pytest.importorskip("cassis")
    system = cassis.TypeSystem()
    link = system.create_type("coref.CoreferenceLink", "uima.tcas.Annotation")
    for feature in ("referenceType", "referenceRelation"):
        system.create_feature(link, feature, "uima.cas.String")
    system.create_feature(link, "next", "coref.CoreferenceLink")
    chain = system.create_type("coref.CoreferenceChain", "uima.cas.AnnotationBase")
    system.create_feature(chain, "first", "coref.CoreferenceLink")
    system.to_xml(tmp_path / "TypeSystem.xml")
    with zipfile.ZipFile(tmp_path / "project.zip", "w") as archive:
        archive.write(tmp_path / "TypeSystem.xml", "TypeSystem.xml")
        for coder, places in (("ana", [(0, 4), (7, 9)]), ("ben", [(0, 4), (10, 12)])):
            cas = cassis.Cas(system)
            cas.sofa_string = "Haag 😊 it is"
            last, first = (
                link(begin=b, end=e, referenceType="nam", referenceRelation="coref")
                for b, e in reversed(places)
            )
            first.next = last
            cas.add_all([first, last, chain(first=first)])
            archive.writestr(f"annotation/d.txt/{coder}.xmi", cas.to_xmi())
    (text,) = read(tmp_path / "project.zip")
    assert text.tokens == ("Haag", "😊", "it", "is")
    assert (clusters(text, "ana"), clusters(text, "ben")) == ([["0", "2"]], [["0", "3"]])
