"""Six formats say the same, and all coders of a text are put together."""

import gzip
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import annomodels as am
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


def clusters(text: Document) -> list[list[str]]:
    (layer,) = text.layers.values()
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
        named = {
            coder: [[span.name for _, span in sorted(group)] for group in layer.groups]
            for coder, layer in text.layers.items()
        }
        assert named == expected["clusters"]
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


def test_chain_tables_with_several_chains_of_one_mention(tmp_path: Path) -> None:
    chains = {"0:0-1": ["0:0-1", "0:4-5"], "0:2-3": ["0:2-3", "0:4-5", "0:6-7"]}
    chains |= {"0:4-5": ["0:0-1", "0:2-3", "0:4-5", "0:6-7"], "0:6-7": ["0:2-3", "0:4-5", "0:6-7"]}
    rows = ["item;coder;chain", *(f"d#{m};c;{'|'.join(c)}" for m, c in chains.items())]
    (tmp_path / "c.csv").write_text("\n".join([*rows, rows[1]]), "utf-8")
    (text,) = read(tmp_path / "c.csv")
    said = text.layers["c"].judgments
    assert said["0:4-5"].readings == (frozenset({"0:0-1"}), frozenset({"0:2-3"}))
    assert said["0:6-7"].readings == (frozenset({"0:4-5"}),)
    assert text.notes == ("1 repeated row of a coder left out.",)
    labels = ["item,coder,label", "d#0:0-1,c,NEW", "d#0:2-3,c,NEW", "d#0:4-5,c,0:0-1&0:2-3"]
    (tmp_path / "l.csv").write_text("\n".join(labels), "utf-8")
    (text,) = read(tmp_path / "l.csv")
    assert text.layers["c"].judgments["0:4-5"].is_ambiguous


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
