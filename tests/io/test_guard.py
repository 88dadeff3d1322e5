"""Data that can be read, but are not what they seem, are refused; real designs are not."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import annomodels as am
from annomodels import read
from annomodels.errors import AnnotationError, Problem

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(header: str, rows: Iterable[Iterable[object]]) -> Path:
        path = tmp_path / "votes.csv"
        lines = [header, *(",".join(map(str, row)) for row in rows)]
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return path

    return to_file


def the_problem(path: Path, **options: object) -> Problem:
    with pytest.raises(AnnotationError) as caught:
        read(path, **options)  # type: ignore[arg-type]
    (problem,) = caught.value.problems
    return problem


def comparisons() -> list[tuple[object, ...]]:
    dice = random.Random(1)
    pairs = itertools.combinations(("ox", "yak", "elk"), 2)
    return [
        (prompt, a, b, turn, dice.random(), *dice.choices(("left", "right", "tie"), k=2))
        for (a, b), prompt, turn in itertools.product(pairs, range(10), (1, 2))
    ]


# -- repeats ---------------------------------------------------------------------------------


def test_comparisons_named_by_their_prompt_alone_are_refused_with_the_key(write: Write) -> None:
    path = write("prompt,model_a,model_b,turn,seconds,ana,ben", comparisons())
    problem = the_problem(path, item="prompt", coder_columns=["ana", "ben"])
    assert "100 of 120 labels repeat (83 %)" in problem.what
    assert "item='prompt,model_a,model_b,turn'" in problem.remedy
    assert "repeats='all'" in problem.remedy
    assert "seconds" not in problem.remedy
    kept = read(path, item="prompt", coder_columns=["ana", "ben"], repeats="all")
    assert kept.repeats == 100
    told = read(path, item="prompt,model_a,model_b,turn", coder_columns=["ana", "ben"])
    assert (told.n_items, told.repeats) == (60, 0)


def test_questions_whose_items_are_no_items_are_refused_with_the_key(write: Write) -> None:
    dice = random.Random(7)
    rows = [
        (seg, system, coder, dice.choice("xy"), dice.choice("uvw"))
        for seg, system, coder in itertools.product(range(30), ("one", "two", "three"), "ab")
    ]
    path = write("segment,system,coder,tone,topic", rows)
    with pytest.raises(AnnotationError, match="labels repeat") as caught:
        am.read_questions(path, item="segment")
    assert "item='segment,system'" in caught.value.problems[0].remedy
    assert set(am.read_questions(path, item="segment,system")) >= {"tone", "topic"}


def test_the_key_is_found_among_labels_texts_and_numbers_of_rows(write: Write) -> None:
    dice = random.Random(2)
    rows = [
        (n, f"s{seg}", system, f"c{seg % 3}", "a long text that says what it says " * 2, *labels)
        for n, (seg, system) in enumerate(itertools.product(range(40), ("x", "y", "z")))
        for labels in [dice.choices(("good", "bad"), k=2)]
    ]
    path = write("row,segment,system,coder,source,label,other", rows)
    problem = the_problem(path, item="segment")
    assert "item='segment,system'" in problem.remedy
    assert "makes rows unique" in problem.remedy
    assert read(path, item=["segment", "system"]).n_items == 120


def test_where_no_column_is_left_coders_who_contradict_themselves_are_refused(
    write: Write,
) -> None:
    dice = random.Random(3)
    rows = [(n % 10, c, dice.choice("xyz")) for n in range(60) for c in "ab"]
    problem = the_problem(write("item,coder,label", rows))
    assert "No column that is left makes the rows unique" in problem.remedy
    assert read(write("item,coder,label", rows), repeats="all").repeats == 100


def test_items_that_were_shown_again_are_read(write: Write) -> None:
    dice = random.Random(4)
    rows = [
        (n, c, "xyz"[n % 3] if dice.random() < 0.85 else dice.choice("xyz"))
        for n in range(40) for c in "abb"
    ]  # fmt: skip
    data = read(write("item,coder,label", rows))
    assert data.repeats == 40
    assert any("already labeled" in note for note in data.notes)


def test_a_few_repeats_are_only_said(write: Write) -> None:
    rows = [(n, c, "xy"[n % 2], n) for n in range(50) for c in "ab"] + [(1, "a", "x", 99)] * 5
    assert read(write("item,coder,label,page", rows)).repeats == 5


# -- label sets that differ by coder ---------------------------------------------------------


def test_coders_with_codes_beside_coders_with_words(write: Write) -> None:
    words = {"1": "pos", "2": "neg"}
    dice = random.Random(5)
    rows = [
        (n, c, label if c == "ana" else words[label])
        for n in range(10) for c in ("ana", "ben", "cem") for label in [dice.choice("12")]
    ]  # fmt: skip
    path = write("item,coder,label", rows)
    problem = the_problem(path)
    assert "'ana' gave '1', '2'" in problem.what
    assert "'ben', 'cem' gave 'neg', 'pos'" in problem.what
    assert "map=" in problem.remedy
    assert read(path, labels=["1", "2", "pos", "neg"]).n_labels == 4
    mapped = read(path, map={"1": "pos", "2": "neg"})
    assert mapped.labels == ("neg", "pos")


@pytest.mark.parametrize(
    "labels",
    [
        {"f1": ["spam"], "f2": ["ham"], "f3": ["spam"]},  # functions that give one label each
        {"ana": [f"a{n}" for n in range(12)], "ben": [f"b{n}" for n in range(12)]},  # free answers
        {"ana": ["x", "y"], "ben": ["y", "z"], "cem": ["z", "w"]},  # they hang together
    ],
)
def test_designs_in_which_coders_share_no_label(write: Write, labels: dict[str, list[str]]) -> None:
    rows = [(n, c, ls[n % len(ls)]) for n in range(12) for c, ls in labels.items()]
    assert read(write("item,coder,label", rows)).n_coders == len(labels)


def test_coders_of_different_items_may_have_labels_of_their_own(write: Write) -> None:
    rows = [(f"{c}{n}", c, ls[n % 2]) for n in range(12) for c, ls in (("a", "xy"), ("b", "zw"))]
    assert read(write("item,coder,label", rows)).n_labels == 4


def test_measurements_need_no_label_in_common(write: Write) -> None:
    rows = [(n, c, n % 3 + shift) for n in range(12) for c, shift in (("a", 0), ("b", 0.5))]
    assert read(write("item,coder,label", rows), scale="interval").n_labels == 6


# -- label sets that differ by item ----------------------------------------------------------


def test_questions_read_as_items_are_refused(write: Write) -> None:
    sets = {"sex": "mf", "age": "123", "region": "NSWE", "mood": "123"}
    rows = [(q, f"r{r}", ls[r * 7 % len(ls)]) for q, ls in sets.items() for r in range(20)]
    problem = the_problem(write("item,coder,label", rows))
    assert "Label sets differ by item: 2 items ('region', 'sex')" in problem.what
    assert "question=" in problem.remedy
    declared = [*"mf123NSWE"]
    assert read(write("item,coder,label", rows), labels=declared).n_items == 4


def test_copied_words_are_labels_of_their_items(write: Write) -> None:
    dice = random.Random(6)
    rows = [(n, c, f"w{n}-{dice.randrange(8)}") for n in range(30) for c in "abcdef"]
    assert read(write("item,coder,label", rows)).n_items == 30


# -- texts among labels ----------------------------------------------------------------------


def test_one_text_among_hundreds_of_labels_is_left_out_and_listed(write: Write) -> None:
    rows = [(n, c, "xy"[n % 2]) for n in range(100) for c in "ab"]
    rows[6] = (3, "a", "long " * 60)
    data = read(write("item,coder,label", rows))
    assert (len(data), data.labels) == (199, ("x", "y"))
    assert any("longer than 200 characters: 1 label" in note and "row 8" in note
               for note in data.notes)  # fmt: skip
    with pytest.raises(AnnotationError, match="longer than 200 characters"):
        read(write("item,coder,label", rows[:50]))


def test_a_variable_with_one_text_is_a_variable(write: Write) -> None:
    rows = [(n, c, "xy"[n % 2], "uv"[n % 2]) for n in range(100) for c in "ab"]
    rows[6] = (3, "a", "x", "long " * 60)
    assert read(write("item,coder,tone,topic", rows), question="topic").labels == ("u", "v")


# -- recoding --------------------------------------------------------------------------------


def test_labels_are_recoded_and_known_truths_with_them(write: Write) -> None:
    rows = [
        (n, c, label, "Tie") for n in range(6) for c, label in (("a", "Tie"), ("b", "01"[n % 2]))
    ]
    data = read(write("item,coder,label,truth", rows), truth="truth", map={"Tie": "0", "Tei": "1"})
    assert data.labels == ("0", "1")
    assert data.gold is not None
    assert set(data.gold) == {0}
    assert any("'Tei'" in note for note in data.notes)
    with pytest.raises(AnnotationError, match="All 3 labels become '1'"):
        read(write("item,coder,label,truth", rows), map={"Tie": "1", "0": "1"})
    with pytest.raises(AnnotationError, match=r"missing=\['Tie'\]"):
        read(write("item,coder,label,truth", rows), map={"Tie": ""})


def test_repeats_first_counts_one_label_of_each_coder_on_an_item(write: Write) -> None:
    rows = [(f"i{n}", coder, label) for n in range(20) for coder in "ab" for label in "xy"]
    path = write("item,coder,label", rows)
    with pytest.raises(AnnotationError) as error:
        read(path)
    assert "repeats='first'" in str(error.value)
    once = read(path, repeats="first")
    assert once.repeats == 0
    assert len(once) == 40
    assert once.labels[once.label[0]] == "x"
    assert "40 repeats of a coder left out (first label kept)." in once.notes
    with pytest.raises(AnnotationError, match="repeats='all'"):
        am.scan(path, repeats="first")
