"""Keys of bytes sort as names do."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annomodels.data.coding import natural_key
from annomodels.scale.naturalorder import MOST_WORDS, buckets, key_of, keys_of, ranks

ALPHABET = st.sampled_from(list("aAbB019.-+_eE \t\0ü٣z"))
NAMES = st.sets(st.text(ALPHABET, max_size=7), min_size=1, max_size=30)


@given(NAMES)
def test_keys_sort_as_names_do(names: set[str]) -> None:
    wanted = sorted(names, key=natural_key)
    assert sorted(names, key=key_of) == wanted
    array = pa.array(list(names), pa.large_string())
    data, places = keys_of(array)
    keys = [data[a:b].tobytes() for a, b in itertools.pairwise(places)]
    assert keys == [key_of(name) for name in names]
    order, rank = ranks((data, places))
    assert array.take(pa.array(order)).to_pylist() == wanted
    assert np.array_equal(rank[order], np.arange(len(names)))


@pytest.mark.parametrize("length", [1, 8 * MOST_WORDS + 20])
def test_long_names_are_sorted_too(length: int) -> None:
    names = ["x" * length + str(n) for n in (10, 9, 100)] + ["y" + "z" * length]
    order, _ = ranks(keys_of(pa.array(names, pa.large_string())))
    assert order.tolist() == [1, 0, 2, 3]


def test_a_bucket_begins_with_its_edge() -> None:
    names = pa.array(["a", "b", "t10", "t9", "z"], pa.large_string())
    edges = [key_of("b"), key_of("t10")]
    assert buckets(keys_of(names), edges).tolist() == [0, 1, 2, 1, 2]


def test_a_slice_has_keys_of_its_own() -> None:
    names = pa.array(["a", "bb", "c7", "d"], pa.large_string()).slice(1, 2)
    data, places = keys_of(names)
    assert [data[a:b].tobytes() for a, b in itertools.pairwise(places)] == [
        key_of("bb"),
        key_of("c7"),
    ]
