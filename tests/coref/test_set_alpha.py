"""Alpha of sets: against DKPro, NLTK, enumeration, and the coefficients of this package."""

from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import annomodels as am
from annomodels.coefficients.distances import SET_DISTANCES, SIZE_DISTANCES, size_distance
from annomodels.coref import alpha, document_of_judgments, set_distance
from annomodels.coref.alphas import pieces, together
from annomodels.coref.conditions import CONDITIONS, labels_of

small_sets = st.frozensets(st.integers(0, 4), max_size=4)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_distances_of_dkpro_and_nltk(cases: dict[str, Any], place: int) -> None:
    held = cases["set_distances"][place]
    for a, b, expected in held["cases"]:
        assert set_distance(a, b, held["metric"]) == pytest.approx(expected)


def nltk_before_3695(a: frozenset[int], b: frozenset[int]) -> float:
    share = {0: 1.0, 1: 0.67, 2: 0.33, 3: 0.0}[round(3 * set_distance(a, b, "passonneau"))]
    return 1 - (1 - set_distance(a, b, "jaccard")) * share


def test_masi_of_nltk_before_the_thirds_were_exact(cases: dict[str, Any]) -> None:
    for a, b, expected in cases["set_distances"][3]["cases"]:
        a, b = frozenset(a), frozenset(b)
        assert nltk_before_3695(a, b) == pytest.approx(expected)
        assert set_distance(a, b) == pytest.approx(expected, abs=2.1e-3)


@pytest.mark.parametrize("name", ["passonneau", "dkpro_masi", "masi", "jaccard", "dice", "nominal"])
def test_dkpro_nine_items(cases: dict[str, Any], name: str) -> None:
    held = cases["alpha_on_sets"]
    coders = list(zip(*held["items"], strict=True))
    found = alpha(coders, name)
    got = (found.observed, found.expected, found.value)
    assert got == pytest.approx(held["computed_here"][name], abs=1e-6)
    if name in held["expected_dkpro"]:
        printed = held["expected_dkpro"][name]
        assert got == pytest.approx((printed["Do"], printed["De"], printed["alpha"]), abs=1e-3)


def test_dkpro_nine_items_with_disjoint_sets_first(cases: dict[str, Any]) -> None:
    held = cases["alpha_on_sets"]
    found = alpha(list(zip(*held["items"], strict=True)), "passonneau", empty="disjoint")
    got = (found.observed, found.expected, found.value)
    assert got == pytest.approx(held["computed_here"]["passonneau_disjoint_tested_first"], abs=1e-6)


def test_dkpro_observed_agreements_of_the_nine_items(cases: dict[str, Any]) -> None:
    held = cases["alpha_on_sets"]
    coders = list(zip(*held["items"], strict=True))
    printed = held["expected_dkpro"]
    equal = 1 - alpha(coders, "nominal").observed
    assert equal == pytest.approx(printed["percentage_agreement"], abs=1e-3)
    meet = [bool(set(a) & set(b)) for a, b in held["items"]]
    assert sum(meet) / len(meet) == pytest.approx(printed["max_percentage"], abs=1e-3)
    # there, two empty sets share nothing
    like = [1 - set_distance(a, b, "dice") if a or b else 0 for a, b in held["items"]]
    assert sum(like) / len(like) == pytest.approx(printed["dice_agreement"], abs=1e-3)


tables = st.lists(
    st.lists(st.none() | small_sets | st.sampled_from(["place", "none"]), min_size=4, max_size=4),
    min_size=2,
    max_size=4,
)


def by_enumeration(table: list[list[Any]], name: str, empty: str) -> tuple[float, float]:
    @cache
    def apart(a: Any, b: Any) -> float:
        if isinstance(a, str) or isinstance(b, str):
            return float(a != b)
        return set_distance(a, b, name, empty=empty)  # type: ignore[arg-type]

    items = [[x for x in column if x is not None] for column in zip(*table, strict=True)]
    items = [item for item in items if len(item) > 1]
    flat = [x for item in items for x in item]
    n = len(flat)
    if not n:
        return float("nan"), float("nan")
    d_o = sum(
        sum(apart(a, b) for i, a in enumerate(item) for j, b in enumerate(item) if i != j)
        / (len(item) - 1)
        for item in items
    )
    d_e = sum(apart(a, b) for i, a in enumerate(flat) for j, b in enumerate(flat) if i != j)
    return d_o / n, d_e / (n * (n - 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SIZE_DISTANCES))
