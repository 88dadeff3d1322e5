"""Passonneau (1997), Applying reliability metrics to co-reference annotation."""

import math
from collections import Counter
from typing import Any

import pandas as pd
import pytest
import xarray as xr

import annomodels as am
from annomodels.coref import LinkTable, document, link_agreement, link_table, pair_table
from annomodels.coref.tables import TextAgreement

CA1 = ["ABDGI", "CEF", "HJ"]
CA2 = ["ABGI", "CDEF", "HJ"]
CA3 = [*map(set, ("ABGI", "CEF", "HJ")), {"D", "D'"}]


def sets(clusters: list[str]) -> list[set[str]]:
    return [set(cluster) for cluster in clusters]


def partitions(items: list[int]) -> list[list[set[int]]]:
    if not items:
        return [[]]
    out = []
    for rest in partitions(items[1:]):
        out.append([{items[0]}, *rest])
        out += [[*rest[:n], c | {items[0]}, *rest[n + 1 :]] for n, c in enumerate(rest)]
    return out


def test_equations_12_and_15_recall_and_precision_of_sample_2() -> None:
    recall, precision, _ = am.coref.score(sets(CA1), sets(CA2))["muc"]
    assert (recall, precision) == (6 / 7, 6 / 7)
    assert round(recall, 2) == 0.86


def test_precision_of_one_class_is_two_thirds_where_one_third_is_printed() -> None:
    assert am.coref.score([set("ABDGI"), set("CEF")], [set("CDEF")])["muc"].precision == 2 / 3


def test_table_2_the_link_table_of_ca1_and_ca3() -> None:
    cells = link_table(sets(CA1), CA3, missing="singleton")
    assert cells == (6, 1, 1, 2)
    assert (cells.a, cells.b, cells.c, cells.d) == tuple(cells)
    assert cells.valid
    assert round(100 * cells.recall, 1) == round(100 * cells.precision, 1) == 85.7
    assert (cells.observed, cells.expected) == pytest.approx((0.8, 0.58))
    assert cells.kappa == pytest.approx(11 / 21)
    assert cells.pi == pytest.approx(1 - (0.1 + 0.1) / (0.21 + 0.21))  # equation 27
    assert round(cells.kappa, 2) == 0.52


def test_the_two_codings_must_be_about_the_same_mentions() -> None:
    with pytest.raises(
        am.errors.AnnotationError, match=r"1 mention only in the second: \"\"?\"?D'"
    ):
        link_table(sets(CA1), CA3)


def test_figure_1_as_a_link_table() -> None:
    cells = link_table(sets(CA1), sets(CA2))
    assert cells == (6, 1, 1, 1)
    assert cells.kappa == pytest.approx(5 / 14)


def test_table_4_sigma_divides_by_the_number_of_texts(cases: dict[str, Any]) -> None:
    narratives = cases["passonneau_1997_table4"]["kappa_recall_precision"]
    for column, printed in enumerate((0.07, 0.02, 0.02)):
        rows = [row[column] for row in narratives.values()]
        mean = sum(rows) / len(rows)
        sigma = math.sqrt(sum((x - mean) ** 2 for x in rows) / len(rows))
        assert round(sigma, 2) == printed
    kappas = [LinkTable(int(n), 1, 1, 9).kappa for n in narratives]
    table = pd.DataFrame({"document": list(narratives), "kappa": kappas})
    made = TextAgreement("links", table, xr.Dataset())
    mean = sum(kappas) / len(kappas)
    assert made.mean == pytest.approx(mean)
    assert made.sigma == pytest.approx(
        math.sqrt(sum((k - mean) ** 2 for k in kappas) / len(kappas))
    )


def test_links_of_several_texts() -> None:
    texts = [
        document("91-1", {"x": CA1, "y": CA2}, letters=True),
        document("91-2", {"x": CA1, "y": ["ABGI", "CEF", "Dd", "HJ"]}, letters=True),
    ]
    found = link_agreement(texts)
    assert found.table["kappa"].tolist() == pytest.approx([5 / 14, 11 / 21])
    assert found.table["recall"].tolist() == pytest.approx([6 / 7, 6 / 7])
    assert found.mean == pytest.approx((5 / 14 + 11 / 21) / 2)


@pytest.mark.parametrize("place", [0, 1])
def test_negative_cells_are_flagged(cases: dict[str, Any], place: int) -> None:
    case = cases["negative_link_cell"][place]
    x, y = sets(case["x"]), sets(case["y"])
    if min(case["abcd"]) < 0:
        with pytest.warns(am.errors.DataWarning, match="negative cell"):
            cells = link_table(x, y)
        assert not cells.valid
        assert math.isnan(cells.kappa)
        assert math.isnan(cells.observed)
    else:
        cells = link_table(x, y)
        assert cells.valid
    assert list(cells) == case["abcd"]


@pytest.mark.filterwarnings("ignore:The link table")
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_how_often_a_cell_is_negative(cases: dict[str, Any], n: int) -> None:
    every = partitions(list(range(n)))
    # names of mentions mean nothing: one partition stands for all with clusters of its sizes
    alike = {tuple(sorted(map(len, x))): x for x in every}
    times = Counter(tuple(sorted(map(len, x))) for x in every)
    negative = sum(
        times[sizes] * sum(link_table(x, y).d < 0 for y in every) for sizes, x in alike.items()
    )
    expected = cases["negative_link_cell"][2]["all_pairs_of_partitions"][str(n)]
    assert [len(every) ** 2, negative] == expected


def test_links_against_pairs_of_the_same_coding() -> None:
    assert pair_table(sets(CA1), sets(CA2)).kappa != pytest.approx(5 / 14, abs=0.05)
