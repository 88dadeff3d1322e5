"""Alpha and F1 of units on a continuum: Krippendorff 1995, by hand, from files, and bad units."""

from itertools import combinations, groupby, product

import numpy as np
import pandas as pd
import polars as pl
import pytest

from annomodels.coefficients import Units, alpha_u, span_f1
from annomodels.errors import AnnotationError, NotApplicable
from annomodels.io.span_builder import MarkedSpan, Spans


def random_units(rng, texts=4, coders=3, length=40, labels="xy"):
    rows = []
    for t, c, label in product(range(texts), range(coders), labels):
        cuts = np.sort(rng.choice(np.arange(length + 1), 6, replace=False))
        for start, end in cuts.reshape(3, 2)[: rng.integers(0, 4)]:
            rows.append((t, c, int(start), int(end), label))
    return rows


HALVES = Units.from_records([("t", c, 0.5, 4, "x") for c in "ab"], lengths=20)


def by_hand(rows, length, coders, texts, weights, label):
    """Observed and expected disagreement, section by section, over texts laid end to end."""
    total, pairs = 0.0, coders * (coders - 1)
    whole = sum(weights) * length
    lengths, unit_weights, gaps, gap_weights = [], [], [], []
    for t in range(texts):
        own = {
            c: [r[2:4] for r in rows if r[0] == t and r[1] == c and r[4] == label]
            for c in range(coders)
        }
        for c, spans in own.items():
            filled = {p for start, end in spans for p in range(start, end)}
            free = [p not in filled for p in range(length)]
            for kind, run in groupby(free):
                if kind:
                    gaps.append(len(list(run)))
                    gap_weights.append(weights[t])
            lengths += [end - start for start, end in spans]
            unit_weights += [weights[t]] * len(spans)
            for other in range(coders):
                if other == c:
                    continue
                for start, end in spans:
                    met = [(s, e) for s, e in own[other] if s < end and e > start]
                    # A pair that meets is seen once from each side; a lonely unit from its own,
                    # and once more as the other's gap sees it.
                    total += weights[t] * sum((start - s) ** 2 + (end - e) ** 2 for s, e in met)
                    total += weights[t] * (0 if met else 2 * (end - start) ** 2)
    d_o = total / (pairs * whole**2)
    w, x = np.array(unit_weights), np.array(lengths, dtype=float)
    thrown = 0.0
    for weight, one in zip(w, x, strict=True):
        inside = (w.sum() - 1) / 3 * (2 * one**3 - 3 * one**2 + one)
        against = sum(v * (g - one + 1) for v, g in zip(gap_weights, gaps, strict=True) if g >= one)
        thrown += weight * (inside + one**2 * against)
    coded = coders * whole
    d_e = 2 / whole * thrown / (coded * (coded - 1) - (w * x * (x - 1)).sum())
    return d_o, d_e


def test_definition_by_hand_for_each_label_and_all(rng):
    rows = random_units(rng)
    units = Units.from_records(rows, lengths=40)
    parts = [by_hand(rows, 40, 3, 4, [1] * 4, label) for label in "xy"]
    for label, (d_o, d_e) in zip("xy", parts, strict=True):
        found = alpha_u(units, label, draws=0)
        assert (found.observed, found.expected) == pytest.approx((d_o, d_e))
        assert found.value == pytest.approx(1 - d_o / d_e)
    observed, expected = np.sum(parts, axis=0)
    assert alpha_u(units, draws=0).value == pytest.approx(1 - observed / expected)


def test_draws_are_weighted_texts(rng):
    from annomodels.coefficients.continuum import layer

    rows = random_units(rng)
    units = Units.from_records(rows, lengths=40)
    weights = np.array([[2.0, 1, 0, 1], [0.3, 0.2, 2.5, 1.0]])
    d_o, d_e = layer(units, 0).disagreement(weights)
    for n in (0, 1):
        assert (d_o[n], d_e[n]) == pytest.approx(by_hand(rows, 40, 3, 4, list(weights[n]), "x"))


