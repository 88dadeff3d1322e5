"""Keys of bytes sort as names do."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from annomodels.data.coding import natural_key, natural_sorted
from annomodels.scale.naturalorder import buckets, key_of, keys_of

ALPHABET = st.sampled_from(list("aAbB019.-+_eE \t\0ü٣z"))
NAMES = st.sets(st.text(ALPHABET, max_size=7), min_size=1, max_size=30)


@given(NAMES)
def test_keys_sort_as_names_do(names: set[str]) -> None:
    wanted = sorted(names, key=natural_key)
    assert sorted(names, key=key_of) == wanted
    array = pa.array(list(names), pa.large_string())
    keys = keys_of(array)
    assert keys.to_pylist() == [key_of(name) for name in names]
    assert array.take(pc.sort_indices(keys)).to_pylist() == wanted


@given(st.sampled_from(["", "t", "item_", "-", "٣", "A1"]), st.sets(st.text("019x", max_size=4)))
def test_names_that_end_in_numbers_sort_as_all_do(start: str, ends: set[str]) -> None:
    names = {start + end for end in ends}
    assert natural_sorted(names) == sorted(names, key=natural_key)


def test_a_bucket_begins_with_its_edge() -> None:
    names = pa.array(["a", "b", "t10", "t9", "z"], pa.large_string())
    edges = pa.array([key_of("b"), key_of("t10")], pa.large_binary())
    assert buckets(keys_of(names), edges).tolist() == [0, 1, 2, 1, 2]


def test_a_slice_has_keys_of_its_own() -> None:
    names = pa.array(["a", "bb", "c7", "d"], pa.large_string()).slice(1, 2)
    assert keys_of(names).to_pylist() == [key_of("bb"), key_of("c7")]
