"""``agree --distance`` and ``--convention``: the options of :func:`annomodels.agreement`."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

import annomodels as am
from annomodels.cli.breakdown import CONVENTIONS
from annomodels.coefficients.agreement import Convention
from annomodels.errors import NotApplicable
from tests.cli.rows import rows_of

PAIRS = [(1, 2), (2, 2), (3, 1), (1, 1), (2, 3), (3, 3)]


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    rows = [f"t{n},{who},{x}\n" for n, pair in enumerate(PAIRS) for who, x in enumerate(pair)]
    path.write_text("item,coder,label\n" + "".join(rows) + "t9,0,1\n")
    return path


def value(done: Any) -> float:
    return float(rows_of(done.out)[0]["value"])


def test_distances_and_conventions_are_those_of_python(call, ratings, tmp_path) -> None:
    data = am.read(ratings)
    table = tmp_path / "table.csv"
    table.write_text(",3,1,2\n1,4,0,1\n2,1,1,0\n3,0,4,1\n")
    cells = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
    for given, distance in (("linear", "linear"), (table, cells), ("nominal", "nominal")):
        done = call("agree", ratings, "--coefficient", "alpha", "--distance", given)
        assert value(done) == pytest.approx(am.agreement(data, "alpha", distance=distance).value)
    for missing in ("gwet", "krippendorff"):
        done = call("agree", ratings, "--coefficient", "ac1", "--convention", missing)
        assert value(done) == pytest.approx(am.agreement(data, "ac1", missing=missing).value)
    table.write_text("label,1,2\n1,0,1\n2,1,0\n")
    done = call("agree", ratings, "--distance", table)
    assert done.code == 3
    assert "1 label not in the first row: '3'" in done.err
    assert "1 label not in the first column: '3'" in done.err


def test_sets_change_the_number_or_are_refused(call, ratings: Path, tmp_path: Path) -> None:
    path = tmp_path / "sets.jsonl"
    rows = [(["a"], ["a", "b"]), (["b"], ["b"]), (["a", "b"], ["b"]), (["a"], ["a"])]
    lines = [
        json.dumps({"id": n, "annotators": ["x", "y"], "annotations": list(pair)})
        for n, pair in enumerate(rows)
    ]
    path.write_text("\n".join(lines))
    words = ("agree", path, "--coefficient", "alpha")
    assert value(call(*words, "--read", "sets")) != value(call(*words))
    sets = am.read(path, sets=True)
    assert value(call(*words, "--read", "sets")) == pytest.approx(
        am.agreement(sets, "alpha", distance="masi").value
    )
    done = call(*words, "--distance", "masi")
    assert done.code == 2
    assert "--read sets" in done.err
    done = call("agree", ratings, "--read", "sets")
    assert done.code == 2
    assert "--read sets changes nothing" in done.err


def test_a_list_of_coefficients_uses_the_distance_or_refuses(ratings: Path) -> None:
    data = am.read(ratings)
    panel = am.agreement(data, ["ac1", "kappa", "alpha"], distance="quadratic")
    for one, name in zip(panel.table["value"], ("ac1", "kappa", "alpha"), strict=True):
        assert one == am.agreement(data, name, distance="quadratic").value
    with pytest.raises(NotApplicable, match="supports only the distance"):
        am.agreement(data, ["alpha", "icc_1"], distance="quadratic")


def test_alpha_u_reads_marked_text(call, tmp_path: Path) -> None:
    marked = {"ana": "T1\tP 0 4\tHaag\nT2\tP 13 18\tDelft\n", "ben": "T1\tP 0 4\tHaag\n"}
    for coder, spans in marked.items():
        for document in ("d1", "d2"):
            folder = tmp_path / "project" / coder
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{document}.txt").write_text("Haag is near Delft")
            (folder / f"{document}.ann").write_text(spans)
    done = call("agree", tmp_path / "project", "--coefficient", "alpha_u")
    assert done.code == 0
    rows = [
        (text, who, start, end, "P")
        for text in ("d1", "d2")
        for who, start, end in (("ana", 0, 4), ("ana", 13, 18), ("ben", 0, 4))
    ]
    units = am.coefficients.Units.from_records(rows, lengths=18)
    assert value(done) == pytest.approx(am.coefficients.alpha_u(units).value)
    assert call("agree", tmp_path / "project", "--coefficient", "alpha_u", "--by", "item").code == 2
    done = call("agree", tmp_path / "project", "--coefficient", "span_f1")
    assert value(done) == pytest.approx(am.coefficients.span_f1(units).value) == 2 / 3
    both = ("--coefficient", "alpha_u", "--coefficient", "span_f1")
    assert len(call("agree", tmp_path / "project", *both).out.splitlines()) == 3
    gate = call(
        "agree", tmp_path / "project", "--coefficient", "span_f1", "--fail-if", "span_f1<0.7"
    )
    assert gate.code == 1


def test_the_conventions_are_those_of_python():
    assert get_args(Convention) == CONVENTIONS
