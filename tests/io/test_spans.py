"""Marked stretches of text and chains: brat, WebAnno TSV 3, UIMA CAS, and rules that make items."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import annomodels as am
from annomodels import read, read_spans
from annomodels.errors import AnnotationError
from annomodels.io.span_builder import UNITS, Span, Spans, to_code_points

WEBANNO = "#FORMAT=WebAnno TSV 3.3\n"
NE = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|value|identifier\n"


def webanno(tmp_path: Path, **files: str) -> Path:
    for coder, text in files.items():
        path = tmp_path / "annotation" / "d.txt" / f"{coder}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(WEBANNO + text, encoding="utf-8")
    return tmp_path


def marks(spans: Spans, question: str) -> list[tuple[int, int, str]]:
    return [(s.start, s.end, s.label) for s in spans.spans if s.question == question]


# -- WebAnno TSV 3 -----------------------------------------------------------------------------


def test_webanno_numbers_stacks_and_escapes(tmp_path: Path) -> None:
    rows = "#Text=New York is big\n" + "".join(
        f"1-{n}\t{place}\t{token}\t{cells}\t\n"
        for n, (place, token, cells) in enumerate(
            [
                ("0-3", "New", "LOC[1]|ORG\\|X\\[9\\][2]\tQ60[1]|_"),
                ("4-8", "York", "LOC[1]|ORG\\|X\\[9\\][2]\tQ60[1]|_"),
                ("9-11", "is", "_\t_"),
                ("12-15", "big", "*\t_"),
            ],
            1,
        )
    )
    spans = read_spans(webanno(tmp_path, ana=NE + "\n\n" + rows))
    assert marks(spans, "NamedEntity.value") == [(0, 8, "LOC"), (0, 8, "ORG|X[9]"), (12, 15, "*")]
    assert marks(spans, "NamedEntity.identifier") == [(0, 8, "Q60")]


def test_webanno_chains(tmp_path: Path) -> None:
    # The example of the format's description, with a mention of two tokens added.
    layer = "#T_CH=de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
    head = f"{layer}|referenceType|referenceRelation\n\n\n#Text=He shot himself with his old gun\n"
    rows = [
        ("0-2", "He", "pr[1]\tcoref->1-1"),
        ("3-7", "shot", "_\t_"),
        ("8-15", "himself", "pr[1]\tcoref->1-2"),
        ("16-20", "with", "_\t_"),
        ("21-24", "his", "pr[1]|nam[2]\t*->1-3|*->2-1"),
        ("25-28", "old", "nam[2]\t*->2-1"),
        ("29-32", "gun", "nam[2]\t*->2-1"),
    ]
    body = "".join(f"1-{n}\t{p}\t{t}\t{c}\t\n" for n, (p, t, c) in enumerate(rows, 1))
    path = webanno(tmp_path, ana=head + body, ben=head + body)
    spans = read_spans(path)
    ana = spans.chains[spans.chains["coder"] == "ana"]
    assert ana[["start", "end", "label", "chain"]].to_numpy().tolist() == [
        *[[0, 2, "pr", "1"], [8, 15, "pr", "1"], [21, 24, "pr", "1"], [21, 32, "nam", "2"]]
    ]
    data = read(path, units="chain", sets=True)
    assert data.n_items == 4
    first = frozenset({"0-2", "8-15", "21-24"})
    assert set(data.labels) == {first, frozenset({"21-32"})}
    assert set(read(path, units="chain").labels) == {"0-2|21-24|8-15", "21-32"}


@given(st.lists(st.text("ab😊é", min_size=1, max_size=4), min_size=1, max_size=6), st.data())
def test_webanno_places_are_code_points_in_any_text(words: list[str], data: st.DataObject) -> None:
    from annomodels.io.records import Records
    from annomodels.io.source import Options, Source
    from annomodels.io.tools import projects as reader

    cut = data.draw(st.integers(0, len(words)))
    text, unit, lines, want = "", 0, ["#FORMAT=WebAnno TSV 3.3", "#T_SP=a.L|f", "", ""], []
    for number, sentence in enumerate((words[:cut], words[cut:]), 1):
        lines.append(f"#Text={' '.join(sentence)}")
        for n, word in enumerate(sentence, 1):
            size = len(word.encode("utf-16-le")) // 2
            lines.append(f"{number}-{n}\t{unit}-{unit + size}\t{word}\tX\t")
            want.append((len(text), len(text) + len(word), "X"))
            text, unit = text + word + " ", unit + size + 1
    found = Records(Source("x", data=b""), Options())
    reader._read("\n".join(lines), "d", "ana", found)
    spans = found.spans()
    assert marks(spans, "L.f") == want
    assert spans.texts["d"] == text[:-1]


def test_webanno_curation_is_the_gold(tmp_path: Path) -> None:
    row = "#T_SP=a.L|f\n\n\n#Text=Jo\n1-1\t0-2\tJo\t{}\t\n"
    path = webanno(tmp_path, ana=row.format("X"), ben=row.format("Y"), INITIAL_CAS=row.format("_"))
    curated = path / "curation" / "d.txt" / "CURATION_USER.tsv"
    curated.parent.mkdir(parents=True)
    curated.write_text(WEBANNO + row.format("Y"))
    data = read(path, units="exact")
    assert data.coders == ("ana", "ben")
    assert data.gold is not None
    assert data.labels[data.gold[0]] == "Y"
    assert data.groups == ("d.txt",)


def test_webanno_files_side_by_side_are_of_one_document(tmp_path: Path) -> None:
    for coder in ("ana", "ben"):
        (tmp_path / f"{coder}.tsv").write_text(WEBANNO + "#T_SP=a.L|f\n\n\n#Text=Jo\n")
    with pytest.raises(AnnotationError, match="contains no spans"):
        read_spans(tmp_path)


@pytest.mark.parametrize("path", ["{coder}/{document}.tsv", "{document}/{coder}.tsv"])
def test_texts_tell_whether_webanno_folders_are_coders(tmp_path: Path, path: str) -> None:
    for document, word in (("news", "Jo"), ("blog", "Al")):
        for coder, label in (("ana", "X"), ("ben", "Y")):
            file = tmp_path / path.format(coder=coder, document=document)
            file.parent.mkdir(exist_ok=True)
            row = f"#T_SP=a.L|f\n\n\n#Text={word}\n1-1\t0-2\t{word}\t{label}\t\n"
            file.write_text(WEBANNO + row)
    data = read(tmp_path, units="exact")
    assert (data.coders, data.groups) == (("ana", "ben"), ("blog", "news"))
    assert not any("different texts" in note for note in data.notes)


# -- brat --------------------------------------------------------------------------------------


def brat(tmp_path: Path, **files: str) -> Path:
    for coder, lines in files.items():
        (tmp_path / coder).mkdir()
        (tmp_path / coder / "d.ann").write_text(lines)
        (tmp_path / coder / "d.txt").write_text("Anna saw Bob and her dog.")
    return tmp_path


def test_brat_attributes_pieces_chains_and_notes(tmp_path: Path) -> None:
    lines = (
        "T1\tPER 0 4\tAnna\nT2\tPER 9 12;17 20\tBob her\nT3\tPRO 17 20\ther\n"
        "E1\tPER:T1\nR1\tKnows Arg1:T1 Arg2:T2\nA1\tNegated T1\nA2\tSure T2 low\n"
        "*\tEquiv T1 T3\n#1\tAnnotatorNotes T1\tfirst\n"
    )
    spans = read_spans(brat(tmp_path, ana=lines, ben="T1\tPER 0 4\tAnna\n"))
    ana = [span for span in spans.spans if span.coder == "ana"]
    assert [(s.start, s.end, s.label, s.chain) for s in ana if s.question == "type"] == [
        *[(0, 4, "PER", "T1"), (9, 20, "PER", ""), (17, 20, "PRO", "T1")]
    ]
    assert marks(spans, "Negated") == [(0, 4, "true")]
    assert marks(spans, "Sure") == [(9, 20, "low")]
    assert any("Discontinuous" in note for note in spans.notes)
    assert "chain" in repr(spans)


def test_brat_without_folders_of_coders_is_refused(tmp_path: Path) -> None:
    path = brat(tmp_path, ana="T1\tPER 0 4\tAnna\n") / "ana"
    with pytest.raises(AnnotationError, match="no names of coders"):
        read_spans(path)


def test_brat_files_that_only_a_number_tells_apart_are_no_coders(tmp_path: Path) -> None:
    for n in (1, 2):
        (tmp_path / f"data-sample-{n}.ann").write_text("T1\tPER 0 4\tAnna\n")
    with pytest.raises(AnnotationError, match="no names of coders"):
        read_spans(tmp_path)


# -- UIMA CAS ----------------------------------------------------------------------------------


def cas(coref: bool = False) -> Any:
    import cassis

    system = cassis.TypeSystem()
    entity = system.create_type("custom.Entity", "uima.tcas.Annotation")
    system.create_feature(entity, "value", "uima.cas.String")
    link = system.create_type("coref.CoreferenceLink", "uima.tcas.Annotation")
    system.create_feature(link, "referenceType", "uima.cas.String")
    system.create_feature(link, "next", "coref.CoreferenceLink")
    chain = system.create_type("coref.CoreferenceChain", "uima.cas.AnnotationBase")
    system.create_feature(chain, "first", "coref.CoreferenceLink")
    made = cassis.Cas(system)
    made.sofa_string = "😊 Anna saw her"
    made.sofa_mime = "text/plain"
    made.add(entity(begin=2, end=6, value="PER"))
    if coref:
        last = link(begin=11, end=14, referenceType="pro")
        first = link(begin=2, end=6, next=last)
        made.add_all([first, last, chain(first=first)])
    return made


@pytest.mark.parametrize("kind", ["xmi", "json"])
def test_cas_of_cassis_itself(tmp_path: Path, kind: str) -> None:
    made = cas()
    for coder in ("ana", "ben"):
        path = tmp_path / "annotation" / "d.txt" / f"{coder}.{kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        (made.to_xmi if kind == "xmi" else made.to_json)(path)
    made.typesystem.to_xml(tmp_path / "TypeSystem.xml")
    spans = read_spans(tmp_path)
    assert marks(spans, "Entity.value") == [(2, 6, "PER")] * 2
    assert spans.texts == {"d.txt": "😊 Anna saw her"}


def test_cas_of_a_project_export_with_chains(tmp_path: Path) -> None:
    made = cas(coref=True)
    made.to_xmi(tmp_path / "ana.xmi")
    made.typesystem.to_xml(tmp_path / "TypeSystem.xml")
    inner = tmp_path / "ana.zip"
    with zipfile.ZipFile(inner, "w") as archive:
        archive.write(tmp_path / "ana.xmi", "ana.xmi")
        archive.write(tmp_path / "TypeSystem.xml", "TypeSystem.xml")
    project = tmp_path / "project.zip"
    with zipfile.ZipFile(project, "w") as archive:
        archive.write(inner, "annotation/d.txt/ana.zip")
        archive.write(inner, "annotation/d.txt/ben.zip")
        archive.write(inner, "annotation/d.txt/INITIAL_CAS.zip")
        archive.writestr("exportedproject.json", json.dumps({"name": "p"}))
    spans = read_spans(project)
    assert spans.coders == ("ana", "ben")
    chain = spans.chains[spans.chains["coder"] == "ana"]
    assert chain[["start", "end", "label"]].to_numpy().tolist() == [[2, 6, "*"], [11, 14, "pro"]]
    data = read(project, units="chain", question="CoreferenceLink.referenceType", sets=True)
    assert set(data.labels) == {frozenset({"2-6", "11-14"})}


def test_cas_without_its_type_system_says_so(tmp_path: Path) -> None:
    cas().to_xmi(tmp_path / "ana.xmi")
    with pytest.raises(AnnotationError, match=r"TypeSystem\.xml"):
        read_spans(tmp_path / "ana.xmi")


# -- units -------------------------------------------------------------------------------------

SPANS = Spans(
    (
        Span("d", "ana", "NE", 0, 4, "PER"),
        Span("d", "ana", "NE", 5, 8, "LOC"),
        Span("d", "ben", "NE", 0, 8, "PER"),
        Span("e", "ana", "NE", 0, 2, "LOC"),
    ),
    {"d": ("ana", "ben", "cho"), "e": ("ana",)},
    {"d": "Anna saw.", "e": "Oh"},
)


def labels_of(by: str, **options: Any) -> dict[tuple[str, str], Any]:
    frame = SPANS.units(by, **options).to_frame()
    return {(item, coder): label for item, coder, label in frame.to_numpy().tolist()}


def test_exact_units_hold_every_place_and_everybody_who_worked_there() -> None:
    none = "(none)"
    assert labels_of("exact") == {
        ("d:0-4", "ana"): "PER", ("d:0-4", "ben"): none, ("d:0-4", "cho"): none,
        ("d:0-8", "ana"): none, ("d:0-8", "ben"): "PER", ("d:0-8", "cho"): none,
        ("d:5-8", "ana"): "LOC", ("d:5-8", "ben"): none, ("d:5-8", "cho"): none,
        ("e:0-2", "ana"): "LOC",
    }  # fmt: skip


def test_tokens_and_groups_of_overlapping_spans() -> None:
    tokens = labels_of("token")
    assert [tokens[f"d:{p}", "ben"] for p in ("0-4", "5-8", "8-9")] == ["PER", "PER", "(none)"]
    groups = labels_of("overlap", sets=True)
    assert groups["d:0-8", "ana"] == frozenset({"PER", "LOC"})
    assert groups["d:0-8", "cho"] == frozenset()
    assert labels_of("overlap")["d:0-8", "ana"] == "LOC+PER"


def test_units_are_never_guessed() -> None:
    with pytest.raises(AnnotationError, match=r"Unknown unit 'word'") as caught:
        SPANS.units("word")
    assert all(name in str(caught.value) for name in UNITS)
    with pytest.raises(AnnotationError, match="belong to no chains"):
        SPANS.units("chain")
    with pytest.raises(AnnotationError, match="Unknown question 'POS'"):
        SPANS.units("exact", question="POS")
    bare = Spans(SPANS.spans, SPANS.seen)
    with pytest.raises(AnnotationError, match="text of the document 'd' is not"):
        bare.units("token")
    two = Spans((*SPANS.spans, Span("d", "ana", "POS", 0, 4, "N")), SPANS.seen)
    with pytest.raises(AnnotationError, match="2 questions: 'NE'"):
        two.units("exact")


def test_spans_can_be_asked_by_distance_of_sets() -> None:
    data = SPANS.units("overlap", sets=True)
    assert isinstance(data, am.Annotations)
    assert data.texts == ("Anna saw", "Oh")


@given(st.text())
def test_places_in_utf_16_become_code_points(text: str) -> None:
    places = to_code_points(text)
    units = 0
    for point, sign in enumerate(text):
        assert places[units] == point
        units += len(sign.encode("utf-16-le", "surrogatepass")) // 2
    assert places[units] == len(text)
    assert len(places) == units + 1
