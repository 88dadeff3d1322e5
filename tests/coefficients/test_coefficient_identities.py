"""What must hold between coefficients, whatever the data."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import annomodels as am
from annomodels.coefficients.catalogue import COEFFICIENTS

CLOSE = {"abs": 1e-9, "nan_ok": True}


def coded(n_coders=(2, 5), missing=True, n_labels=4, n_items=(2, 12)):
    """Rows of whole-numbered labels; some are missing."""

    @st.composite
    def build(draw):
        coders = draw(st.integers(*n_coders))
        label = st.integers(1, n_labels)
        cell = st.one_of(label, st.none()) if missing else label
        items = draw(
            st.lists(
                st.lists(cell, min_size=coders, max_size=coders),
                min_size=n_items[0],
                max_size=n_items[1],
            )
        )
        rows = [(i, c, x) for i, item in enumerate(items) for c, x in enumerate(item)]
        assume(sum(x is not None for _, _, x in rows) > 0)
        return rows

    return build()


def value(rows, name, labels=(1, 2, 3, 4), **options):
    data = am.Annotations.from_records(rows, labels=labels)
    return am.agreement(data, name, draws=0, **options).value


def defined(*values):
    return not any(math.isnan(x) for x in values)


@given(coded(n_coders=(2, 2)))
def test_pi_is_at_most_kappa(rows):
    pi, kappa = value(rows, "pi"), value(rows, "kappa")
    if defined(pi, kappa):
        assert pi <= kappa + 1e-9


@given(coded(missing=False))
def test_k_is_at_most_multi_kappa(rows):
    k, multi = value(rows, "k"), value(rows, "multi_kappa")
    if defined(k, multi):
        assert k <= multi + 1e-9


@given(coded())
def test_k_is_at_most_s_over_the_used_labels(rows):
    pairable = [
        i for i in {r[0] for r in rows} if sum(r[0] == i and r[2] is not None for r in rows) > 1
    ]
    used = sorted({x for i, _, x in rows if i in pairable and x is not None})
    kept = [r for r in rows if r[0] in pairable]
    assume(len(used) > 1)
    assert value(kept, "k", used) <= value(kept, "s", used) + 1e-9


@given(coded(n_coders=(2, 2)))
def test_two_coders_need_one_name_only(rows):
    assume(len({c for _, c, x in rows if x is not None}) == 2)
    assert value(rows, "k") == pytest.approx(value(rows, "pi"), **CLOSE)
    kappa = value(rows, "kappa")
    for name in ("multi_kappa", "light_kappa", "weighted_kappa", "alpha_kappa"):
        assert value(rows, name) == pytest.approx(kappa, **CLOSE), name


@given(coded(missing=False))
def test_alpha_is_k_with_a_small_sample_correction(rows):
    k, alpha = value(rows, "k"), value(rows, "alpha")
    n = len(rows)
    assert alpha == pytest.approx(1 - (1 - k) * (n - 1) / n, **CLOSE)


@given(coded(), st.sampled_from(["krippendorff", "gwet", "pairs", "pairwise"]))
def test_weighted_forms_are_the_plain_ones_under_the_nominal_distance(rows, missing):
    for weighted, plain in (("alpha_kappa", "multi_kappa"), ("ac2", "ac1")):
        assert value(rows, weighted, missing=missing) == pytest.approx(
            value(rows, plain, missing=missing), **CLOSE
        )


@given(coded(missing=False), st.sampled_from(list(COEFFICIENTS)))
def test_conventions_agree_on_complete_data(rows, name):
    entry = COEFFICIENTS[name]
    assume(not entry.two_coders_only or len({c for _, c, _ in rows}) == 2)
    assume(not entry.two_labels_only or len({x for _, _, x in rows}) == 2)
    given = {"chance": np.linspace(0, 0.5, len({i for i, _, _ in rows}))} if entry.chance else {}
    values = [value(rows, name, missing=missing, **given) for missing in entry.missing]
    assert values == pytest.approx([values[0]] * len(values), **CLOSE)


@given(coded(), st.sampled_from(["nominal", "ordinal", "interval", "ratio", "linear"]))
def test_alpha_passes_over_items_with_one_label(rows, distance):
    extra = [*rows, ("extra", 0, 4), ("more", 1, 1)]
    assert value(extra, "alpha", distance=distance) == pytest.approx(
        value(rows, "alpha", distance=distance), **CLOSE
    )


@given(coded(), st.floats(0.01, 100))
def test_alpha_does_not_depend_on_the_unit_of_the_distance(rows, unit):
    table = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) ** 1.5
    assert value(rows, "alpha", distance=table * unit) == pytest.approx(
        value(rows, "alpha", distance=table), **CLOSE
    )


@given(coded(), st.randoms(use_true_random=False))
def test_names_and_order_of_coders_items_and_labels_do_not_matter(rows, random):
    def shuffled(names):
        names = sorted(names)
        return dict(zip(names, random.sample(names, len(names)), strict=True))

    items, coders = (shuffled({r[n] for r in rows}) for n in (0, 1))
    labels = shuffled([1, 2, 3, 4])
    moved = [(items[i], coders[c], None if x is None else labels[x]) for i, c, x in rows]
    random.shuffle(moved)
    for name, entry in COEFFICIENTS.items():
        if not (entry.two_coders_only or entry.numeric or entry.chance):
            assert value(moved, name) == pytest.approx(value(rows, name), **CLOSE), name


@given(coded())
def test_counting_every_item_twice_changes_only_alpha_and_irsq(rows):
    twice = [((i, n), c, x) for i, c, x in rows for n in (0, 1)]
    for name in ("percent", "s", "k", "multi_kappa", "light_kappa", "ac1"):
        assert value(twice, name) == pytest.approx(value(rows, name), **CLOSE), name


@given(coded())
def test_interval_alpha_is_quadratic_alpha(rows):
    interval = value(rows, "alpha", distance="interval")
    for distance in ("quadratic", "rank_quadratic", lambda a, b: (a - b) ** 2):
        assert value(rows, "alpha", distance=distance) == pytest.approx(interval, **CLOSE)


@given(coded(n_coders=(2, 4), n_labels=2))
def test_two_labels_have_one_alpha(rows):
    nominal = value(rows, "alpha", labels=(1, 2))
    for distance in ("ordinal", "interval", "ratio", "linear", "gwet_ordinal"):
        assert value(rows, "alpha", labels=(1, 2), distance=distance) == pytest.approx(
            nominal, **CLOSE
        )
