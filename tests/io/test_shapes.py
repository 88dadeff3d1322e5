"""The 26 shapes of one made-up data set become one and the same table, traps included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from annomodels import Annotations, read
from annomodels.errors import AnnotationError
from annomodels.io.assembly import chosen
from annomodels.io.reading import read_spans
from annomodels.io.source import Options, Source

# 4 items, 3 coders, 10 labels; cho skipped t3, and the truth of t2 is known.
CANON = [
    *[("t1", "ana", "pos"), ("t1", "ben", "pos"), ("t1", "cho", "neu"), ("t2", "ana", "neg")],
    *[("t2", "ben", "neg"), ("t2", "cho", "neg"), ("t3", "ana", "pos"), ("t3", "ben", "neu")],
    *[("t4", "ana", "neg"), ("t4", "cho", "pos")],
]
TEXTS = ("Great soup!", "Cold and late.", "It was food.", 'Not bad, not "good" 😊.')
CODERS = ("ana", "ben", "cho")
NUMBERS = {str(n): label for n, label in enumerate(("neg", "neu", "pos"), 1)}


@dataclass(frozen=True)
class Shape:
    """How one export is read, and what else it says beside the labels."""

    format: str
    options: dict[str, Any] = field(default_factory=dict)
    skips: int = 0
    gold: bool = False
    texts: bool = True
    note: str = ""
    label: Callable[[str], str] = str
    item: Callable[[str], str] = str


def mails(*, domain: str = "@example.org") -> dict[str, str]:
    return {f"{name}{domain}": name for name in CODERS}


CROWD = {"item": "ext_id", "coders": {f"W{name.upper()}": name for name in CODERS}}
NUMBERED = {"coders": dict(zip("123", CODERS, strict=True))}


def by_number(item: str) -> str:
    return f"t{item}"


SHAPES: dict[str, Shape] = {
    "long.csv": Shape("long", texts=False),
    "wide.tsv": Shape("wide", skips=2, texts=False),
    "kalpha_matrix.csv": Shape(
        "matrix", NUMBERED, 2, texts=False, label=NUMBERS.__getitem__, item=by_number
    ),
    "mace.csv": Shape("matrix", NUMBERED, 2, texts=False, item=by_number),
    "label_studio.json": Shape(
        "label-studio", {"item": "ext_id", "coders": mails()}, 1, True, note="annotation id"
    ),
    "label_studio_min.json": Shape(
        "label-studio-table", {"item": "ext_id", "coders": mails()}, note="ground truth"
    ),
    "label_studio.csv": Shape(
        "label-studio-table", {"item": "ext_id", "coders": mails()}, note="annotation id"
    ),
    "prodigy.jsonl": Shape(
        "prodigy", {"item": "id", "coders": {f"food-{name}": name for name in CODERS}}, 1
    ),
    "doccano.zip": Shape("doccano", {"item": "ext"}, 2, note="not done yet"),
    "argilla_records.json": Shape("argilla", {"coders": "argilla_users.json"}, note="drafts"),
    "argilla_hf.jsonl": Shape("argilla-table", {"coders": "argilla_users.json"}, 1),
    "mturk.csv": Shape("mturk", CROWD, note="rejected"),
    "mturk_taskanswers.csv": Shape("mturk", CROWD, note="rejected"),
    "mturk_onehot.csv": Shape("mturk", CROWD, note="rejected"),
    "toloka.tsv": Shape("toloka", {"item": "ext_id"}, gold=True, note="rejected"),
    "crowdflower_full.csv": Shape("appen", {"item": "ext_id"}, gold=True, note="tainted"),
    "potato": Shape("potato", texts=False),
    "potato_annotations.jsonl": Shape("potato", texts=False),
    "potato_annotations.csv": Shape("potato", texts=False),
}


def as_triples(data: Annotations, shape: Shape) -> list[tuple[str, str, str]]:
    rows = data.to_frame().to_numpy().tolist()
    return sorted((shape.item(i), c, shape.label(x)) for i, c, x in rows)


def options_of(shape: Shape, formats: Path) -> dict[str, Any]:
    coders = shape.options.get("coders")
    named = {"coders": formats / coders} if isinstance(coders, str) else {}
    return {**shape.options, **named}


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name: str, formats: Path) -> None:
    shape = SHAPES[name]
    data = read(formats / name, **options_of(shape, formats))
    assert as_triples(data, shape) == sorted(CANON)
    assert data.skips == shape.skips
    if shape.gold:
        assert data.gold is not None
        truth = {data.items[i]: data.labels[k] for i, k in enumerate(data.gold.tolist()) if k >= 0}
        assert truth == {"t2": "neg"}
    else:
        assert data.gold is None
    if shape.texts:
        assert data.texts is not None
        assert [text.removeprefix("How does this sound? - ") for text in data.texts] == list(TEXTS)
    assert any(shape.note in note for note in data.notes) or not shape.note


@pytest.mark.parametrize("name", SHAPES)
def test_shape_is_found_out_and_can_be_said(name: str, formats: Path) -> None:
    shape = SHAPES[name]
    options = options_of(shape, formats)
    assert chosen("auto", Source(formats / name), Options()).name == shape.format
    data = read(formats / name, format=shape.format, **options)
    assert data.fingerprint == read(formats / name, **options).fingerprint


@pytest.mark.parametrize("name", SHAPES)
def test_nothing_personal_but_the_names_of_coders_is_copied(name: str, formats: Path) -> None:
    data = read(formats / name, **options_of(SHAPES[name], formats))
    kept = repr((data.items, data.coders, data.labels, data.texts, data.groups, data.notes))
    for personal in ("1.2.3.4", "NLD", "98% (49/50)", "Cognito", "IP Address"):
        assert personal not in kept


# -- the shapes that mark stretches of text ------------------------------------------------------

TEXT = "Haag 😊 plays in Paris ."
MARKS = [("ana", 0, 4, "PER"), ("ana", 16, 21, "LOC"), ("ben", 0, 4, "PER")]


@pytest.mark.parametrize(("name", "format"), [("brat", "brat"), ("webanno", "webanno"),
                                              ("cas", "cas")])  # fmt: skip
def test_spans(name: str, format: str, formats: Path) -> None:
    spans = read_spans(formats / name)
    assert chosen("auto", Source(formats / name), Options()).name == format
    table = spans.table[spans.table["label"].isin(["PER", "LOC"])]
    got = sorted(table[["coder", "start", "end", "label"]].itertuples(index=False, name=None))
    assert got == MARKS
    assert set(spans.texts.values()) == {TEXT}
    with pytest.raises(AnnotationError, match="not items yet"):
        read(formats / name)
    question = next(q for q in spans.questions if q != "Sure")
    data = read(formats / name, units="exact", question=question)
    rows = {(i.split(":")[1], c, x) for i, c, x in data.to_frame().to_numpy().tolist()}
    assert rows == {
        *[("0-4", "ana", "PER"), ("0-4", "ben", "PER")],
        *[("16-21", "ana", "LOC"), ("16-21", "ben", "(none)")],
    }
    tokens = read(formats / name, units="token", question=question)
    assert tokens.n_items == 6
    assert tokens.texts == ("Haag", "😊", "plays", "in", "Paris", ".")


# -- exports that hold no judgements -------------------------------------------------------------


def test_a_manifest_is_refused_and_says_where_the_answers_lie(formats: Path) -> None:
    with pytest.raises(AnnotationError, match="annotations/worker-response"):
        read(formats / "sagemaker_output.manifest")


# -- several variables in one table --------------------------------------------------------------

SHEET = "Article,Coder,Kind,Frame,Tone,Why,Coded_at\n" + "".join(
    f"a{n},{coder},{coder[0]},{'war' if n % 2 else 'money'},{n % 5 + 1},"
    f"for {coder} article {n} is about this,2026-01-0{n % 3 + 1}\n"
    for n in range(30)
    for coder in ("ana", "ben")
)


def test_each_column_of_a_coding_sheet_is_a_question(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(SHEET)
    with pytest.raises(AnnotationError, match="2 questions: 'Frame'") as caught:
        read(path, item="Article")
    assert caught.value.problems[0].choices == ("Frame", "Tone")
    data = read(path, item="Article", question="Frame")
    assert (data.n_items, data.coders, data.labels) == (30, ("ana", "ben"), ("money", "war"))
    assert read(path, item="Article", label="Tone").labels == ("1", "2", "3", "4", "5")


def grid(separator: str = "_", *, tone: tuple[str, ...] = ("1", "2", "3")) -> str:
    names = [f"{v}{separator}{c}" for v in ("frame", "tone") for c in ("ana", "ben", "cho")]
    rows = [
        [f"a{n}", *["war", "money", "war"][: 2 - n % 2], *["war"] * (1 + n % 2)]
        + [tone[n % len(tone)]] * 3
        for n in range(12)
    ]
    return "\n".join(",".join(row) for row in [["id", *names], *rows]) + "\n"


@pytest.mark.parametrize("separator", ["_", ".", " ", "-"])
def test_columns_of_variables_and_coders_are_never_mixed(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(grid(separator))
    with pytest.raises(AnnotationError, match="2 questions") as caught:
        read(path)
    assert caught.value.problems[0].choices == ("frame", "tone")
    data = read(path, question="tone")
    assert (data.n_items, data.coders) == (12, ("ana", "ben", "cho"))
    assert data.labels == ("1", "2", "3")
    with pytest.raises(AnnotationError, match="label sets that have nothing in common"):
        read(path, format="wide")
    declared = ("war", "money", "1", "2", "3")
    assert read(path, format="wide", labels=declared).n_coders == 6
    assert read(path, coder_columns=["tone_ana".replace("_", separator)]).n_coders == 1


def test_the_coder_may_stand_first_and_numbers_may_end_the_names(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    _, *rest = grid().splitlines()
    swapped = "id,ana_frame,ben_frame,cho_frame,ana_tone,ben_tone,cho_tone"
    path.write_text("\n".join([swapped, *rest]))
    assert read(path, question="frame").coders == ("ana", "ben", "cho")
    path.write_text("\n".join(["id,frame1,frame2,frame3,tone1,tone2,tone3", *rest]))
    assert read(path, question="tone").coders == ("1", "2", "3")
    with pytest.raises(AnnotationError, match="Did you mean 'tone'"):
        read(path, question="tonne")


def test_where_labels_do_not_tell_all_columns_stay_coders_and_a_note_asks(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(grid(tone=("war", "money")))
    data = read(path)
    assert data.n_coders == 6
    assert any("2 variables ('frame', 'tone') of 3 coders" in note for note in data.notes)


def test_columns_that_join_two_questions_or_measure_are_of_no_coders(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = "before_joy,before_fear,after_joy,after_fear"
    rows = [f"p{n},2026-01-0{n % 9 + 1},{n % 2},{n // 2 % 2},{n // 4 % 2},1" for n in range(20)]
    path.write_text("\n".join([f"id,date,{names}", *rows]))
    with pytest.raises(AnnotationError, match="they are questions, and no column names the coders"):
        read(path)
    names = "left_x,left_y,right_x,right_y"
    rows = [f"p{n},page {n},{n}.37,{n * 2}.1,{n + 40}.2,{n * 3}.9" for n in range(30)]
    path.write_text("\n".join([f"id,page,{names}", *rows]))
    with pytest.raises(AnnotationError) as caught:
        read(path)
    assert not caught.value.problems[0].choices
    assert caught.value.proposal is None
