"""Labels that are sets look the same in every process."""

import json
import os
import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

import annomodels as am
from annomodels.data.names import label_text, quoted
from annomodels.data.validation import some

SCRIPT = """
import json, sys, tempfile
from pathlib import Path
import annomodels as am
from annomodels.cli.main import main

a, b = frozenset({"alpha", "beta", "gamma"}), frozenset({"delta", "epsilon"})
rows = [(i, j, a if (i + (j == 2 and i % 3 == 0)) % 2 else b) for i in range(8) for j in range(3)]
data = am.Annotations.from_records(rows)
fit = am.fit(data, chains=2, draws=20, warmup=10, seed=1)
folder = Path(tempfile.mkdtemp())
fit.save(folder / "fit.nc")
again = am.load(folder / "fit.nc")
am.report(again, folder / "report.html")
am.write_gold(again.gold(), folder / "prodigy.jsonl", to="prodigy")
print(repr(fit.gold()), repr(fit.coders()), repr(fit.items()), repr(fit.predictive()))
print(data.fingerprint, again.data.labels == data.labels, list(fit.tree["truth"]["truth"].values))
print((folder / "prodigy.jsonl").read_text())
print("frozenset" in (folder / "report.html").read_text())
sys.stdout.flush()
for words in (["gold", "--soft"], ["coders"], ["gold", "--format", "json"]):
    main([words[0], str(folder / "fit.nc"), "-q", "--format", "csv", *words[1:]])
"""


def test_a_set_is_its_members_in_order() -> None:
    assert label_text(frozenset()) == "{}"
    assert label_text(frozenset({"b", 10, 9.5, "a"})) == "{9.5, 10, a, b}"
    assert label_text(frozenset({frozenset({"d", "c"}), "b"})) == "{b, {c, d}}"
    assert quoted(frozenset({"b", "a"})) == "{a, b}"
    assert (quoted("a"), quoted(3)) == ("'a'", "3")


def test_messages_name_sets_by_their_members_in_order() -> None:
    assert some([frozenset({"b", "a"}), "c"]) == "{a, b}, 'c'"


def test_the_fingerprint_of_ordinary_data_is_that_of_their_names() -> None:
    data = am.Annotations.from_records([("t1", "ana", "pos"), ("t1", "ben", "neg")])
    assert data.fingerprint == "b18fd07eabf7"


@pytest.fixture(scope="module")
def outputs() -> list[str]:
    """Let two processes with different orders of sets print."""
    found = []
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "CI": "1", "MPLBACKEND": "Agg"}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=env, timeout=900
        )
        assert done.returncode == 0, done.stderr
        found.append(done.stdout)
    return found


@pytest.mark.calibration
def test_two_processes_print_the_same(outputs: list[str]) -> None:
    assert outputs[0] == outputs[1]


@pytest.mark.calibration
def test_no_table_shows_python_code(outputs: list[str]) -> None:
    assert "frozenset" not in outputs[0]
    assert "\nFalse\n" in outputs[0]  # neither does the report
    assert "p_{alpha, beta, gamma}" in outputs[0]
    rows = json.loads(outputs[0][outputs[0].rindex("\n[\n") :])
    labels = [["alpha", "beta", "gamma"], ["delta", "epsilon"]]
    assert sorted({tuple(row["label"]) for row in rows}) == [tuple(label) for label in labels]


class Colour(Enum):
    """Members that are neither texts nor numbers."""

    RED = 1
    BLUE = 2


class Word(StrEnum):
    """Members that are texts."""

    YES = "yes"
    NO = "no"


class Grade(IntEnum):
    """Members that are numbers."""

    LOW = 1
    HIGH = 3


