"""What commands write on small data is what was recorded: names, order, text and numbers."""

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.golden import record
from tests.golden.agreement_cases import differences

CASES = sorted(path.name for path in record.RECORDED.iterdir())


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("golden")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_case_is_as_recorded(case: str, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "1")
    [rest] = [rest for name, *rest in record.cases(work) if name == case]
    made = record.outputs(case, *rest, work)
    folder = record.RECORDED / case
    assert sorted(made) == sorted(path.name for path in folder.iterdir())
    for name, text in made.items():
        read = json.loads if name.endswith(".json") else _rows
        found = differences(read((folder / name).read_text()), read(text), f"{case}/{name}", _close)
        assert not found, "\n".join(found[:40])


def test_every_case_is_recorded(work: Path) -> None:
    assert sorted(name for name, *_ in record.cases(work)) == CASES


def _rows(text: str) -> list[list[Any]]:
    return [[_number(cell) for cell in row] for row in csv.reader(io.StringIO(text))]


def _number(cell: str) -> Any:
    try:
        return float(cell) if any(sign in cell for sign in ".e") else cell
    except ValueError:
        return cell


def _close(made: float, recorded: float) -> bool:
    """CSV has six digits, so the last of them may round the other way."""
    near = math.isclose(made, recorded, rel_tol=1.1e-6, abs_tol=1e-12)
    unit = 10.0 ** (math.floor(math.log10(max(abs(made), abs(recorded), 1e-300))) - 5)
    return near or abs(made - recorded) <= 1.01 * unit
