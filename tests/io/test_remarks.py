"""What reading says of labels, options and names that are perhaps not what they seem."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import annomodels as am
from annomodels.auditing.answers import read_answers
from annomodels.errors import AnnotationError
from annomodels.io.mappings import item_columns, items_from, rows_about, truths_from, truths_of

Write = Callable[..., Path]


def table(labels: list[str], header: str = "item,coder,label") -> str:
    rows = [f"t{n // 2},{'ab'[n % 2]},{label}" for n, label in enumerate(labels)]
    return "\n".join([header, *rows]) + "\n"


def notes(path: Path, **options: Any) -> str:
    return " ".join(am.read(path, **options).notes)


@pytest.mark.parametrize("word", ["NA", "NULL", "N/A", "-", "None", "nan"])
def test_words_for_no_label_are_named_with_the_option(write: Write, word: str) -> None:
    path = write(table(["yes", "no", word, "no", "yes", word]))
    said = notes(path)
    assert f"perhaps a sign that there is none: {word!r} (2 labels)" in said
    assert f"missing=[{word!r}] leaves it out" in said
    data = am.read(path, missing=[word])
    assert data.labels == ("no", "yes")
    assert "perhaps" not in " ".join(data.notes)
    assert "perhaps" not in notes(path, labels=["yes", "no", word])


def test_words_for_no_truth_are_named(write: Write) -> None:
    text = "item,coder,label,gold\n" + "".join(
        f"t{n},{c},{'xy'[n % 2]},{'NULL' if n else 'x'}\n" for n in range(4) for c in "ab"
    )
    assert "Read as a known truth, but perhaps" in notes(write(text), truth="gold")


def test_minus_one_is_a_label_of_a_scale_around_zero_and_else_may_be_none(write: Write) -> None:
    assert "missing" not in notes(write(table(["-1", "0", "1", "0", "-1", "1"])))
    path = write(table(["-1.0", "3.0", "5.0", "-1.0", "3.0", "3.0", "5.0", "5.0"]))
    assert "missing=['-1.0']" in notes(path)
    data = am.read(path, missing="-1")
    assert data.labels == ("3.0", "5.0")
    assert "no cell holds it" not in " ".join(data.notes)
    assert am.scan(path, missing="-1").n_labels == 2
    plain = write(table(["-1", "3", "5", "-1", "3"]))
    for reader in (am.read, am.scan):
        assert reader(plain, missing="-1.0").labels == ("3", "5")


@pytest.mark.parametrize(("code", "said"), [("99", True), ("-9", True), ("6", False)])
def test_codes_beyond_the_scale(write: Write, code: str, said: bool) -> None:
    path = write(table(["1", "2", "3", "4", "5", code, "1", "2"]))
    assert (f"missing=[{code!r}]" in notes(path, scale="ordinal")) is said


def test_codes_that_were_not_declared_name_the_option_and_leave_the_rest(write: Write) -> None:
    rows = "".join(
        f"t{n},{c},{(n + k) % 3 + 1 if n else 99},{(n + k) % 2}\n"
        for n in range(8) for k, c in enumerate("ab")
    )  # fmt: skip
    path = write("item,coder,tone,frame\n" + rows)
    labels = {"tone": {"scale": "ordinal", "labels": ["1", "2", "3"]}}
    with pytest.raises(AnnotationError) as caught:
        am.read(path, question="tone", codebook=labels)
    assert "missing=['99']" in caught.value.problems[0].remedy
    assert "missing=['99']) reads 7 items × 2 coders" in str(caught.value)
    found = am.read_questions(path, codebook=labels)
    assert "missing=['99'] reads the others" in found.left_out["tone"]
    assert am.read_questions(path, codebook=labels, missing=["99"])["tone"].n_items == 7


def test_options_that_match_nothing_are_named(write: Write) -> None:
    path = write(table(["yes", "no", "no", "yes"]))
    said = notes(path, missing=["zzz"], dont_know=["dunno"], map={"maybe": "yes"})
    for option, word in (("missing", "zzz"), ("dont_know", "dunno")):
        assert f"Given with {option}=, but no cell holds it: {word!r}" in said
    assert "To be recoded, but nobody gave them: 'maybe'" in said
    assert "no cell holds" not in notes(path, missing=["no"])


def test_many_numbers_are_perhaps_a_scale(write: Write) -> None:
    path = write(table([str(n % 41 * 2.5) for n in range(164)]))
    assert "41 different numbers" in notes(path)
    assert "different numbers" not in notes(path, scale="interval")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("Zo\u00eb", "Zoe\u0308"), "how accents are encoded (Unicode NFC and NFD)"),
        (("ana", "ana\u200b"), "invisible characters"),
        (("Ana", "ana"), "case or spaces"),
        (("1", "01"), "the same number"),
    ],
)
def test_names_that_look_alike_are_named_for_what_they_are(
    write: Write, names: tuple[str, str], said: str
) -> None:
    rows = "".join(f"t{n},{name},{'xy'[n % 2]}\n" for n in range(4) for name in names)
    assert said in notes(write(f"item,coder,label\n{rows}"))


def test_items_that_are_one_number_and_signs_nobody_sees(write: Write) -> None:
    text = "item,coder,label\n1,a,x\n01,b,x\n1.0,c,y\n2,a,y\u200b\n2,b,y\u200b\n"
    said = notes(write(text))
    assert "same number: item '01' (1), '1' (1), '1.0' (1)" in said
    assert "'y\\u200b'" in said


def test_few_comments_are_no_question(write: Write) -> None:
    rows = "".join(
        f"t{n},{c},{'xy'[n % 2]},{'vw'[n % 3 % 2]},{f'hard to say {c} {n}' if n < 2 else ''}\n"
        for n in range(9) for c in "ab"
    )  # fmt: skip
    found = am.read_questions(write(f"item,coder,tone,frame,thoughts\n{rows}"))
    assert set(found) == {"tone", "frame"}
    assert "free text" in found.left_out["thoughts"]


def test_blanks_around_names_of_columns_do_not_count(write: Write) -> None:
    path = write(table(["x", "y", "y", "x"], " item , coder,label "))
    assert am.read(path).n_items == 2
    assert am.read(path, item=" item ", label=" label").n_items == 2


def test_files_called_after_parts_of_a_corpus_are_no_coders(tmp_path: Path) -> None:
    for name in ("train", "test", "validation"):
        rows = "".join(f"{name}{n},{'xy'[n % 2]}\n" for n in range(6))
        (tmp_path / f"{name}.csv").write_text(f"item,label\n{rows}", "utf-8")
    with pytest.raises(AnnotationError, match="as parts of a corpus are") as caught:
        am.read(tmp_path)
    assert caught.value.proposal is None
    files = {name: tmp_path / f"{name}.csv" for name in ("train", "test")}
    assert am.read(files).coders == ("test", "train")


# -- items of several columns ----------------------------------------------------------------


@pytest.fixture
def composite() -> am.Annotations:
    rows = [
        (f"q{q}", system, coder, "xy"[(q + n) % 2])
        for q in range(4) for n, system in enumerate(("gpt", "llama")) for coder in "ab"
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["prompt", "system", "judge", "label"])
    return am.Annotations.from_frame(frame, item="prompt,system")


@pytest.mark.parametrize("header", ["prompt,system,label", "system,note,prompt,truth"])
def test_truths_name_items_by_several_columns(
    write: Write, composite: am.Annotations, header: str
) -> None:
    cells = {"prompt": "q{}", "system": "gpt", "label": "x", "truth": "x", "note": "n{}"}
    rows = [",".join(cells[name] for name in header.split(",")).format(q, q) for q in range(3)]
    path = write("\n".join([header, *rows]) + "\n", "truth.csv")
    expected = {f"q{q},gpt": "x" for q in range(3)}
    assert truths_from(path, composite.items) == expected
    assert truths_of(path, composite) == expected
    assert read_answers(composite, path) == expected


def test_columns_about_items_of_several_columns(write: Write) -> None:
    path = write("prompt,system,length\nq1,gpt,10\nq1,llama,20\nq1,gpt,10\n", "items.csv")
    found = item_columns(path, ["length", "system"], "prompt,system")
    assert found["length"] == {"q1,gpt": "10", "q1,llama": "20"}
    assert found["system"]["q1,llama"] == "llama"
    known = ["q1,gpt", "q1,llama"]
    assert item_columns(path, ["length"], items=known)["length"] == found["length"]
    assert items_from(path, items=known) == known
    coders = write("coder,years\na,1\nb,\n", "coders.csv")
    more = write("system,prompt,genre\nllama,q1,x\n", "more.csv")
    rows = rows_about([path, coders, more], known)
    assert rows["coder"] == [{"coder": "a", "years": 1.0}, {"coder": "b", "years": None}]
    assert rows["item"] == [
        {"item": "q1,gpt", "length": 10.0, "genre": None},
        {"item": "q1,llama", "length": 20.0, "genre": "x"},
    ]


def test_truths_by_another_identifier_name_the_column_to_read_by(
    write: Write, composite: am.Annotations
) -> None:
    path = write("ext_id,truth\n900,x\n901,y\n", "truth.csv")
    with pytest.raises(AnnotationError, match="item='ext_id'"):
        truths_of(path, composite)


def test_truths_in_a_workbook(tmp_path: Path, composite: am.Annotations) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "truth.xlsx"
    pd.DataFrame({"item": ["q1,gpt"], "truth": ["x"]}).to_excel(path, index=False)
    assert truths_of(path, composite) == {"q1,gpt": "x"}


def test_soft_labels_go_to_parquet(tmp_path: Path) -> None:
    gold = pd.DataFrame({"item": ["t1"], "label": ["x"], "probability": [0.9], "p_x": [0.9]})
    path = am.write_gold(gold, tmp_path / "gold.parquet", to="parquet")
    assert pd.read_parquet(path)["p_x"].tolist() == [0.9]