TWO = {
    "np.int64": (np.int64(3), np.int64(12), 3, 12),
    "np.float32": (np.float32(0.5), np.float32(2), 0.5, 2.0),
    "np.longdouble": (np.longdouble(0.5), np.longdouble(2), 0.5, 2.0),
    "np.bool": (np.bool_(False), np.bool_(True), False, True),
    "np.str": (np.str_("a"), np.str_("b"), "a", "b"),
    "bool": (False, True, False, True),
    "bytes": (b"a", "ö".encode(), "a", "ö"),
    "np.bytes": (np.bytes_(b"a"), np.bytes_(b"b"), "a", "b"),
    "Decimal": (Decimal("1.50"), Decimal("20"), 1.5, 20),
    "Fraction": (Fraction(1, 4), Fraction(2), 0.25, 2),
    "date": (date(2024, 1, 2), date(2024, 11, 1), "2024-01-02", "2024-11-01"),
    "datetime": (
        datetime(2024, 1, 2, 3),
        datetime(2024, 11, 1, tzinfo=UTC),
        "2024-01-02T03:00:00",
        "2024-11-01T00:00:00+00:00",
    ),
    "time": (time(3, 4), time(12), "03:04:00", "12:00:00"),
    "Timestamp": (
        pd.Timestamp("2024-01-02"),
        pd.Timestamp("2024-11-01 10:00:00.000000001"),
        "2024-01-02T00:00:00",
        "2024-11-01T10:00:00.000000001",
    ),
    "datetime64": (
        np.datetime64("2024-01-02", "ns"),
        np.datetime64("2024-11-01"),
        "2024-01-02T00:00:00",
        "2024-11-01",
    ),
    "timedelta": (timedelta(hours=1), np.timedelta64(2500, "ms"), 3600, 2.5),
    "Enum": (Colour.BLUE, Colour.RED, "BLUE", "RED"),
    "StrEnum": (Word.NO, Word.YES, "no", "yes"),
    "IntEnum": (Grade.LOW, Grade.HIGH, 1, 3),
    "UUID": (UUID(int=1), UUID(int=2), f"{UUID(int=1)}", f"{UUID(int=2)}"),
    "Path": (PurePosixPath("a/b"), PurePosixPath("c"), "a/b", "c"),
    "tuple": (("a", np.int64(1)), ("b", 2), "(a, 1)", "(b, 2)"),
    "Interval": (pd.Interval(0, 1), pd.Interval(1, 2), "(0, 1]", "(1, 2]"),
    "frozenset": (
        frozenset({np.str_("a"), b"b"}),
        frozenset({date(2024, 1, 2)}),
        frozenset({"a", "b"}),
        frozenset({"2024-01-02"}),
    ),
}


FEW = {"Enum", "frozenset"}  # CI tries the others


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [pytest.param(k, marks=[] if k in FEW else pytest.mark.calibration) for k in TWO],
)
def test_names_of_any_kind_go_all_the_way(kind: str, tmp_path: Path) -> None:
    one, two, *plain = TWO[kind]
    coders = [one, two, "third"] if isinstance(plain[0], (str, frozenset)) else [one, two, 77]
    rows = [(i, j, one if n % 3 else two) for n, i in enumerate((one, two)) for j in coders]
    rows = [*rows, (one, coders[2], two)]
    data = am.Annotations.from_records(rows, truth={one: two})
    assert set(data.items) == set(data.labels) == set(plain) < set(data.coders)
    assert {type(name) for name in data.items} == set(map(type, plain))
    assert data.gold is not None
    assert data.labels[data.gold[data.items.index(plain[0])]] == plain[1]
    declared = am.Annotations.from_records(rows, labels=[two, one], dont_know=["none"])
    assert declared.labels == (plain[1], plain[0])
    assert data.select(items=[one], coders=[two]).items == (plain[0],)
    am.agreement(data, draws=20)
    fit = am.fit(data, "hierarchical", chains=2, draws=20, warmup=10, seed=1)
    fit.save(tmp_path / "fit.nc")
    again = am.load(tmp_path / "fit.nc")
    assert again.data.items == data.items
    assert again.data.labels == data.labels
    assert again.data.coders == data.coders
    assert again.data.fingerprint == data.fingerprint
    assert set(map(label_text, again.why(items=[one]).table["item"])) == {label_text(plain[0])}
    am.report(again, tmp_path / "report.html")
    am.write(data, tmp_path / "long.csv", to="long")
    am.write_gold(fit.gold(), tmp_path / "gold.json", to="label-studio")


def test_a_frame_of_dates_and_small_numbers_is_read() -> None:
    frame = pd.DataFrame(
        {
            "item": pd.to_datetime(["2024-01-02", "2024-01-02"]),
            "coder": np.array([1, 2], np.int8),
            "label": np.array([True, False]),
        }
    )
    data = am.Annotations.from_frame(frame)
    assert data.items == ("2024-01-02T00:00:00",)
    assert (data.coders, data.labels) == ((1, 2), (False, True))


def test_equal_numbers_are_one_name_whatever_their_order() -> None:
    rows = [("t1", "a", 1), ("t1", "b", 1.0), ("t2", "a", np.float64(2)), ("t2", "b", Decimal(2))]
    for given in (rows, rows[::-1]):
        data = am.Annotations.from_records(given)
        assert [repr(label) for label in data.labels] == ["1", "2"]


@pytest.mark.parametrize(
    "labels",
    [(True, 1), (0.0, False), (frozenset({True}), frozenset({1})), (1j, "a"), (object(), "a")],
)
def test_names_that_cannot_be_told_apart_or_written_are_refused(labels: Any) -> None:
    rows = [("t1", "a", labels[0]), ("t1", "b", labels[1])]
    with pytest.raises(am.errors.AnnotationError, match=r"as number|not a text, number"):
        am.Annotations.from_records(rows)


def test_rows_that_are_none_are_refused_in_words() -> None:
    with pytest.raises(am.errors.AnnotationError, match="Rows were expected"):
        am.Annotations.from_records(5)  # type: ignore[arg-type]
