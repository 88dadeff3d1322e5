"""Intraclass correlations: published tables, analysis of variance by hand, limits, draws."""

import numpy as np
import pytest
from scipy import stats

import annomodels as am

# Six targets by four judges, Shrout & Fleiss 1979, table 2.
SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]
NAMES = ["icc_1", "icc_a1", "icc_c1", "icc_1k", "icc_ak", "icc_ck"]


def made_of(matrix, **options):
    rows = [(i, j, x) for i, row in enumerate(matrix) for j, x in enumerate(row) if x is not None]
    return am.Annotations.from_records(rows, **options)


def by_hand(x):
    """Mean squares and correlations as McGraw & Wong 1996 write them."""
    n, k = x.shape
    grand, rows, columns = x.mean(), x.mean(1), x.mean(0)
    msr = k * ((rows - grand) ** 2).sum() / (n - 1)
    msw = ((x - rows[:, None]) ** 2).sum() / (n * (k - 1))
    msc = n * ((columns - grand) ** 2).sum() / (k - 1)
    mse = ((x - rows[:, None] - columns + grand) ** 2).sum() / ((n - 1) * (k - 1))
    return {
        "icc_1": (msr - msw) / (msr + (k - 1) * msw),
        "icc_a1": (msr - mse) / (msr + (k - 1) * mse + k / n * (msc - mse)),
        "icc_c1": (msr - mse) / (msr + (k - 1) * mse),
        "icc_1k": (msr - msw) / msr,
        "icc_ak": (msr - mse) / (msr + (msc - mse) / n),
        "icc_ck": (msr - mse) / msr,
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ICC(1,1)", 0.17),
        ("ICC(2,1)", 0.29),
        ("ICC(3,1)", 0.71),
        ("ICC(1,k)", 0.44),
        ("ICC(2,k)", 0.62),
        ("ICC(3,k)", 0.91),
    ],
)
def test_shrout_fleiss_1979(name, value):
    assert am.agreement(made_of(SHROUT_FLEISS), name, draws=0).value == pytest.approx(
        value, abs=5e-3
    )


def test_analysis_of_variance_by_hand(rng):
    for n, k in ((2, 2), (5, 3), (12, 6)):
        x = rng.normal(size=(n, 1)) * 3 + rng.normal(size=k) + rng.normal(size=(n, k)) + 1e4
        panel = am.agreement(made_of(x.tolist(), scale="interval"), NAMES, draws=0)
        for name, value in by_hand(x).items():
            assert panel[name].value == pytest.approx(value, abs=1e-7), name


def test_order_of_items_and_coders_and_the_unit_do_not_matter(rng):
    x = rng.normal(size=(8, 3)).cumsum(1)
    moved = 5 - 2 * x[rng.permutation(8)][:, rng.permutation(3)]
    one, other = (am.agreement(made_of(y.tolist()), NAMES, draws=0) for y in (x, moved))
    for name in NAMES:
        assert one[name].value == pytest.approx(other[name].value, abs=1e-9)


def test_items_with_missing_labels_are_left_out_and_the_note_says_so():
    holes = [*SHROUT_FLEISS, [9, None, 1, 2], [None, None, 4, 4]]
    data = made_of(holes, scale="interval")
    for name in NAMES:
        found = am.agreement(data, name, draws=0)
        assert found.value == pytest.approx(by_hand(np.array(SHROUT_FLEISS))[name])
        assert "Only the 6 of 8 items that every coder labeled count." in found.note
        assert (found.n_items, found.convention) == (6, "listwise")


def test_alpha_of_squared_differences_tends_to_icc_1(rng):
    x = np.round(rng.normal(size=(3000, 1)) + rng.normal(size=(3000, 4)))
    panel = am.agreement(made_of(x.tolist(), scale="interval"), ["alpha", "icc_1"], draws=0)
    assert panel["alpha"].value == pytest.approx(panel["icc_1"].value, abs=1e-4)


def by_f(value, name, n, k):
    """Width of the interval from F (McGraw & Wong 1996), with the degrees of freedom of ICC(C)."""
    single = value / (k - (k - 1) * value) if name.endswith("k") else value
    ratio = (1 + (k - 1) * single) / (1 - single)
    ends = []
    for p in (0.975, 0.025):
        edge = ratio / stats.f.ppf(p, n - 1, (n - 1) * (k - 1))
        one = (edge - 1) / (edge + k - 1)
        ends.append(k * one / (1 + (k - 1) * one) if name.endswith("k") else one)
    return ends[1] - ends[0]


def test_draws_cover_and_belong_together(rng):
    x = np.round(2 * (rng.normal(size=(80, 1)) + rng.normal(size=(80, 3)))) / 2
    panel = am.agreement(made_of(x.tolist(), scale="interval"), [*NAMES, "alpha"])
    for name in NAMES:
        low, high = panel[name].interval()
        assert low < panel[name].value < high
        classical = by_f(panel[name].value, name, 80, 3)
        assert (high - low) == pytest.approx(classical, rel=0.35)
    spread = panel["icc_1"].draws.std()
    assert np.abs(panel.difference("alpha", "icc_1")).max() < 0.1 * spread
