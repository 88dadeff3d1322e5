"""Gold spans in the formats of tools: every file is read again to the same spans."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import annomodels as am
from annomodels.errors import NotApplicable
from annomodels.io.reading import read_any
from annomodels.io.span_builder import MarkedSpan, Spans
from annomodels.io.writers.catalog import SPAN_BACKS

TEXTS = {
    "news_1": "Haag 😊 plays in São Paulo.\nShe left [Bonn] at 9_30; then \\ Rome.\n",
    "news_2": "Nothing here.",
    "a/b": "It’s Dr. Müller-Lüdenscheidt’s 2nd visit — to “Ulm”.",
}
GOLD = pd.DataFrame(
    [
        ("news_1", 0, 4, "PER", 0.99),
        ("news_1", 16, 25, "LOC", 0.8),
        ("news_1", 37, 41, "LOC", 0.7),
        ("a/b", 5, 29, "PER", 0.9),
        ("a/b", 9, 15, "PER-part", 0.6),
        ("a/b", 43, 50, "LOC", 0.95),
    ],
    columns=["document", "start", "end", "label", "p_exact"],
)
SOURCE = Spans(
    (MarkedSpan("news_1", "ana", "NamedEntity.value", 0, 4, "PER"),),
    dict.fromkeys(TEXTS, ("ana", "ben")),
    TEXTS,
)
FLAT = GOLD[GOLD["label"] != "PER-part"]


def again(to: str, path: Path) -> Spans:
    """Read what was written as people would give it to a command."""
    how: dict[str, Any] = {
        "label-studio": {"models": True, "item": "document"},
        "prodigy": {"item": "document"},
    }
    alone = to in ("label-studio", "prodigy")
    found = read_any(path if alone else {"gold": path}, **how.get(to, {}))
    assert isinstance(found, Spans)
    return found


def rows(spans: Spans) -> list[tuple[str, int, int, str]]:
    return sorted((s.document, s.start, s.end, s.label) for s in spans.spans)


def told(table: pd.DataFrame) -> list[tuple[str, int, int, str]]:
    columns = table[["document", "start", "end", "label"]].itertuples(index=False)
    return sorted((str(d), int(a), int(b), str(x)) for d, a, b, x in columns)


@pytest.mark.parametrize("to", [name for name in SPAN_BACKS if name not in ("spacy", "conll")])
def test_what_is_written_is_read_again_to_the_same_spans(to: str, tmp_path: Path) -> None:
    path = tmp_path / ("gold" if SPAN_BACKS[to].form == "folder" else "gold.jsonl")
    am.write_gold(GOLD, path, to, texts=SOURCE)
    found = again(to, path)
    gold = GOLD.replace("a/b", "a_b") if to == "webanno" else GOLD
    assert rows(found) == told(gold)
    if to != "webanno":  # whose documents are the names of the files, and lines become blanks
        assert set(found.seen) == set(TEXTS)
        assert dict(found.texts) == TEXTS


def test_conll_has_the_words_and_the_outer_spans(tmp_path: Path) -> None:
    path = am.write_gold(GOLD, tmp_path / "gold.conll", "conll", texts=SOURCE)
    found = again("conll", path)
    assert set(found.seen) == set(TEXTS)
    words = [(s.document, found.texts[s.document][s.start : s.end], s.label) for s in found.spans]
    outer = FLAT.itertuples(index=False)
    known = [(d, TEXTS[d][start:end], label) for d, start, end, label, _ in outer]

    def bare(marks: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
        return sorted((d, "".join(text.split()), label) for d, text, label in marks)

    assert bare(words) == bare(known)


@pytest.mark.parametrize("gold", [FLAT, GOLD], ids=["flat", "nested"])
def test_spacy_gets_the_exact_characters(gold: pd.DataFrame, tmp_path: Path) -> None:
    path = am.write_gold(gold, tmp_path / "gold.jsonl", "spacy", texts=SOURCE)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert {row["document"]: row["text"] for row in rows} == TEXTS
    made = []
    for row in rows:
        ends = [(token["start"], token["end"]) for token in row["tokens"]]
        gaps = [row["text"][a:b] for (_, a), (b, _) in pairwise([(0, 0), *ends])]
        assert set(gaps) <= {"", " "}  # a token keeps one blank after it, and nothing is lost
        assert ends[-1][1] == len(row["text"])
        marks = row["ents"] or row["spans"].get("sc", [])
        assert {m["start"] for m in marks} <= {start for start, _ in ends}
        assert {m["end"] for m in marks} <= {end for _, end in ends}
        made += [(row["document"], m["start"], m["end"], m["label"]) for m in marks]
    assert sorted(made) == told(gold)


@pytest.mark.parametrize("gold", [FLAT, GOLD], ids=["flat", "nested"])
def test_spacy_opens_its_file(gold: pd.DataFrame, tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    path = am.write_gold(gold, tmp_path / "gold.jsonl", "spacy", texts=SOURCE)
    vocab, made = spacy.blank("xx").vocab, []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        doc = spacy.tokens.Doc(vocab).from_json(row, validate=True)
        assert doc.text == TEXTS[row["document"]]
        found = doc.spans.get("sc", doc.ents)
        made += [(row["document"], e.start_char, e.end_char, e.label_) for e in found]
    assert sorted(made) == told(gold)


def test_texts_that_are_not_known_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(NotApplicable, match=r"brat needs the texts.* 2 documents .*text="):
        am.write_gold(GOLD, tmp_path / "gold", "brat")
    assert not (tmp_path / "gold").exists()
    with pytest.raises(NotApplicable, match="'toloka' is not an output format"):
        am.write_gold(GOLD, tmp_path / "gold", "toloka", texts=SOURCE)


def test_files_stay_inside_the_folder(tmp_path: Path) -> None:
    name = "../../up"
    gold = GOLD.assign(document=name).head(1)
    source = Spans((), {name: ("ana",)}, {name: TEXTS["news_1"]})
    am.write_gold(gold, tmp_path / "in" / "gold", "brat", texts=source)
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.ann")) == [
        "in/gold/_/_/up.ann"
    ]


PIECES = st.sampled_from(
    ["Ana", "é", "😊", " ", "\n", "-", "_", "[1]", "|", "\\", "*", "->", "x;y"]
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[*HealthCheck])
@given(data=st.data())
def test_any_text_and_any_flat_spans_come_back(data: st.DataObject, tmp_path_factory: Any) -> None:
    texts, found = {}, []
    for name in ("one", "two"):
        text = "a" + "".join(data.draw(st.lists(PIECES, min_size=2, max_size=8))) + name
        texts[name] = text
        ends = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
        for start, end in zip(ends[::2], ends[1::2], strict=False):
            words = text[start:end]
            if words == words.strip():  # marks of blanks are no marks of any tool
                found.append((name, start, end, data.draw(st.sampled_from(["PER", "LOC"])), 1.0))
    if not found:
        found.append(("one", 0, 1, "PER", 1.0))
    gold = pd.DataFrame(found, columns=GOLD.columns)
    source = Spans((), dict.fromkeys(texts, ("ana",)), texts)
    for to in ("brat", "webanno", "label-studio", "prodigy", "doccano"):
        path = tmp_path_factory.mktemp("w") / "gold.jsonl"
        am.write_gold(gold, path, to, texts=source)
        assert rows(again(to, path)) == told(gold), to