@settings(max_examples=settings().max_examples // 2)  # for each of six distances
@given(table=tables, empty=st.sampled_from(["subset", "disjoint"]))
def test_counting_equals_enumeration_of_all_pairs_of_labels(
    name: str, empty: Any, table: list[list[Any]]
) -> None:
    found = alpha(table, name, empty=empty)
    expected = by_enumeration(table, name, empty)
    assert (found.observed, found.expected) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(table=tables, seed=st.integers(0, 10))
def test_order_of_coders_and_items_does_not_matter(table: list[list[Any]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.permutation(4)
    other = [[table[c][i] for i in columns] for c in rng.permutation(len(table))]
    assert alpha(other).value == pytest.approx(alpha(table).value, abs=1e-12, nan_ok=True)


@st.composite
def texts(draw: st.DrawFn) -> Any:
    """Two or three coders who point back from some of eight expressions, at several at times."""
    order = [f"m{n}" for n in range(8)]
    coders = {}
    for c in range(draw(st.integers(2, 3))):
        said, points = {}, {}
        drawn = draw(st.binary(min_size=24, max_size=24))  # soon drawn: three bytes an expression
        for n, one in enumerate(order):
            back = [*order[:n], "t1", "t2"]
            how_many, *which = drawn[3 * n : 3 * n + 3]
            targets = [back[byte % len(back)] for byte in which][: how_many % 4 // 2 + how_many % 2]
            said[one] = "phrase" if targets else ("none", "place")[which[0] % 2]
            points[one] = targets
        coders[f"c{c}"] = (said, points)
    return document_of_judgments("t", coders, order=order, turns=["t1", "t2"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["masi", "passonneau", "dice"])
@pytest.mark.parametrize("chain", sorted(CONDITIONS))
@settings(max_examples=settings().max_examples // 10)  # for each of many conditions and distances
@given(text=texts())
def test_every_condition_equals_its_written_out_labels(chain: str, name: str, text: Any) -> None:
    """Labels are cut from base sets without being written; here they are written, and compared."""
    condition = CONDITIONS[chain]
    labels = labels_of(text, condition)
    written = {}
    for cut in (condition.expected, condition.observed):
        rows: dict[str, dict[Any, Any]] = {coder: {} for coder in labels.coders}
        for n in range(len(labels.item)):
            rows[labels.coders[labels.coder[n]]][labels.item[n]] = labels.label(n, cut)
        written[cut] = [[row.get(i) for i in range(len(labels.items))] for row in rows.values()]
    distance = size_distance(name)
    observed = [labels], condition.observed
    found = together(pieces([labels], distance, condition.expected, observed), distance)
    observed = by_enumeration(written[condition.observed], name, "subset")[0]
    expected = by_enumeration(written[condition.expected], name, "subset")[1]
    got = (found.observed, found.expected)
    assert got == pytest.approx((observed, expected), abs=1e-12, nan_ok=True)


def test_texts_are_pooled_and_their_chains_never_meet() -> None:
    coders: Any = {
        "x": ({"a": "none", "b": "phrase"}, {"b": ["a"]}),
        "y": ({"a": "none", "b": "none"}, {}),
    }
    one, two = (document_of_judgments(name, coders, order=["a", "b"]) for name in "12")
    both = am.coref.agreement([one, two], "incl-", "jaccard")
    # labels: none none chain none, twice; the two chains are different sets
    assert both.observed == 0.5
    assert both.expected == pytest.approx(1 - Fraction(6 * 5, 8 * 7))
    each = am.coref.agreement([one, two], "incl-", "jaccard", by="document")
    assert set(each) == {"1", "2"}
    assert each["1"].value == am.coref.agreement(one, "incl-", "jaccard").value


def test_a_function_as_distance_goes_through_the_coefficients() -> None:
    rng = np.random.default_rng(1)
    table = [[frozenset(rng.choice(5, 2).tolist()) for _ in range(12)] for _ in range(3)]
    for name in SET_DISTANCES:
        exact = partial(set_distance, distance=name)
        assert alpha(table, exact).value == pytest.approx(alpha(table, name).value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: alpha([[{1}], [{1}]], "masy"), "Unknown distance of sets 'masy'"),
        (lambda: set_distance([1], [2], empty="none"), "empty='none' is unknown"),  # type: ignore[arg-type]
        (lambda: alpha([[{1}], [{1}]], coefficient="kappa"), "'alpha' or 'K'"),  # type: ignore[arg-type]
        (lambda: alpha([[{1}], ["a"]], lambda a, b: 0.0), "cannot take the word"),
        (lambda: alpha(["ab", "cd"]), "The labels of a coder were expected"),
        (lambda: am.coref.agreement([], "full"), "No documents were given"),
        (lambda: am.coref.condition_named("top"), "no attribute"),
    ],
)
def test_wrong_requests_are_answered_in_words(call: Any, message: str) -> None:
    with pytest.raises(
        (am.errors.NotApplicable, am.errors.AnnotationError, AttributeError), match=message
    ):
        call()


def test_undefined_values_say_why() -> None:
    same = alpha([[{1}, {1}], [{1}, {1}]])
    assert np.isnan(same.value)
    assert same.note
    alone = alpha([[{1}, None], [None, {1}]])
    assert np.isnan(alone.value)
    assert alone.n_items == 0
    assert alone.note
