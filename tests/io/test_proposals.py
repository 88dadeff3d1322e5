"""A refusal ends with a command that was tried: run here, it gives what the refusal promised."""

from __future__ import annotations

import itertools
import json
import random
import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import annomodels as am
from annomodels.cli.main import main
from annomodels.errors import AnnotationError

WORDS = ("pos", "neg", "neu")
Shape = Callable[[random.Random], tuple[str, list[Any], list[list[Any]]]]


def vote(dice: random.Random, n: int) -> str:
    return WORDS[n % 3] if dice.random() < 0.8 else dice.choice(WORDS)


def by_coder(dice: random.Random, header: str, cells: Callable[[int, int], list[Any]]) -> Any:
    """Three of nine coders for each of 30 items, one row each."""
    rows = [cells(n, k) for n in range(30) for k in sorted(dice.sample(range(9), 3))]
    return header.split(","), rows


# header and rows of files as people have them, and the options that read them
SHAPES: dict[str, tuple[Callable[[random.Random], Any], dict[str, Any], tuple[int, int, int]]] = {
    "annotator_0": (
        lambda d: (
            ["post_id", "text", "annotator_0", "annotator_1", "annotator_2"],
            [[f"p{n}", f"a post number {n}", *(vote(d, n) for _ in "abc")] for n in range(30)],
        ),
        {"item": "post_id", "coder_columns": ("annotator_0", "annotator_1", "annotator_2")},
        (30, 3, 90),
    ),
    "label1": (
        lambda d: (
            ["gold_label", "sentence1", "sentence2", "pairID", "label1", "label2", "label3"],
            [
                [WORDS[n % 3], f"s {n // 3}", f"t {n}", f"pair{n}", *(vote(d, n) for _ in "abc")]
                for n in range(30)
            ],
        ),
        {"item": "pairID", "coder_columns": ("label1", "label2", "label3")},
        (30, 3, 90),
    ),
    "art_id": (
        lambda d: by_coder(d, "art_id,worker_id,sentiment", lambda n, k: [n, k, vote(d, n)]),
        {"item": "art_id", "coder": "worker_id", "label": "sentiment"},
        (30, 9, 90),
    ),
    "about coders": (
        lambda d: by_coder(
            d,
            "case_id,text,annotator_id,annotator_age,annotator_sex,toxic",
            lambda n, k: [f"c{n}", f"text {n}", f"a{k}", 20 + k, "mf"[k % 2], vote(d, n)],
        ),
        {"item": "case_id", "coder": "annotator_id", "label": "toxic"},
        (30, 9, 90),
    ),
    "several columns": (
        lambda d: (
            ["dialog_id", "turn_id", "speaker", "annotator", "act"],
            [
                [f"d{n // 5}", n % 5, "AB"[n % 2], f"c{k}", vote(d, n)]
                for n in range(30) for k in range(3)
            ],
        ),
        {"item": "dialog_id,turn_id", "coder": "annotator", "label": "act"},
        (30, 3, 90),
    ),
    "column of questions": (
        lambda d: (
            ["essay", "criteriaID", "grader", "score"],
            [
                [f"e{n}", q, f"g{k}", d.randint(1, 5)]
                for n in range(30) for q in ("C1", "C2") for k in range(3)
            ],
        ),
        {
            "item": "essay",
            "coder": "grader",
            "label": "score",
            "question_column": "criteriaID",
            "question": "C1",
        },
        (30, 3, 90),
    ),
    "no header": (
        lambda d: by_coder(d, "q0,ann1,pos", lambda n, k: [f"q{n}", f"ann{k}", vote(d, n)]),
        {"columns": ("item", "coder", "label")},
        (30, 9, 91),
    ),
    "comments beside": (
        lambda d: (
            ["Subject", "rater_1", "rater_2", "comments", "Final"],
            [
                [f"s{n}", vote(d, n), vote(d, n), f"not easy, for {n}" * (n % 4 == 0), WORDS[n % 3]]
                for n in range(30)
            ],
        ),
        {"item": "Subject", "coder_columns": ("rater_1", "rater_2")},
        (30, 2, 60),
    ),
    "times first": (
        lambda d: by_coder(
            d,
            "Timestamp,Message ID,Reviewer,Verdict (ok/bad)",
            lambda n, k: [f"2026-01-0{1 + k} 10:{n:02}", f"m{n}", f"rev{k}", vote(d, n)],
        ),
        {"item": "Message ID", "coder": "Reviewer", "label": "Verdict (ok/bad)"},
        (30, 9, 90),
    ),
    "numbered names of coders in cells": (
        lambda d: by_coder(d, "art_id,who,sentiment", lambda n, k: [n, f"Ann. {k}", vote(d, n)]),
        {"item": "art_id", "coder": "who", "label": "sentiment"},
        (30, 9, 90),
    ),
    "no column of items": (
        lambda d: (["kim", "lou", "mia"], [[vote(d, n) for _ in "abc"] for n in range(30)]),
        {"coder_columns": ("kim", "lou", "mia")},
        (30, 3, 90),
    ),
    "no header, sessions": (
        lambda d: by_coder(
            d, "8731,a1x,pos", lambda n, k: [8700 + n, f"{'abcdefghi'[k]}{k}y", vote(d, n)]
        ),
        {"columns": ("item", "coder", "label")},
        (31, 10, 91),
    ),
    "pairs": (
        lambda d: (
            ["question_id", "model_a", "model_b", "judge", "winner"],
            [
                [n // 2, *(("x", "y"), ("y", "z"))[n % 2], f"j{k}", vote(d, n)]
                for n in range(30) for k in range(3)
            ],
        ),
        {"item": "question_id,model_a", "coder": "judge", "label": "winner"},
        (30, 3, 90),
    ),
    "a part of an identifier": (
        lambda d: (
            ["sent_id", "sys_name", "rater_id", "simplicity"],
            [
                [n // 3, f"sys{n % 3}", k, d.randint(-2, 2)] for n in range(30) for k in range(3)
            ],
        ),
        {"item": "sent_id,sys_name", "coder": "rater_id", "label": "simplicity"},
        (30, 3, 90),
    ),
    "coders in the middle of names": (
        lambda d: (
            ["paperID", "AttributeId", "Coder1Text", "Coder2Text"],
            [[f"p{n // 6}", n % 6, *(d.randint(0, 1) for _ in "ab")] for n in range(30)],
        ),
        {"item": "paperID,AttributeId", "coder_columns": ("Coder1Text", "Coder2Text")},
        (30, 2, 60),
    ),
    "a conclusion beside": (
        lambda d: (
            ["key", "title", "c1_e", "c2_e", "e_final", "class_e", "note_of_c1", "note_of_c2"],
            [
                [f"k{n}", f"a title {n}", vote(d, n), vote(d, n), WORDS[n % 3], "x", "", ""]
                for n in range(30)
            ],
        ),
        {"item": "key", "coder_columns": ("c1_e", "c2_e"), "truth": "e_final"},
        (30, 2, 60),
    ),
    "told by age and sex": (
        lambda d: by_coder(
            d,
            "survey_record,sentence_id,label,age,gender",
            lambda n, k: [f"r{k}", f"s{n}", vote(d, n), 20 + k % 4, "mf"[k % 2]],
        ),
        {"item": "sentence_id", "coder": "survey_record", "label": "label"},
        (30, 9, 90),
    ),
    "what a panel knows of people": (
        lambda d: by_coder(
            d,
            "User ID,Meme ID,Politcal Party,Ethnicity simplified,hatespeech",
            lambda n, k: [k, n, "ab"[(n + k) % 7 % 2], "xy"[n * k % 2], vote(d, n)],
        ),
        {"item": "Meme ID", "coder": "User ID", "label": "hatespeech"},
        (30, 9, 90),
    ),
    "items in a column of questions": (
        lambda d: by_coder(
            d, "physician_id,question,decision,confidence",
            lambda n, k: [k, n, vote(d, n), d.randint(1, 10)],
        ),
        {"item": "question", "coder": "physician_id", "label": "decision"},
        (30, 9, 90),
    ),
    "the subject of an experiment": (
        lambda d: by_coder(
            d, "url,page_order,rating,subject",
            lambda n, k: [f"{n}.wav", d.randint(1, 9), d.randint(0, 9), k],
        ),
        {"item": "url", "coder": "subject", "label": "rating"},
        (30, 9, 90),
    ),
    "people in columns": (
        lambda d: (
            ["id", "text", "year", "Anna", "Ben", "Clara", "comment"],
            [
                [n, f"some text {n}", 1990 + d.randint(0, 30),
                 *(n % 2 if d.random() < 0.9 else 1 - n % 2 for _ in "abc"), "hm" * (n % 9 == 0)]
                for n in range(60)
            ],
        ),
        {"item": "id", "coder_columns": ("Anna", "Ben", "Clara")},
        (60, 3, 180),
    ),
    "judges called after models": (
        lambda d: (
            ["id", "response_a", "response_b", "gpt4_pref", "claude_pref", "human_pref"],
            [[n, f"so {n} a", f"so {n} b", *(vote(d, n) for _ in "abc")] for n in range(30)],
        ),
        {"item": "id", "coder_columns": ("gpt4_pref", "claude_pref", "human_pref")},
        (30, 3, 90),
    ),
    **{
        f"{stem}1": (
            lambda d, stem=stem: (
                ["№", "文本", f"{stem}1", f"{stem}2"],
                [[f"x{n}", f"a text {n}", vote(d, n), vote(d, n)] for n in range(30)],
            ),
            {"item": "№", "coder_columns": (f"{stem}1", f"{stem}2")},
            (30, 2, 60),
        )
        for stem in ("Anotador ", "Эксперт ", "标注员")
    },
    "participants in the name of an item": (
        lambda d: (
            ["participantid", "itemid", "strategy_text", "tag_ann1", "tag_ann2"],
            [
                [f"p{n // 3}", n % 3, f"so {n % 28}", vote(d, n), vote(d, n)] for n in range(30)
            ],
        ),
        {"item": "participantid,itemid", "coder_columns": ("tag_ann1", "tag_ann2")},
        (30, 2, 60),
    ),
    "outputs of several systems": (
        lambda d: (
            ["model", "pairID", "worker_id", "rating_label"],
            [
                [m, f"q{n}", f"w{(3 * n + 7 * k + d.randint(0, 1) * (m == 'x')) % 40}", vote(d, n)]
                for n in range(20) for m in "xy" for k in range(3)
            ],
        ),
        {"item": "pairID,model", "coder": "worker_id", "label": "rating_label"},
        (40, 40, 120),
    ),
    "what was shown beside what was asked": (
        lambda d: by_coder(
            d, "Annotator,Text,Emotion,clarity",
            lambda n, k: [k, f"text {n}", WORDS[n % 3], d.randint(1, 5)],
        ),
        {"item": "Text", "coder": "Annotator", "label": "clarity"},
        (30, 9, 90),
    ),
    "labels called after their coders": (
        lambda d: (
            ["kim (judge)", "kim (comment)", "lou (judge)", "lou (comment)", "nid"],
            [[vote(d, n), "hm", vote(d, n), "so" * (n % 2), 500 + n] for n in range(30)],
        ),
        {"item": "nid", "coder_columns": ("kim (judge)", "lou (judge)")},
        (30, 2, 60),
    ),
    "numbered coders, means, a column without a name": (
        lambda d: (
            ["part", "", "url", "A1 mean", "A2 mean", "A1 tone", "A2 tone"],
            [
                ["x", f"a title {n}", f"u{n}", f"{n % 9 / 3:.2f}", f"{n % 7 / 3:.2f}",
                 *(vote(d, n) for _ in "ab")]
                for n in range(30)
            ],
        ),
        {"item": "url", "coder_columns": ("A1 tone", "A2 tone")},
        (30, 2, 60),
    ),
}  # fmt: skip


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Iterable[Any], Iterable[Iterable[Any]]], Path]:
    def to_file(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> Path:
        from annomodels.io.tables.delimited import text_of

        path = tmp_path / "votes.csv"
        path.write_text(text_of([list(header), *(list(map(str, row)) for row in rows)]), "utf-8")
        return path

    return to_file


@pytest.mark.parametrize("name", SHAPES)
def test_a_refusal_names_options_that_read(write: Any, name: str) -> None:
    make, options, (items, coders, labels) = SHAPES[name]
    path = write(*make(random.Random(1)))
    with pytest.raises(AnnotationError) as caught:
        am.read(path)
    proposal: Any = caught.value.proposal
    assert dict(proposal.new) == options
    data = am.read(path, **proposal.new)
    assert (data.n_items, data.n_coders, len(data)) == (items, coders, labels)
    assert proposal.gives.startswith(f"{items} items × {coders} coders × ")
    assert f"annomodels.read({str(path)!r}" in str(caught.value) or "votes.csv" in str(caught.value)


@pytest.mark.parametrize("name", SHAPES)
def test_the_command_works_when_pasted(
    write: Any, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make, _, (items, coders, labels) = SHAPES[name]
    path = write(*make(random.Random(1)))
    assert main(["check", str(path), "--json"]) == 3
    error = capsys.readouterr().err
    command = re.search(r"^  try:   annomodels (.*)$", error, re.MULTILINE)
    assert command is not None, error
    assert main(shlex.split(command[1])) == 0
    about = json.loads(capsys.readouterr().out)
    facts = [about["checks"][name]["value"] for name in ("items", "coders", "labels_given")]
    assert facts == [items, coders, labels]


def test_a_proposal_keeps_what_was_said_and_replaces_what_was_wrong(
    write: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    make, _, _ = SHAPES["several columns"]
    path = write(*make(random.Random(1)))
    words = ["check", str(path), "--item", "dialog_id", "--coder", "annotator", "--label", "act"]
    assert main([*words, "--scale", "nominal"]) == 3
    error = capsys.readouterr().err
    assert "--scale nominal --item dialog_id,turn_id\n" in error
    assert error.count("--item dialog_id") == 2  # in the fix, and in the command
    assert "reads 30 items × 3 coders × 3 labels, 90 annotations" in error


def test_a_column_that_is_not_there_is_replaced(write: Any) -> None:
    path = write(*SHAPES["art_id"][0](random.Random(1)))
    proposal: Any = refusal(path, item="article", coder="worker_id").proposal
    assert dict(proposal.new) == {"item": "art_id", "label": "sentiment"}
    assert dict(proposal.reading) == {**proposal.new, "coder": "worker_id"}


def test_large_files_are_refused_without_trying(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annomodels.io import proposals

    monkeypatch.setattr(proposals, "LARGEST", 100)
    assert refusal(write(*SHAPES["art_id"][0](random.Random(1)))).proposal is None


def test_standard_input_is_read_once(
    write: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(*SHAPES["art_id"][0](random.Random(1)))
    with path.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert main(["check", "-"]) == 3
    assert "annomodels check - --coder worker_id --item art_id" in capsys.readouterr().err


# -- what must not be proposed ---------------------------------------------------------------


def refusal(path: Path, **options: Any) -> AnnotationError:
    with pytest.raises(AnnotationError) as caught:
        am.read(path, **options)
    return caught.value


def test_counts_of_classes_are_no_coders(write: Any) -> None:
    dice = random.Random(1)
    rows = []
    for n in range(40):
        total = dice.choice((3, 6))
        first = dice.randint(0, total)
        second = dice.randint(0, total - first)
        rows.append([n, total, first, second, total - first - second, 0, f"text of {n}"])
    path = write(["", "count", "hate_speech", "offensive_language", "neither", "class", "t"], rows)
    error = refusal(path)
    assert "add up to 'count' in every row" in error.problems[0].what
    assert error.proposal is None
    # sums that are a rating like others are no reason to refuse
    path = write(["item", "ana", "ben"], [[n, 1 + n % 3, 1 + n % 2] for n in range(12)])
    assert am.read(path).n_coders == 2


def test_columns_called_after_what_was_counted_are_no_coders(write: Any) -> None:
    dice = random.Random(1)
    rows = [[n, *(dice.randint(0, 3) for _ in range(4))] for n in range(20)]
    error = refusal(write(["id", "votes_no", "votes_1", "votes_2", "votes_3"], rows))
    assert "are called so: they count the labels" in error.problems[0].what
    assert am.read(write(["id", "votes_1", "votes_2", "votes_3", "votes_4"], rows)).n_coders == 4


def test_pairs_of_identifiers_are_no_labels(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("".join(f"{n},{(n * 7) % 1500}\n" for n in range(1500)))
    assert "look like identifiers" in refusal(path).problems[0].what
    assert am.read(path, format="matrix").n_coders == 2


def test_what_is_known_of_coders_and_the_condition_of_a_trial_are_no_labels(write: Any) -> None:
    dice = random.Random(1)
    rows = [[f"h{n}", dice.choice(("low", "high")), n % 4] for n in range(40)]
    assert refusal(write(["rater_id", "rater_category", "rho"], rows)).proposal is None
    rows = [
        [k, 37.5 * n + dice.random(), WORDS[n % 3], f"i{n}.png"]
        for n in range(90) for k in range(3)
    ]  # fmt: skip
    proposal: Any = refusal(
        write(["participant", "value", "quantifier", "img_name"], rows)
    ).proposal
    assert dict(proposal.new)["label"] == "value"


def test_a_file_may_call_its_labels_otherwise(tmp_path: Path) -> None:
    dice = random.Random(1)
    for who, column in (("kim", "label"), ("lou", "label"), ("max", "outcome")):
        rows = "".join(f"t{n},{vote(dice, n)}\n" for n in range(30))
        (tmp_path / f"{who}.csv").write_text(f"item,{column}\n{rows}")
    error = refusal(tmp_path, item="item")
    assert "Name it with" in error.problems[0].remedy
    new: Any = error.proposal
    assert dict(new.new) == {"label": "outcome"}
    assert am.read(tmp_path, **new.reading).n_coders == 3
    assert len(refusal(tmp_path, label="outcom").problems) == 2


def test_a_folder_of_a_file_for_each_coder_is_read_as_proposed(tmp_path: Path) -> None:
    dice = random.Random(1)
    for who in ("kim", "lou"):
        rows = [f"{n},we said {n},{who} thinks {n},{vote(dice, n)}" for n in range(30)]
        text = "\n".join(["line,statement,comments,tone", *rows])
        (tmp_path / f"{who}.csv").write_text(text + "\n")
    new: Any = refusal(tmp_path).proposal
    assert "tone" in dict(new.new).values()
    assert am.read(tmp_path, **new.reading).n_coders == 2


def test_the_question_with_most_answers_is_proposed(write: Any) -> None:
    dice = random.Random(1)
    rows = [
        [f"H{n}", f"W{k}", "good" if k + n == 0 else "", dice.choice("sab")]
        for n in range(20) for k in range(3)
    ]  # fmt: skip
    new: Any = refusal(write(["HITId", "WorkerId", "Answer.comment", "Answer.radio"], rows))
    assert dict(new.proposal.new) == {"question": "radio"}


def test_columns_called_after_people_are_the_coders(write: Any) -> None:
    dice = random.Random(1)
    people = ["kim@site.org", "lou@site.org"]
    rows = [[f"http://x.org/{n}", vote(dice, n), vote(dice, n), n % 2] for n in range(30)]
    new: Any = refusal(write(["video", *people, "match"], rows)).proposal
    assert dict(new.new) == {"coder_columns": tuple(people), "item": "video"}


def test_columns_of_a_tool_are_not_replaced_where_label_sets_differ(write: Any) -> None:
    rows = [
        [n, 100 * n + k, k, f"{'ab'[k * (n + 1) % 5 % 2]}{n} treats", "treats", f"s{n}"]
        for n in range(8) for k in range(10)
    ]  # fmt: skip
    header = ["_unit_id", "_id", "_worker_id", "direction", "relation", "sentence"]
    error = refusal(write(header, rows))
    assert "Label sets differ by item" in error.problems[0].what
    assert error.proposal is None


def test_marked_text_and_other_encodings_are_read_as_proposed(tmp_path: Path) -> None:
    for coder, end in (("ana", 4), ("ben", 9)):
        for n in range(8):
            path = tmp_path / "brat" / coder / f"d{n}.ann"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".txt").write_text("Haag plays in Paris.")
            marks = f"T1\tPER 0 {end if n % 3 else 4}\tx\nT2\tLOC 14 19\tParis\n"
            path.write_text(marks)
    assert dict(refusal(tmp_path / "brat").proposal.new) == {"units": "exact"}  # type: ignore[attr-defined]
    rows = "".join(f"t{n},{c},{'só' if n % 2 else 'não'}\n" for n in range(9) for c in "ab")
    (tmp_path / "votes.csv").write_text("item,coder,label\n" + rows, encoding="cp1252")
    new = refusal(tmp_path / "votes.csv").proposal.new  # type: ignore[attr-defined]
    assert dict(new) == {"encoding": "cp1252"}


def test_names_of_coders_beside_their_labels_are_the_coders(write: Any) -> None:
    dice = random.Random(1)
    rows = [
        [n, *itertools.chain(*((f"w{k}", vote(dice, n)) for k in dice.sample(range(9), 2)))]
        for n in range(30)
    ]
    header = ["sentence_id", "annotator1", "label1", "annotator2", "label2"]
    named = [[row[0], f"text {row[0]}", *row[1:]] for row in rows]
    beside = am.read(write([header[0], "text", *header[1:]], named))
    assert (beside.n_items, beside.n_coders, len(beside)) == (30, 9, 60)
    path = write(header, rows)
    data = am.read(path)
    assert (data.n_items, data.n_coders, len(data)) == (30, 9, 60)
    assert set(data.coders) == {f"w{k}" for k in range(9)}
    assert (data.items[0], data.coders[data.coder[0]]) == ("0", min(rows[0][1], rows[0][3]))


def test_one_row_for_each_item_and_one_coder_is_no_way_out(write: Any) -> None:
    path = write(["post_id", "coder_name", "label"], [[n, "ana", n % 2] for n in range(20)])
    assert refusal(path).proposal is None


def test_a_key_is_said_to_make_rows_unique_only_if_it_does(write: Any) -> None:
    dice = random.Random(1)
    rows = [[n // 4, n % 4, k, vote(dice, n)] for n in range(400) for k in "ab"]
    path = write(["doc", "seg", "coder", "label"], rows)
    assert "makes rows unique" in refusal(path, item="doc").problems[0].remedy
    path = write(["doc", "seg", "coder", "label"], [*rows, *rows[:2]])
    remedy = refusal(path, item="doc").problems[0].remedy
    assert "makes rows unique" not in remedy
    assert "0.2 % would still repeat" in remedy


@pytest.mark.parametrize(
    ("header", "row", "said"),
    [
        ("id,reply,quality", lambda n: [n // 2, f"a reply {n}", n % 3], "No column seems to name"),
        ("id,text,annotator,q1", lambda n: [n, f"t {n}", "kim", n % 2], "coder only, 'kim'."),
        ("rater,item1,item2", lambda n: [f"r{n}", "xy"[n % 2], "yx"[n % 2]], "coder in every row."),
        ("doc_id,rater,tone", lambda n: [f"d{n}", "abc"[n % 3], n % 2], "No items seem to have"),
    ],
)
def test_a_table_without_labels_of_several_coders_is_said_to_be_one(
    write: Any, header: str, row: Callable[[int], list[Any]], said: str
) -> None:
    path = write(header.split(","), [row(n) for n in range(30)])
    error = refusal(path)
    assert said in error.problems[-1].what
    assert "not found: the columns are" in error.problems[-1].what
    assert error.proposal is None
    assert said not in refusal(path, coder="x").problems[0].what  # who names a coder knows better


def test_boxes_and_ratings_that_agree_are_no_coders_if_their_names_say_what_was_asked(
    write: Any,
) -> None:
    dice = random.Random(1)
    for names in (["accepted_top1", "model_was_right"], ["solvability", "mac"]):
        rows = [[n, f"t {n}", k := n % 2, k ^ (dice.random() < 0.1), n] for n in range(60)]
        assert refusal(write(["id", "text", *names, "time"], rows)).proposal is None


def test_ratings_of_criteria_by_numbered_coders_are_questions(write: Any) -> None:
    header = ["id", *(f"{name}_{k}" for name in ("fluency", "coherence") for k in (1, 2))]
    rows = [[f"d{n}", *(1 + (n + k) % 5 for k in range(4))] for n in range(30)]
    error = refusal(write(header, rows))
    assert error.problems[0].choices == ("coherence", "fluency")
    assert am.read(write(header, rows), question="fluency").n_coders == 2


def test_numbers_of_rows_and_texts_that_repeat_name_no_items(tmp_path: Path) -> None:
    dice = random.Random(1)
    for who in ("kim", "lou"):
        order = dice.sample(range(30), 30)
        rows = [[k, f"c{n}", f"text {n % 29}", vote(dice, n)] for k, n in enumerate(order)]
        text = "\n".join(",".join(map(str, row)) for row in rows)
        (tmp_path / f"{who}.csv").write_text(f"Unnamed: 0,commit,message,emotion\n{text}\n")
    new: Any = refusal(tmp_path).proposal
    data = am.read(tmp_path, **new.reading)
    assert (data.n_items, data.items[0], len(data)) == (30, "c0", 60)


# -- what a file is that cannot be read ------------------------------------------------------

CASES = json.loads((Path(__file__).parents[1] / "cases" / "refused_files.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_refused_file_has_a_way_out_or_is_told_for_what_it_is(case: Any, tmp_path: Path) -> None:
    path = tmp_path / ("export.json" if case["text"][0] in "{[" else "export.csv")
    path.write_bytes(case["text"].encode(case["encoding"]))
    error: Any = refusal(path)
    if isinstance(case["found"], str):
        assert case["found"] in str(error)
        assert error.proposal is None
    else:
        assert json.loads(json.dumps(error.proposal.new)) == case["found"]
        assert len(am.read(path, **case["found"])) in (case.get("n", 60), 90)