def test_posterior_over_texts():
    rng = np.random.default_rng(5)
    rows = []
    for t in range(40):
        start = int(rng.integers(0, 60))
        for c in range(2):
            shift = int(rng.integers(-3, 4)) if t % 3 else 0
            rows.append((t, c, max(start + shift, 0), start + 20, "x"))
    units = Units.from_records(rows, lengths=100)
    found = alpha_u(units)
    low, high = found.interval()
    assert low < found.value < high
    assert high - low < 0.2
    assert found.p_above(0.8) > 0.99
    assert np.array_equal(found.draws, alpha_u(units).draws)
    assert "40 texts, 2 coders, 80 units" in repr(found)
    halves = [
        alpha_u(Units.from_records([r for r in rows if r[0] % 2 == h], lengths=100)) for h in (0, 1)
    ]
    assert abs(halves[0].value - halves[1].value) < 0.15


def test_same_units_are_full_agreement_and_disjoint_ones_are_below_0():
    same = [("t", c, 2, 9, "x") for c in "ab"]
    assert alpha_u(Units.from_records(same, lengths=20)).value == 1
    apart = [("t", "a", 0, 5, "x"), ("t", "b", 10, 15, "x")]
    assert alpha_u(Units.from_records(apart, lengths=20)).value < 0


def test_texts_that_one_coder_worked_on_do_not_count():
    rows = [("t", "a", 2, 9, "x"), ("t", "b", 3, 9, "x"), ("u", "a", 0, 50, "x")]
    done = [("t", "a"), ("t", "b"), ("u", "a")]
    units = Units.from_records(rows, lengths={"t": 20, "u": 60}, done=done)
    alone = Units.from_records(rows[:2], lengths=20)
    found = alpha_u(units)
    assert found.value == pytest.approx(alpha_u(alone).value)
    assert (found.n_items, found.n_labels, found.reason) == (1, 2, "too_few_items")
    assert found.convention == "texts that two coders worked on"


def test_a_coder_who_marked_nothing_disagrees():
    rows = [("t", "a", 2, 9, "x")]
    silent = Units.from_records(rows, lengths=20, coders=["a", "b"])
    assert alpha_u(silent).value < 0
    found = alpha_u(Units.from_records(rows, lengths=20))
    assert (np.isnan(found.value), found.reason) == (True, "one_coder")
    empty = Units.from_records([], lengths={"t": 20}, coders=["a", "b"])
    found = alpha_u(empty)
    assert (np.isnan(found.value), found.reason) == (True, "no_variation")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_give_what_records_give(frame, rng):
    rows = random_units(rng)
    table = pd.DataFrame(rows, columns=["doc", "who", "from", "to", "tag"])
    names = {"text": "doc", "coder": "who", "start": "from", "end": "to", "label": "tag"}
    made = Units.from_frame(frame(table.to_dict("list")), lengths=40, **names)
    value = alpha_u(Units.from_records(rows, lengths=40), draws=0).value
    assert alpha_u(made, draws=0).value == pytest.approx(value)
    with pytest.raises(AnnotationError, match="Column 'coder' is missing"):
        Units.from_frame(frame(table.to_dict("list")), lengths=40)


def test_spans_of_an_export_are_units():
    """As the page on coefficients shows it."""
    marks = (MarkedSpan("d", "ana", "NE", 0, 4, "PER"), MarkedSpan("d", "ben", "NE", 0, 9, "PER"))
    seen = {"d": ("ana", "ben", "eve")}
    spans = Spans(marks, seen, texts={"d": "Anna Lee sings."})
    units = Units.from_frame(
        spans.table,
        text="document",
        lengths={name: len(text) for name, text in spans.texts.items()},
        done=[(name, coder) for name, coders in spans.seen.items() for coder in coders],
    )
    assert (units.n_coders, units.length.tolist()) == (3, [15])
    rows = [("d", "ana", 0, 4, "PER"), ("d", "ben", 0, 9, "PER")]
    same = Units.from_records(rows, lengths=15, coders=["ana", "ben", "eve"])
    assert alpha_u(units).value == alpha_u(same).value


