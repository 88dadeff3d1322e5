"""A scan names items by several columns, and refuses repeats, as reading does."""

import itertools
import random
from pathlib import Path

import pandas as pd
import pytest

from annomodels import read, scan
from annomodels.errors import AnnotationError


@pytest.fixture
def frame() -> pd.DataFrame:
    dice = random.Random(1)
    cells = itertools.product(("d1", "d,2", 'd "3"', ""), (1, 2, 3), ("x", "y"), ("ana", "ben"))
    rows = [(*row, dice.choice(("good", "bad"))) for row in cells]
    return pd.DataFrame(rows, columns=["doc", "seg", "system", "coder", "label"])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_key_gives_the_items_that_reading_gives(
    frame: pd.DataFrame, tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"votes.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    for item in ("doc,seg,system", ["doc", "seg", "system"]):
        found, wanted = scan(path, item=item).to_annotations(), read(path, item=item)
        assert found.items == wanted.items
        assert (found.n_items, found.repeats) == (24, 0)
        assert found.to_frame().equals(wanted.to_frame())
    with pytest.raises(AnnotationError, match="'sistem'"):
        scan(path, item="doc,sistem")


def test_repeats_are_refused_with_the_key_unless_they_are_meant(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "votes.csv"
    frame.assign(doc=frame["doc"].replace("", "d4")).to_csv(path, index=False)
    with pytest.raises(AnnotationError, match="labels repeat") as caught:
        scan(path, item="doc")
    assert "item='doc,seg,system'" in caught.value.problems[0].remedy
    assert scan(path, item="doc", repeats="all").repeats == 40
    cache = tmp_path / "cache"
    assert scan(path, item="doc", repeats="all", cache=cache).repeats == 40
    with pytest.raises(AnnotationError, match="labels repeat"):
        scan(path, item="doc", cache=cache)
