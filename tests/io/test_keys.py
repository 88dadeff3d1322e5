"""Items that several columns name, rows that end early, and tables without a header."""

from __future__ import annotations

import itertools

from annomodels import Annotations
from annomodels.io.tables.keys import key_cells, key_of

# -- the item is a key -----------------------------------------------------------------------


def test_names_of_a_key_are_never_the_same_for_different_rows() -> None:
    cells = ["", "a", ",", '"', 'a"', "a,", "a\nb", '""', '","']
    rows = list(itertools.product(cells, repeat=3))
    names = key_cells([list(column) for column in zip(*rows, strict=True)])
    assert len(set(names)) == len(rows)
    assert names[rows.index(("", "", ""))] == ""
    assert [key_of(row) for row in rows] == names


def test_a_key_of_a_data_frame() -> None:
    import pandas as pd

    frame = pd.DataFrame({"doc": ["a", "a", "b"], "n": [1, 2, 1], "coder": "x", "label": "y"})
    assert Annotations.from_frame(frame, item=["doc", "n"]).items == ("a,1", "a,2", "b,1")
