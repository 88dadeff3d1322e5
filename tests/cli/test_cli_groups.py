"""``--groups``: a file with the group of each coder."""

from pathlib import Path

import pytest

import annomodels as am
from tests.cli.rows import rows_of

pytestmark = pytest.mark.slow

FIT = ("--chains", 2, "--draws", 40, "--sampler", "warmup=20")


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    """Write a table with a header."""
    path = tmp_path / "groups.csv"
    path.write_text("coder,group\nana,person\nben,person\ncem,program\n")
    return path


def test_groups_of_a_file_are_those_of_the_fit(votes: Path, groups: Path, call, tmp_path) -> None:
    out = tmp_path / "out"
    done = call("run", votes, "-o", out, "--no-report", "--groups", groups, *FIT)
    assert done.code in (0, 4)
    fit = am.load(out / "fit.nc")
    assert fit.model.group_names == ("person", "program")
    said = call("coders", out, "--format", "csv")
    rows = rows_of(said.out)
    assert [row["group"] for row in rows] == ["person", "person", "program"]
    assert "better than" in said.err


def test_coders_without_names_keep_their_groups(votes: Path, groups: Path, call, tmp_path) -> None:
    folder = tmp_path / "out"
    words = ("--groups", groups, "--anonymize", "--no-report", *FIT)
    assert call("run", votes, "-o", folder, *words).code in (0, 4)
    model = am.load(folder / "fit.nc").model
    assert sorted(coder for coder, _ in model.groups) == ["coder 1", "coder 2", "coder 3"]
    assert sorted(group for _, group in model.groups) == ["person", "person", "program"]
