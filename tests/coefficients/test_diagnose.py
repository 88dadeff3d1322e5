"""Diagnosis: shares add up and match their definition; sentences are right, or are not there."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import annomodels as am
from tests.coefficients.pairs_of_labels import of_pairs
from tests.coefficients.test_breakdown_brute_force import DISTANCES, by_item, sparse
from tests.coefficients.test_edges import GIVEN


def codes(found):
    return {sentence.code for sentence in found.sentences}


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 2)
@given(rows=sparse(), distance=st.sampled_from(list(DISTANCES)))
def test_shares_are_those_of_the_pairs_of_labels(distance, rows):
    found = am.diagnose(am.Annotations.from_records(rows), distance=distance, draws=0)
    apart = DISTANCES[distance]
    parts = {"pair": {}, "item": {}, "coder": {}}
    weight = {"item": {}, "coder": {}}
    labels = []
    for item, given_labels in by_item(rows).items():
        if len(given_labels) < 2:
            continue
        labels += given_labels.values()
        for (a, x), (_, y) in permutations(given_labels.items(), 2):
            w = 1 / (len(given_labels) - 1)
            d = w * apart(x, y)
            for part, key in (("pair", tuple(sorted((x, y)))), ("item", item), ("coder", a)):
                parts[part][key] = parts[part].get(key, 0) + d
            for part, key in (("item", item), ("coder", a)):
                weight[part][key] = weight[part].get(key, 0) + w
    total = sum(parts["item"].values())
    for part, table in (("item", found.items), ("coder", found.coders)):
        rows_found = table.set_index(part)
        for key, value in parts[part].items():
            assert rows_found.loc[key, "share"] == pytest.approx(value / total)
            chance = weight[part][key] / sum(weight[part].values())
            assert rows_found.loc[key, "by_chance"] == pytest.approx(chance)
    chance = {}
    for x, y in permutations(labels, 2):
        pair = tuple(sorted((x, y)))
        chance[pair] = chance.get(pair, 0) + apart(x, y)
    for row in found.label_pairs.to_dict("records"):
        key = (row["first"], row["second"])
        assert row["share"] == pytest.approx(parts["pair"][key] / total)
        assert row["by_chance"] == pytest.approx(chance[key] / sum(chance.values()))
        assert row["ratio"] == pytest.approx(row["share"] / row["by_chance"])
    assert found.label_pairs["share"].sum() == pytest.approx(1)
    assert found.items["share"].is_monotonic_decreasing


def test_shares_of_groups_add_up():
    import pandas as pd

    frame = am.datasets.load("trains").to_frame()
    frame["page"] = np.where(frame["item"].astype(str) < "m", "first", "second")
    found = am.diagnose(am.Annotations.from_frame(frame, group="page"), draws=200)
    assert isinstance(found.groups, pd.DataFrame)
    assert found.groups["share"].sum() == pytest.approx(1)
    by_item = found.items.assign(page=np.where(found.items["item"] < "m", "first", "second"))
    expected = by_item.groupby("page")["share"].sum()
    assert found.groups.set_index("group")["share"].to_dict() == pytest.approx(expected.to_dict())


@pytest.mark.parametrize("case", GIVEN["diagnosis"])
def test_high_agreement_with_a_low_coefficient_is_explained_and_nothing_else(case):
    data = of_pairs({(one, other): n for one, other, n in case["pairs"]})
    found = am.diagnose(data, case["name"], draws=100)
    assert set(case.get("codes", ())) <= codes(found)
    assert not set(case.get("without", ())) & codes(found)
    assert all(words in " ".join(found.sentences) for words in case.get("says", ()))
    if "more_than" in case:
        assert found.agreement["value"][0] > case["more_than"]
    if "no_shares" in case:
        assert not found.label_pairs["share"].any()


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 4)
@given(rows=sparse())
def test_any_data_can_be_diagnosed_and_no_verdict_word_appears(rows):
    found = am.diagnose(am.Annotations.from_records(rows), draws=30)
    text = repr(found)
    for word in ("excellent", "good", "poor", "substantial", "moderate", "acceptable", "nan %"):
        assert word not in text
    assert found.sentences


def spammer(rng):
    """Five coders; e says yes to everything, d guesses."""
    truth = rng.integers(0, 2, 150)
    rows = []
    for i, t in enumerate(truth):
        votes = [int(t if rng.random() < 0.95 else 1 - t) for _ in "abc"]
        rows += [(i, c, ["no", "yes"][vote]) for c, vote in zip("abc", votes, strict=True)]
        rows.append((i, "d", rng.choice(["no", "yes"])))
        rows.append((i, "e", "yes"))
    return am.Annotations.from_records(rows)


def test_coders_who_guess_or_say_one_thing_are_named(rng):
    found = am.diagnose(spammer(rng))
    text = " ".join(found.sentences)
    assert "Without 'd', Krippendorff's alpha would be" in text
    assert "Without 'e', Krippendorff's alpha would be" in text
    assert "Without 'a'" not in text
    assert "'e' gave 'yes' to all of 150 items." in text
    assert "'e' gives 'yes'" in text
    coders = found.coders.set_index("coder")
    assert coders.loc["e", "only"] == "yes"
    assert coders.loc[["d", "e"], "p_more"].min() > 0.99
    assert coders.loc[["a", "b", "c"], "p_more"].max() < 0.01


def test_what_a_coder_overuses_is_the_difference_of_shares_on_the_same_items():
    rows = [(i, "a", "x") for i in range(10)] + [(i, "b", "xy"[i % 2]) for i in range(10)]
    rows += [(i, "c", "y") for i in range(5)] + [(50, "c", "y")]
    found = am.diagnose(am.Annotations.from_records(rows), draws=50).coders.set_index("coder")
    # a on its 10 items: x always; the others there: b x on 5 of 10 items, c y on items 0 to 4,
    # each item counting once.
    others_x = np.mean([((i % 2 == 0) + 0) / 2 if i < 5 else float(i % 2 == 0) for i in range(10)])
    assert found.loc["a", "overused"] == "x"
    assert found.loc["a", "over_by"] == pytest.approx(1 - others_x)


def test_sets_of_coders_without_common_items_are_counted():
    rows = [(i, c, (i + (c == "b")) % 2) for i in range(10) for c in "ab"]
    rows += [(i, c, i % 2) for i in range(20, 30) for c in "cde"]
    rows += [(40, "f", 1)]
    found = am.diagnose(am.Annotations.from_records(rows), draws=50)
    assert {"sets_of_coders", "coders_alone", "items_of_one_label"} <= codes(found)
    assert found.components["coders"].tolist() == [3, 2, 1]
    coders = found.coders.set_index("coder")
    assert coders.loc[["a", "c", "f"], "partners"].tolist() == [1, 2, 0]


def test_without_any_overlap_the_graph_is_all_there_is_to_say():
    data = am.Annotations.from_records(
        [(i, c, i % 2) for c in "ab" for i in ([1, 2], [3, 4])[c == "b"]]
    )
    found = am.diagnose(data)
    assert found.sentences[0].code == "undefined"
    assert "coders_alone" in codes(found)
    assert "components" in repr(found)


def test_the_order_of_rows_and_the_names_of_coders_do_not_matter(rng):
    data = spammer(rng)
    frame = data.to_frame()
    shuffled = frame.iloc[rng.permutation(len(frame))]
    one = am.diagnose(am.Annotations.from_frame(shuffled), draws=50)
    two = am.diagnose(data, draws=50)
    assert one.sentences == two.sentences


@pytest.mark.shared
def test_real_crowds_are_diagnosed_with_known_spammers(shared):
    data = am.read(shared / "data" / "snow_rte" / "labels.csv")
    found = am.diagnose(data, draws=300)
    assert found.agreement["value"][0] == pytest.approx(0.241, abs=5e-4)
    assert found.coders["share"].sum() == pytest.approx(1)
    constant = found.coders.dropna(subset="only").set_index("coder")
    assert constant.loc["w151", "n"] == 20
    text = " ".join(found.sentences)
    assert "Without 'w024'" in text
    expected = am.agreement(
        data.select(coders=[c for c in data.coders if c != "w024"]), "alpha", draws=0
    )
    row = found.coders.set_index("coder").loc["w024"]
    assert row["without"] == pytest.approx(expected.value)


@pytest.mark.slow
def test_among_hundreds_of_equal_coders_hardly_one_is_named(rng):
    """Every coder is the same, so whatever is named is named by chance."""
    named = []
    for _ in range(6):
        truth = rng.integers(0, 2, 800)
        rows = [
            (i, f"c{j}", int(t if rng.random() < 0.8 else 1 - t))
            for i, t in enumerate(truth)
            for j in rng.choice(200, 5, replace=False)
        ]
        text = " ".join(am.diagnose(am.Annotations.from_records(rows), draws=300).sentences)
        named.append(text.count("Without 'c") + text.count("percentage points"))
    # Half a name of each of two kinds is expected in a diagnosis.
    assert np.mean(named) <= 1.5
