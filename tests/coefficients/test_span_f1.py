"""Span F1 between coders: counted pair by pair, and from files."""

from itertools import combinations

import numpy as np
import pytest

import annomodels as am
from annomodels.errors import NotApplicable

Units = am.coefficients.Units


def random_rows(seed: int) -> list[tuple[str, str, int, int, str]]:
    rng = np.random.default_rng(seed)
    rows = []
    for text in range(12):
        for coder in "abc":
            for start in range(0, 40, 8):
                if rng.random() < 0.6:
                    end = start + int(rng.integers(2, 4))
                    rows.append((f"t{text}", coder, start, end, "pq"[int(rng.integers(2))]))
    return rows


def by_hand(rows, done) -> float:
    found = marked = 0
    for text in {text for text, _ in done}:
        sets = {c: {r[2:] for r in rows if r[:2] == (text, c)} for t, c in done if t == text}
        for one, other in combinations(sets.values(), 2):
            found += 2 * len(one & other)
            marked += len(one) + len(other)
    return found / marked


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [False, True])
def test_it_is_the_f1_of_all_pairs_of_coders(seed: int, missing: bool) -> None:
    rows = random_rows(seed)
    done = [
        (f"t{n}", c) for n in range(12) for c in "abc" if not (missing and (n + ord(c)) % 4 == 0)
    ]
    rows = [row for row in rows if row[:2] in done]
    units = Units.from_records(rows, lengths={f"t{n}": 50 for n in range(12)}, done=done)
    found = am.coefficients.span_f1(units)
    assert found.value == pytest.approx(by_hand(rows, done))
    low, high = found.interval()
    assert low < found.value < high
    assert np.array_equal(found.draws, am.coefficients.span_f1(units).draws)


def test_a_unit_is_found_only_at_its_place_with_its_label() -> None:
    for other, value in (((0, 4, "p"), 1.0), ((0, 5, "p"), 0.0), ((0, 4, "q"), 0.0)):
        rows = [("t", "a", 0, 4, "p"), ("t", "b", *other)]
        assert am.coefficients.span_f1(Units.from_records(rows, lengths=9)).value == value


def test_what_has_no_value_says_why() -> None:
    alone = Units.from_records([("t", "a", 0, 4, "p")], lengths=9)
    assert am.coefficients.span_f1(alone).reason == "no_overlap"
    nobody = Units.from_records([], lengths={"t": 9}, coders=["a", "b"])
    assert am.coefficients.span_f1(nobody).reason == "no_variation"
    with pytest.raises(NotApplicable, match="needs units"):
        am.coefficients.span_f1([("t", "a", 0, 5, "x")])
