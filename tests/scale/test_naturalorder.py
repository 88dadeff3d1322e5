"""Keys of bytes sort as names do."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annomodels.data.coding import natural_key, natural_sorted
from annomodels.scale.naturalorder import key_of, keys_of

ALPHABET = st.sampled_from(list("aAbB0019.-+_eE \t\0\x01\x02\x03\x04ü٣z"))
NAMES = st.sets(st.text(ALPHABET, max_size=7), min_size=1, max_size=30)


def assert_sorted_by_keys(names: set[str]) -> None:
    keys = keys_of(pa.array(list(names))).to_pylist()
    assert keys == [key_of(name) for name in names]
    found = [name for _, name in sorted(zip(keys, names, strict=True))]
    assert found == sorted(names, key=natural_key)


@given(NAMES)
def test_keys_sort_as_names_do(names: set[str]) -> None:
    assert_sorted_by_keys(names)


@pytest.mark.parametrize("start", ["", "x", "a-"])
def test_keys_of_long_numbers_sort_as_numbers_do(start: str) -> None:
    sizes = (0, 1, 15, 16, 20, 254, 255, 256, 300)
    ends = [
        f"{'0' * zeros}{'9' * n}{rest}" for zeros in (0, 1, 3) for n in sizes for rest in ("", "y7")
    ]
    assert_sorted_by_keys({start + end for end in ends})


@given(st.sampled_from(["", "t", "item_", "-", "٣", "A1"]), st.sets(st.text("019x", max_size=4)))
def test_names_that_end_in_numbers_sort_as_all_do(start: str, ends: set[str]) -> None:
    names = {start + end for end in ends}
    assert natural_sorted(names) == sorted(names, key=natural_key)


def test_a_slice_has_keys_of_its_own() -> None:
    names = pa.array(["a", "bb", "c7", "12", "d"]).slice(1, 3)
    assert keys_of(names).to_pylist() == [key_of("bb"), key_of("c7"), key_of("12")]