def test_all_problems_of_units_at_once():
    rows = [
        ("t", "a", 0, 5, "x"),
        ("t", "a", 4, 9, "x"),
        ("t", "a", 4, 4, "x"),
        ("t", "b", "one", 9, "x"),
        ("t", "", 0, 9, "x"),
        ("t", "b", 90, 120, "x"),
        ("u", "c", 0, 1, "x"),
        ("t", "b", 1),
        ("t", ["b"], 0, 9, "x"),
    ]
    done = [("t", "a"), ("t", "b")]
    with pytest.raises(AnnotationError) as error:
        Units.from_records(rows, lengths={"t": 100}, coders=["a", "b"], done=done)
    assert len(error.value.problems) == 10
    for words in (
        "overlap in text 't'",
        "rows 1 and 2",
        "has no length",
        "are not both numbers",
        "The coder is empty",
        "is not within text 't', which goes from 0 to 100",
        "Text 'u' has the length None",
        "undeclared coders: c",
        "which is not in done=",
        "['b'] is a collection",
        "is not (text, coder, start, end, label)",
    ):
        assert words in str(error.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Units.from_frame([1, 2], lengths=9), "list is not a data frame"),
        (lambda: Units.from_records([], lengths=9, done=["t"]), r"'t' is not a pair \(text, coder"),
        (lambda: alpha_u(HALVES, "y"), "Nobody used the label 'y'"),
        (lambda: alpha_u([("t", "a", 0, 5, "x")]), r"Units\.from_records"),
        (lambda: span_f1([("t", "a", 0, 5, "x")]), "needs units"),
    ],
)
def test_what_does_not_fit(call, message):
    with pytest.raises((AnnotationError, NotApplicable), match=message):
        call()


def test_positions_that_are_not_whole_numbers_are_said():
    assert "Positions are not whole numbers" in repr(alpha_u(HALVES))


def random_rows(seed):
    rng = np.random.default_rng(seed)
    rows = []
    for text in range(12):
        for coder in "abc":
            for start in range(0, 40, 8):
                if rng.random() < 0.6:
                    end = start + int(rng.integers(2, 4))
                    rows.append((f"t{text}", coder, start, end, "pq"[int(rng.integers(2))]))
    return rows


def f1_by_hand(rows, done):
    found = marked = 0
    for text in {text for text, _ in done}:
        sets = {c: {r[2:] for r in rows if r[:2] == (text, c)} for t, c in done if t == text}
        for one, other in combinations(sets.values(), 2):
            found += 2 * len(one & other)
            marked += len(one) + len(other)
    return found / marked


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [False, True])
def test_f1_is_that_of_all_pairs_of_coders(seed, missing):
    rows = random_rows(seed)
    done = [
        (f"t{n}", c) for n in range(12) for c in "abc" if not (missing and (n + ord(c)) % 4 == 0)
    ]
    rows = [row for row in rows if row[:2] in done]
    units = Units.from_records(rows, lengths={f"t{n}": 50 for n in range(12)}, done=done)
    found = span_f1(units)
    assert found.value == pytest.approx(f1_by_hand(rows, done))
    low, high = found.interval()
    assert low < found.value < high
    assert np.array_equal(found.draws, span_f1(units).draws)


def test_a_unit_is_found_only_at_its_place_with_its_label():
    for other, value in (((0, 4, "p"), 1.0), ((0, 5, "p"), 0.0), ((0, 4, "q"), 0.0)):
        rows = [("t", "a", 0, 4, "p"), ("t", "b", *other)]
        assert span_f1(Units.from_records(rows, lengths=9)).value == value


def test_f1_without_a_value_says_why():
    alone = Units.from_records([("t", "a", 0, 4, "p")], lengths=9)
    assert span_f1(alone).reason == "no_overlap"
    nobody = Units.from_records([], lengths={"t": 9}, coders=["a", "b"])
    assert span_f1(nobody).reason == "no_variation"
