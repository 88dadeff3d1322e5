"""What must hold between coefficients, whatever the data: each tried on 200 data sets in CI."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import annomodels as am
from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.coefficients.distances import SET_DISTANCES, set_distance
from tests.coefficients.pairs_of_labels import of_pairs

CLOSE = {"abs": 1e-9, "nan_ok": True}
SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.filter_too_much]
OFTEN = settings(
    max_examples=2 * settings().max_examples, deadline=None, suppress_health_check=SLOW_IS_FINE
)


def law(*strategies):
    """Try a law on many data sets."""

    def decorated(test):
        return pytest.mark.slow(OFTEN(given(*strategies)(test)))

    return decorated


@st.composite
def coded(draw, n_coders=(2, 5), missing=True, n_labels=4, n_items=(2, 12)):
    """Rows of whole-numbered labels, half of which may be missing; a byte each is soon drawn."""
    coders, items = draw(st.integers(*n_coders)), draw(st.integers(*n_items))
    cells = draw(st.binary(min_size=coders * items, max_size=coders * items))
    labels = [*range(1, n_labels + 1), *([None] * n_labels if missing else [])]
    rows = [(*divmod(k, coders), labels[byte % len(labels)]) for k, byte in enumerate(cells)]
    assume(any(label is not None for _, _, label in rows))
    return rows


def table(rows, labels=(1, 2, 3, 4)):
    return am.Annotations.from_records(rows, labels=labels)


def value(rows, name, labels=(1, 2, 3, 4), **options):
    return am.agreement(table(rows, labels), name, draws=0, **options).value


def values(rows, names, labels=(1, 2, 3, 4), **options):
    """Several coefficients of the same data."""
    panel = am.agreement(table(rows, labels), list(names), draws=0, **options)
    return [panel[name].value for name in names]


def defined(*values):
    return not any(math.isnan(x) for x in values)


@law(coded(missing=False))
def test_k_is_at_most_multi_kappa_and_alpha_is_k_with_a_small_sample_correction(rows):
    k, multi, alpha = values(rows, ("k", "multi_kappa", "alpha"))
    if defined(k, multi):
        assert k <= multi + 1e-9
    n = len(rows)
    assert alpha == pytest.approx(1 - (1 - k) * (n - 1) / n, **CLOSE)


@law(coded())
def test_k_is_at_most_s_over_the_used_labels(rows):
    pairable = [
        i for i in {r[0] for r in rows} if sum(r[0] == i and r[2] is not None for r in rows) > 1
    ]
    used = sorted({x for i, _, x in rows if i in pairable and x is not None})
    kept = [r for r in rows if r[0] in pairable]
    assume(len(used) > 1)
    k, s = values(kept, ("k", "s"), used)
    assert k <= s + 1e-9


@law(coded(n_coders=(2, 2)))
def test_two_coders_need_one_name_only_and_pi_is_at_most_kappa(rows):
    assume(len({c for _, c, x in rows if x is not None}) == 2)
    k, pi, kappa, *others = values(
        rows, ("k", "pi", "kappa", "multi_kappa", "light_kappa", "weighted_kappa", "alpha_kappa")
    )
    assert k == pytest.approx(pi, **CLOSE)
    assert others == pytest.approx([kappa] * 4, **CLOSE)
    if defined(pi, kappa):
        assert pi <= kappa + 1e-9


@law(coded(), st.sampled_from(["krippendorff", "gwet", "pairs", "pairwise"]))
def test_weighted_forms_are_the_plain_ones_under_the_nominal_distance(rows, missing):
    names = ("alpha_kappa", "ac2", "multi_kappa", "ac1")
    found = values(rows, names, missing=missing)
    assert found[:2] == pytest.approx(found[2:], **CLOSE)


@law(coded(missing=False), st.sampled_from(list(COEFFICIENTS)))
def test_conventions_agree_on_complete_data(rows, name):
    entry = COEFFICIENTS[name]
    assume(not entry.two_coders_only or len({c for _, c, _ in rows}) == 2)
    used = sorted({x for _, _, x in rows})
    assume(not entry.two_labels_only or len(used) == 2)
    labels = used if entry.two_labels_only else (1, 2, 3, 4)
    given = {"chance": np.linspace(0, 0.5, len({i for i, _, _ in rows}))} if entry.chance else {}
    found = [value(rows, name, labels, missing=missing, **given) for missing in entry.missing]
    assert found == pytest.approx([found[0]] * len(found), **CLOSE)


@law(coded(), st.sampled_from(["nominal", "ordinal", "interval", "ratio", "linear"]))
def test_alpha_passes_over_items_with_one_label(rows, distance):
    extra = [*rows, ("extra", 0, 4), ("more", 1, 1)]
    assert value(extra, "alpha", distance=distance) == pytest.approx(
        value(rows, "alpha", distance=distance), **CLOSE
    )


@law(coded(), st.floats(0.01, 100))
def test_alpha_does_not_depend_on_the_unit_of_the_distance(rows, unit):
    table = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) ** 1.5
    assert value(rows, "alpha", distance=table * unit) == pytest.approx(
        value(rows, "alpha", distance=table), **CLOSE
    )


def renamed(rows, random):
    """Other names for items, coders and labels, and another order of the rows."""

    def shuffled(names):
        names = sorted(names)
        return dict(zip(names, random.sample(names, len(names)), strict=True))

    items, coders = (shuffled({r[n] for r in rows}) for n in (0, 1))
    labels = shuffled([1, 2, 3, 4])
    moved = [(items[i], coders[c], None if x is None else labels[x]) for i, c, x in rows]
    random.shuffle(moved)
    return moved


@law(coded(), st.randoms(use_true_random=False))
def test_names_and_order_of_coders_items_and_labels_do_not_matter(rows, random):
    names = [
        name
        for name, entry in COEFFICIENTS.items()
        if not (entry.two_coders_only or entry.chance or entry.numeric)
    ]
    found = values(renamed(rows, random), names)
    assert found == pytest.approx(values(rows, names), **CLOSE)


@law(coded())
def test_counting_every_item_twice_changes_only_alpha_and_irsq(rows):
    twice = [((i, n), c, x) for i, c, x in rows for n in (0, 1)]
    names = ("percent", "s", "k", "multi_kappa", "light_kappa", "ac1")
    assert values(twice, names) == pytest.approx(values(rows, names), **CLOSE)


@law(coded())
def test_interval_alpha_is_quadratic_alpha(rows):
    interval = value(rows, "alpha", distance="interval")
    for distance in ("quadratic", "rank_quadratic", lambda a, b: (a - b) ** 2):
        assert value(rows, "alpha", distance=distance) == pytest.approx(interval, **CLOSE)


@law(coded(n_coders=(2, 4), n_labels=2))
def test_two_labels_have_one_alpha(rows):
    nominal = value(rows, "alpha", labels=(1, 2))
    for distance in ("ordinal", "interval", "ratio", "linear", "gwet_ordinal"):
        assert value(rows, "alpha", labels=(1, 2), distance=distance) == pytest.approx(
            nominal, **CLOSE
        )


@law(coded(), st.sampled_from(["ordinal", "interval", "linear"]), st.randoms())
def test_coders_and_items_may_change_names_under_any_distance(rows, distance, random):
    coders = sorted({c for _, c, _ in rows})
    other = dict(zip(coders, random.sample(coders, len(coders)), strict=True))
    moved = [(-i, other[c], x) for i, c, x in rows]
    random.shuffle(moved)
    names = ("alpha", "k", "multi_kappa", "alpha_kappa", "ac2")
    found = values(moved, names, distance=distance)
    assert found == pytest.approx(values(rows, names, distance=distance), **CLOSE)


@law(coded(), st.sampled_from(["krippendorff", "pairs", "pairwise"]))
def test_kappa_of_a_constant_coder_is_zero(rows, missing):
    """One coder of two says 1 throughout: the other's labels do not depend on it."""
    pair = [(i, c, 1 if c == 0 and x is not None else x) for i, c, x in rows if c < 2]
    assume(len({c for _, c, x in pair if x is not None}) == 2)
    kappa = value(pair, "kappa", missing=missing)
    assert math.isnan(kappa) or kappa == pytest.approx(0, abs=1e-9)


LABEL_SETS = st.frozensets(st.integers(0, 5), min_size=1)


@law(LABEL_SETS, LABEL_SETS)
def test_masi_is_at_least_passonneau_and_dice_at_most_jaccard(a, b):
    distance = {name: set_distance(a, b, name) for name in SET_DISTANCES}
    assert distance["masi"] >= distance["passonneau"] - 1e-12
    assert distance["dice"] <= distance["jaccard"] + 1e-12


@law(st.lists(st.tuples(LABEL_SETS, LABEL_SETS), min_size=2, max_size=8))
def test_set_alphas_keep_the_order_of_observed_disagreement(pairs):
    data = of_pairs(pairs)
    d_o = {
        name: am.agreement(data, "alpha", distance=name, draws=0).observed
        for name in ("jaccard", "dice", "passonneau", "masi")
    }
    assume(not any(math.isnan(x) for x in d_o.values()))
    assert d_o["masi"] >= d_o["passonneau"] - 1e-12
    assert d_o["dice"] <= d_o["jaccard"] + 1e-12
