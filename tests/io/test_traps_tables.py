"""Traps of the exports that are tables: each is left out, counted, explained or refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annomodels import read, scan
from annomodels.errors import AnnotationError
from tests.io.asked import refused, rows

Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    def write(text: str, name: str = "export.csv") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


# -- Label Studio tables -------------------------------------------------------------------------

LS = "id,text,mood,tone,annotator,annotation_id,lead_time\n"


def test_label_studio_tables_find_the_question_that_varies(put: Put) -> None:
    path = put(LS + "1,t,x,k,a,1,1\n1,t,y,k,b,2,1\n2,u,x,k,a,3,1\n")
    assert rows(read(path)) == [("1", "a", "x"), ("1", "b", "y"), ("2", "a", "x")]
    both = put(LS + "1,t,x,k,a,1,1\n1,t,y,m,b,2,1\n")
    assert "2 questions: 'mood'" in refused(both)
    assert read(both, question="tone").labels == ("k", "m")
    same = put(LS + "1,t,x,k,a,1,1\n1,t,x,k,b,2,1\n")
    assert "No column varies" in refused(same)
    assert read(same, label="mood").labels == ("x",)


def test_label_studio_tables_hold_lists_as_json(put: Put) -> None:
    path = put(LS + '1,t,"[""x"",""y""]",k,a,1,1\n1,t,"{""choices"":[""y""]}",k,b,2,1\n')
    assert read(path).labels == ("x|y", "y")
    spans = put(LS + '1,t,"[{""start"":0,""end"":1}]",k,a,1,1\n1,t,[],k,b,2,1\n')
    assert "marked stretches" in refused(spans)


# -- Mechanical Turk -----------------------------------------------------------------------------


def test_mturk_without_answers_is_the_wrong_file(put: Put) -> None:
    assert "results of the batch" in refused(put("HITId,WorkerId,Input.x\nh,w,1\n"))


def test_turkle_names_its_users(put: Put) -> None:
    text = "HITId,WorkerId,Turkle.Username,Input.x,Answer.q\nh,1,ana,1,y\nh,2,ben,1,n\n"
    assert read(put(text)).coders == ("ana", "ben")


def test_mturk_several_items_in_a_task_are_numbered(export: Any) -> None:
    path, _ = export("mturk_several")
    assert read(path).items == ("H#1", "H#2")


def test_mturk_two_questions_and_one_downloaded_twice(put: Put) -> None:
    head = "HITId,AssignmentId,WorkerId,AssignmentStatus,Answer.q1.label,Answer.note\n"
    line = "h,1,a,Approved,x,fine\n"
    path = put(head + line + line + "h,2,b,Submitted,y,\n")
    assert "2 questions: 'note' (1 label), 'q1' (2 labels)" in refused(path)
    data = read(path, question="q1")
    assert rows(data) == [("h", "a", "x"), ("h", "b", "y")]
    assert any("repeat" in note for note in data.notes)


def test_mturk_boxes_of_two_questions(put: Put) -> None:
    head = "HITId,WorkerId,Answer.q.on,Answer.q.off,Answer.r.on,Answer.r.off\n"
    path = put(head + "h,a,true,false,true,true\nh,b,false,true,false,false\n")
    assert rows(read(path, question="q")) == [("h", "a", "on"), ("h", "b", "off")]
    data = read(path, question="r")
    assert (data.labels, data.skips) == (("off|on",), 1)


def test_mturk_lists_of_objects_are_no_labels(put: Put) -> None:
    marked = "\"[{'sure': {'yes': True, 'no': False}, 'spans': {'entities': [{'start': 0}]}}]\""
    head = "HITId,WorkerId,Answer.taskAnswers,spot\n"
    data = read(put(f"{head}h,a,{marked},1\nh,b,{marked},2\n"))
    assert rows(data) == [("h", "a", "yes"), ("h", "b", "yes")]
    assert any("answers in 'spans' are lists of objects with 'start'" in n for n in data.notes)
    path = put('HITId,WorkerId,Answer.x,spot\nh,a,"[{""at"": 3}]",1\nh,b,"[{""at"": 4}]",2\n')
    assert "The answers in 'x' are lists of objects with 'at'" in refused(path)
    assert read(path, item="HITId", coder="WorkerId", label="spot").labels == ("1", "2")
    assert "no objects of JSON" in refused(put(head + "h,a,?,1\nh,b,?,2\n"))


# -- Toloka --------------------------------------------------------------------------------------


def test_toloka_aggregated_is_refused(put: Put) -> None:
    text = refused(put("INPUT:id\tOUTPUT:q\tCONFIDENCE:q\nt\tx\t90%\n", "a.tsv"))
    assert "aggregated result" in text
    assert "Download the assignments" in text


def test_toloka_states_and_items_without_a_number(put: Put) -> None:
    head = "INPUT:a\tINPUT:b\tOUTPUT:q\tASSIGNMENT:worker_id\tASSIGNMENT:status\n"
    body = (
        "1\tx\tyes\tw1\tAPPROVED\n1\ty\tno\tw1\tSKIPPED\n1\tx\tno\tw2\tREJECTED\n1\tx\tno\tw3\t\n"
    )
    data = read(put(head + body, "a.tsv"))
    assert rows(data) == [("1 | x", "w1", "yes"), ("1 | x", "w3", "no")]
    assert data.skips == 1
    assert any("named by their inputs" in note for note in data.notes)


# -- Appen ---------------------------------------------------------------------------------------


def test_appen_aggregated_is_refused(put: Put) -> None:
    text = refused(put("_unit_id,_golden,q,q:confidence\n1,false,x,.9\n"))
    assert "aggregated report" in text
    assert "'Full'" in text


def test_appen_gold_several_answers_and_questions_that_vary(put: Put) -> None:
    head = "_unit_id,_worker_id,_golden,_tainted,_ip,q,q_gold,colour\n"
    body = '1,a,true,false,9.9.9.9,x,"x\ny",red\n1,b,true,false,9.9.9.9,"x\ny","x\ny",red\n'
    data = read(put(head + body))
    assert data.labels == ("x", "x|y")
    assert data.gold is None
    assert any("several answers" in note for note in data.notes)
    text = "_unit_id,_worker_id,_tainted,q,colour\n1,a,false,x,red\n1,b,false,y,red\n"
    assert read(put(text)).labels == ("x", "y")


# -- plain tables --------------------------------------------------------------------------------


def test_patterns_with_counts_are_refused_and_a_coder_may_be_called_n(put: Put) -> None:
    assert "each row is a pattern" in refused(put("r1,r2,n\n1,1,3\n1,2,2\n"))
    numbered = put("id,r1,n\n7,1,2\n8,2,2\n9,1,1\n")
    assert read(numbered).coders == ("n", "r1")


def test_another_format_is_not_forced_upon_a_file(put: Put) -> None:
    path = put("item,coder,label\nt,a,x\nt,b,y\n")
    assert "recognised by: columns that begin with ASSIGNMENT:" in refused(path, format="toloka")
    assert "no marked stretches" in refused(path, units="exact")
    aggregated = put("_unit_id,q,q:confidence\n1,x,.9\n", "report.csv")
    assert "aggregated report" in refused(aggregated, format="appen")


def test_boxes_called_after_what_was_asked_are_no_coders(put: Put) -> None:
    wide = [f"c{n},{n % 2},{n % 3 == 0:d},{n % 5 == 0:d}" for n in range(40)]
    phrases = "id,says who is meant (1/0),1 goal is stated here,toxic\n"
    for header in (phrases, "id,toxic,obscene,insult\n"):
        path = put(header + "\n".join(wide) + "\n")
        with pytest.raises(AnnotationError, match="are questions, and no column names the coders"):
            read(path)
    assert read(path, format="wide").n_coders == 3
    lines = [f"c{n},w{k},{(n + k) % 2},{(n * k) % 3 == 0:d}" for n in range(20) for k in range(3)]
    path = put("post_id,annotator_name,toxic,obscene\n" + "\n".join(lines) + "\n")
    with pytest.raises(AnnotationError) as refused:
        read(path)
    assert "reads 20 items × 3 coders" in str(refused.value)


# -- tables whose columns look like coders, and are none -------------------------------------------


def test_measurements_and_means_are_not_read_as_coders(put: Put) -> None:
    means = put(
        "name,CONT,INTG,DMNR\n"
        + "".join(
            f"j{n},{5 + n * 0.3:.1f},{8 - n * 0.2:.1f},{7 + n * 0.1:.1f}\n" for n in range(12)
        )
    )
    assert "numbers with fractions, such as" in refused(means)
    assert "measurements or means" in refused(means)
    assert read(means, format="wide").n_coders == 3
    scales = "".join(f"{n},{n * 5 % 90},{900 + n * 7 % 80},{n % 3}\n" for n in range(30))
    wide = put("item,weight,height,age\n" + scales)
    assert "on different scales" in refused(wide)
    assert "on different scales" in refused(put(scales.replace("\n", ".5\n")))
    halves = "".join(f"{n},{n % 25 / 2},{(n + n % 2) % 25 / 2},{n % 23 / 2}\n" for n in range(60))
    assert read(put("item,ana,ben,cem\n" + halves)).n_coders == 3


@pytest.mark.parametrize("name", ["결론", "最终标签", "Konsens", "label_final", "zed"])
def test_a_conclusion_is_not_read_as_a_coder(put: Put, name: str) -> None:
    votes = [("abc"[n % 3], "abc"[n * n % 3], "abc"[n // 2 % 3]) for n in range(90)]
    cells = [
        (*row, row[0] if len(set(row)) == 1 else max(row, key=lambda c: (row.count(c), c)))
        for row in [*votes, *[("a", "a", "a")] * 40]
    ]
    text = f"item,ana,ben,cem,{name}\n" + "".join(
        f"{n},{','.join(row)}\n" for n, row in enumerate(cells)
    )
    path = put(text)
    with pytest.raises(AnnotationError, match=f"olumn '{name}'") as caught:
        read(path)
    proposal: Any = caught.value.proposal
    assert dict(proposal.new) == {"truth": name}
    assert read(path, truth=name).n_coders == 3
    assert read(path, format="wide").n_coders == 4 if name == "zed" else True
    copied = put("item,ana,ben,zed\n" + "".join(f"{n},{a},{b},{b}\n" for n, (a, b, *_) in
                                                enumerate(cells)))  # fmt: skip
    assert read(copied).n_coders == 3  # a copy of one coder concludes nothing


def test_surveys_are_said_for_what_they_are(put: Put) -> None:
    lime = put('id,submitdate,lastpage,startlanguage,"Q1[SQ1]","Q1[SQ2]"\n' + "".join(
        f"{n},1980-01-01,1,fr,{'yes' if n % 2 else 'no'},yes\n" for n in range(9)))  # fmt: skip
    assert "This is LimeSurvey's export" in refused(lime)
    redcap = put("record_id,sex,sym___1,sym___2,intake_complete\n" + "".join(
        f"{n},{n % 2},{n % 2},{n // 2 % 2},2\n" for n in range(9)))  # fmt: skip
    assert "This is REDCap's export" in refused(redcap)
    assert "try:" not in refused(redcap) + refused(lime)
    times = put("Timestamp,pic1_calm,pic1_safe,pic2_calm,pic2_safe\n" + "".join(
        f"2026/05/2{n} 8:04:53 pm CET,{n % 4},{n % 3},2,1\n" for n in range(9)))  # fmt: skip
    assert "this looks like a survey" in refused(times)


def test_blanks_between_quoted_names_are_the_delimiter(put: Put) -> None:
    path = put('"item" "coder" "label"\n' + "".join(
        f'{n} "{who}" {n % 2}\n' for n in range(5) for who in ("ana", "ben")), "r.txt")  # fmt: skip
    assert (read(path).n_items, read(path).n_coders) == (5, 2)


def test_numbered_answers_are_items_only_if_they_answer_one_question(put: Put) -> None:
    def batch(stem: str, *labels: str) -> Path:
        answers = ",".join(f"Answer.{stem}{n}" for n in (1, 2))
        rows = [
            f"H{h},W{w},u{h},v{h},{labels[0][(h + w) % 2]},{labels[1][h % 2]}"
            for h in range(6) for w in range(3)
        ]  # fmt: skip
        return put("\n".join([f"HITId,WorkerId,Input.url1,Input.url2,{answers}", *rows]) + "\n")

    assert read(batch("mood", "yn", "yn")).n_items == 12
    for path in (batch("Q", "yn", "yn"), batch("mood", "yn", "ab")):
        assert "The table holds 2 questions" in refused(path)
        assert "If each of the numbered inputs is an item, use item='url'" in refused(path)
    assert read(batch("Q", "yn", "yn"), question="Q1").n_items == 6
    assert read(batch("Q", "yn", "yn"), item="url").n_items == 12


# -- wide tables without a column of items -------------------------------------------------------

VOTES = "yes,yes,no\nno,no,no\nyes,no,no\nno,no,yes\nyes,yes,yes\nno,no,no\nyes,yes,yes\n"


@pytest.mark.parametrize(
    ("header", "options"),
    [
        ("ana,ben,cem", {"coder_columns": ["ana", "ben", "cem"]}),
        ("ana,ben,cem", {"format": "wide"}),
        ("mood,ben,cem", {"coder_columns": ["ben", "cem"]}),
    ],
)
def test_a_coder_column_is_never_the_item(put: Put, header: str, options: Any) -> None:
    path = put(f"{header}\n{VOTES}")
    data = read(path, **options)
    assert (data.n_items, data.items[0], data.items[-1]) == (7, "1", "7")
    assert "No column names the items, so each row is one." in data.notes
    copy = put(f"{header}\n{VOTES}", "more.csv")
    assert "not matched by number" in refused([path, copy], coder_columns=["ben", "cem"])
    assert "and as a coder" in refused(path, item="ben", coder_columns=["ben", "cem"])
    last = "".join(f"{row},t{n}\n" for n, row in enumerate(VOTES.split()))
    named = read(put(f"{header},key\n{last}"), **{**options, "coder_columns": ["ben", "cem"]})
    assert (named.items[0], named.n_coders) == ("t0", 2)


# -- names that several columns have, and headers that are none -----------------------------------


def test_a_name_of_several_columns_counts_if_it_is_used(put: Put) -> None:
    text = "item,coder,tone,mood,x,x\nt1,ana,a,k,1,2\nt1,ben,b,k,3,4\nt2,ana,a,m,5,6\n"
    assert len(read(put(text), label="tone")) == 3
    assert "used more than once: 'x'" in refused(put(text), label="x")
    assert "used more than once: 'x'" in refused(put(text), question="x")
    assert "used more than once: 'b'" in refused(put("item,ana,b,b\nt1,x,y,x\nt2,y,y,x\n"))
    wide = put("item,ana,ben,x,x\nt1,k,m,1,2\nt2,m,k,3,4\n")
    assert read(wide, coder_columns=["ana", "ben"]).n_items == 2


@pytest.mark.parametrize("rows", ["w{n},yes,yes,no", "w{n},yes,no,yes", "w{n},{n},yes,yes"])
def test_a_first_row_of_data_is_the_only_reason(put: Put, rows: str) -> None:
    lines = [rows.replace("{n}", str(n // 2)) for n in range(12)]
    path = put("\n".join([*lines, lines[-1].replace("yes", "no")]) + "\n")
    said = refused(path)
    assert said.startswith("The first row looks like data, not like names")
    assert "to name its 4 columns" in said
    assert "more than once" not in said
    names = {"columns": ["w", "a", "b", "c"], "coder_columns": ["b", "c"]}
    assert read(path, **names, repeats="all").n_items == 6
    assert read(path, **names, text="w").n_items == 13


def test_what_was_said_is_not_advised_again(put: Put) -> None:
    wide = put("id,ana,ben,final\nt1,x,y,x\nt2,y,y,y\n")
    assert "coder too, use format='wide'" in refused(wide)
    assert "coder too, use coder_columns=" in refused(wide, format="wide")
    many = ",".join(f"c{n}" for n in range(20))
    assert "'c11' and 8 more." in refused(put(f"{many}\n{many.upper()}\n"), format="long")


def test_blanks_after_delimiters_are_no_part_of_cells(put: Put) -> None:
    path = put("item, coder, label\nt1, ana, yes\nt1, ben, \nt2, ana, so so\nt3,  ben, no\n")
    data, scanned = read(path), scan(path, label="label")
    assert data.coders == scanned.coders == ("ana", "ben")
    assert data.labels == scanned.labels == ("no", "so so", "yes")
    assert data.skips == scanned.skips == 1
    assert not any("space" in note for note in (*data.notes, *scanned.notes))
    kept = read(put("item,coder,label\nt1,ana, yes\nt1,ben,yes\n")).labels
    assert kept == (" yes", "yes")
