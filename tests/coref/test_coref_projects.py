"""Projects of INCEpTION and WebAnno: chains of all coders, without a word said about formats."""

import shutil
import zipfile
from pathlib import Path

import pytest

import annomodels as am
from annomodels.cli.main import main
from annomodels.coref import Document, read

HEAD = "#FORMAT=WebAnno TSV 3.3\n"
LAYER = "#T_CH=de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
WORDS = ["Ana", "😊", "said", "her", "dog", "saw", "her"]
CHAINS = {
    "ana": [["*[1]", "*->1-1"], None, None, ["*[1]|*[2]", "*->1-2|*->2-1"], ["*[2]", "*->2-1"],
            None, ["*[1]", "*->1-3"]],
    "ben": [["*[1]", "*->1-1"], None, None, ["*[1]|*[2]", "*->1-2|*->2-1"], ["*[2]", "*->2-1"],
            None, ["*[2]", "*->2-2"]],
}  # fmt: skip


def webanno(chains: list[list[str] | None], layer: str = LAYER) -> str:
    rows, place = [], 0
    for n, (word, cells) in enumerate(zip(WORDS, chains, strict=True), 1):
        size = len(word.encode("utf-16-le")) // 2
        rows.append(f"1-{n}\t{place}-{place + size}\t{word}\t" + "\t".join(cells or "__") + "\t")
        place += size + 1
    head = f"{HEAD}{layer}|referenceType|referenceRelation\n\n\n#Text={' '.join(WORDS)}\n"
    return head + "\n".join(rows) + "\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    for coder, chains in CHAINS.items():
        file = made / "annotation" / "d.txt" / f"{coder}.tsv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(webanno(chains), "utf-8")
    return made


def clusters(text: Document, coder: str) -> list[list[str]]:
    return [[span.name for _, span in sorted(group)] for group in text.layers[coder].groups]


def test_chains_of_all_coders_are_read_from_a_folder_or_an_archive(project: Path) -> None:
    packed = shutil.make_archive(str(project), "zip", project)
    for path in (project, Path(packed)):
        (text,) = read(path)
        assert (text.id, text.tokens) == ("d.txt", tuple(WORDS))
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
