"""What a user gets to see: names, tables, sentences; the page prints what it says."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import annomodels as am
from annomodels.coefficients.catalogue import COEFFICIENTS, find
from annomodels.coefficients.distances import DISTANCES
from annomodels.coefficients.formulas import EXPECTED, STATISTICS
from annomodels.coefficients.result import COLUMNS
from annomodels.errors import NotApplicable

ROWS = [(i, c, 1 + (i + (i * c) % 3 // 2) % 4) for i in range(30) for c in range(3)]


@pytest.fixture(scope="module")
def panel():
    return am.agreement(am.Annotations.from_records(ROWS))


def test_no_alias_means_two_things():
    names = [n for entry in COEFFICIENTS.values() for n in (entry.name, *entry.aliases)]
    assert len(set(names)) == len(names)
    assert all(
        find(name).name == entry.name
        for entry in COEFFICIENTS.values()
        for name in (entry.name, *entry.aliases)
    )


def test_capabilities_are_declared():
    for entry in COEFFICIENTS.values():
        assert entry.expectation is None or entry.expectation in {**EXPECTED, **STATISTICS}
        assert entry.doi.startswith("10.") or (entry.name == "s_item" and not entry.doi)
        assert entry.citation[-4:].isdigit()
        assert bool(entry.instead) == (entry.two_coders_only or entry.numeric)
        assert entry.weighted or not entry.scale_distance
    only_two = {name for name, entry in COEFFICIENTS.items() if entry.two_coders_only}
    indices = {"kappa_max", "prevalence_index", "bias_index"}
    assert only_two == {"pi", "kappa", "weighted_kappa", *indices}
    assert COEFFICIENTS["alpha"].missing == ("krippendorff", "listwise")


def test_panel_table(panel):
    table = panel.table
    assert tuple(table.columns) == COLUMNS
    assert list(table["coefficient"]) == list(panel)
    row = table.set_index("coefficient").loc["alpha"]
    alpha = panel["Krippendorff's alpha"]
    assert (row["low"], row["high"]) == alpha.interval()
    assert row["p_above_667"] == (alpha.draws > 0.667).mean()
    assert row["p_above_800"] == (alpha.draws > 0.8).mean()
    assert row["n"] == 30
    assert row["convention"] == "complete"
    assert panel.draws["sampling"].sizes == {"draw": 2000, "coefficient": 8}
    assert np.isnan(panel.draws["sampling"].sel(coefficient="kappa")).all()
    assert np.array_equal(panel.draws["sampling"].sel(coefficient="alpha"), alpha.draws)


def test_panel_is_a_mapping(panel):
    assert len(panel) == 8
    assert "alpha" in panel
    assert panel.get("no such thing") is None
    with pytest.raises(KeyError, match="It holds percent"):
        panel["ac2"]
    with pytest.raises(ValueError, match="kappa has no draws"):
        panel.difference("alpha", "kappa")


def test_text(panel):
    text = repr(panel)
    assert "It is defined for two coders, but there are 3." in text
    assert "declare the set (labels=...) if it is larger" in text
    assert "<table" in panel._repr_html_()
    alpha = repr(panel["alpha"])
    assert alpha.startswith(f"Krippendorff's alpha = {panel['alpha'].value:.4f} (")
    assert "30 items, 3 coders, 90 labels" in alpha
    percent = repr(panel["percent"])
    assert "expected" not in percent.splitlines()[0]


def test_interval_and_threshold(panel):
    alpha = panel["alpha"]
    assert alpha.interval(0.5)[0] > alpha.low
    assert (alpha.low, alpha.high) == alpha.interval(0.95)
    assert alpha.p_above(-2) == 1.0
    with pytest.raises(ValueError, match="between 0 and 1"):
        alpha.interval(95)


def test_without_draws():
    panel = am.agreement(am.Annotations.from_records(ROWS), draws=0)
    assert panel["alpha"].draws is None
    assert math.isnan(panel["alpha"].low)
    assert panel.draws["sampling"].sizes["draw"] == 0


@pytest.mark.parametrize(
    ("scale", "alpha", "kin"),
    [
        ("ordinal", "ordinal", "quadratic"),
        ("interval", "interval", "interval"),
        ("ratio", "ratio", "ratio"),
    ],
)
def test_scale_chooses_the_distance(scale, alpha, kin):
    panel = am.agreement(am.Annotations.from_records(ROWS, scale=scale), draws=20)
    assert panel["alpha"].distance == alpha
    assert panel["alpha"].title == f"Krippendorff's alpha, {alpha}"
    assert panel["alpha"].kind == "disagreement"
    assert {panel[name].distance for name in ("ac2", "alpha_kappa")} == {kin}
    assert {panel[name].distance for name in ("k", "s", "percent", "ac1")} == {"nominal"}
    assert panel["k"].kind == "agreement"
    nominal = am.agreement(
        am.Annotations.from_records(ROWS, scale=scale), "alpha", distance="nominal", draws=0
    )
    assert nominal.kind == "agreement"


def test_panel_takes_what_each_coefficient_can_take():
    rows = [row for n, row in enumerate(ROWS) if n % 5]
    panel = am.agreement(
        am.Annotations.from_records(rows), missing="gwet", distance="linear", draws=20
    )
    assert panel["k"].convention == "gwet"
    assert panel["alpha"].convention == "krippendorff"
    assert panel["k"].distance == panel["alpha"].distance == "linear"
    assert panel["ac1"].distance == "nominal"
    said = " ".join(panel.notes)
    assert "Missing labels, gwet: plain mean" in said
    assert "Missing labels, krippendorff: items with two labels" in said


def test_own_distances():
    data = am.Annotations.from_records(ROWS)
    by_table = am.agreement(data, "alpha", distance=1 - np.eye(4), draws=0)
    by_name = am.agreement(data, "alpha", draws=0)

    def differ(a, b):
        return a != b

    by_function = am.agreement(data, "alpha", distance=differ, draws=0)
    assert by_table.value == pytest.approx(by_name.value)
    assert by_function.value == pytest.approx(by_name.value)
    assert (by_table.distance, by_function.distance) == ("custom", "differ")


def test_pairwise_refuses_what_would_not_fit(monkeypatch):
    from annomodels.coefficients import rows, sums

    data = am.Annotations.from_records(ROWS)
    monkeypatch.setattr(rows, "MOST_MEETINGS", 40)
    with pytest.raises(NotApplicable, match="more than 40 pairs of labels"):
        am.agreement(data, "light_kappa")
    monkeypatch.setattr(rows, "MOST_MEETINGS", 300)
    monkeypatch.setattr(sums, "MOST_CELLS", 30)
    with pytest.raises(NotApplicable, match="3 pairs of coders with 11 labels need 33 cells"):
        am.agreement(data, "k", missing="pairwise", labels=range(1, 12))


PAGE = (Path(__file__).resolve().parents[2] / "docs" / "coefficients.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_page_prints_what_it_says(capsys):
    exec(compile("\n".join(blocks("python")), "<page>", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "".join(blocks("text"))


def test_every_coefficient_and_distance_is_on_the_page():
    named = set(re.findall(r"`(\w+)`", PAGE))
    assert set(am.coefficients.table()["coefficient"]) <= named
    assert set(DISTANCES) <= named
