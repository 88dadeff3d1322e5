"""Contributions of coders and prevalence add up to the posterior log-odds, draw by draw."""

import itertools

import numpy as np
import pytest

import annomodels as am
from annomodels.fitting.fit import Fit
from annomodels.models.catalog import resolve
from annomodels.summaries.draws import thinned, truth_probabilities
from annomodels.summaries.why import PREVALENCE, SUM, why


@pytest.fixture(scope="module")
def repeated(make):
    """Three labels, coders who repeat themselves, some known gold; short chains."""
    rng = np.random.default_rng(5)
    rows = [
        (f"t{i}", f"c{j}", "abc"[int(rng.choice(3, p=np.roll([0.7, 0.2, 0.1], i % 3)))])
        for i in range(30)
        for j in rng.permutation(5)[:3]
        for _ in range(1 + (j == 0))
    ]
    data = am.Annotations.from_records(rows, labels=list("abc"), truth={"t3": "b", "t4": "a"})
    return make.gibbs(data, draws=60), data


def test_the_sum_is_the_posterior_log_odds_on_every_draw(repeated) -> None:
    tree, data = repeated
    found = why(tree, data, data.items)
    open_items = [name for i, name in enumerate(data.items) if data.gold[i] < 0]
    draws = thinned(tree, data)
    posterior = np.stack([p for _, p in truth_probabilities(draws, data)])
    place = {name: k for k, name in enumerate(data.labels)}
    table, values = found.table, found.draws["log_odds"].values
    assert len(values) == len(draws)
    for name in open_items:
        of_item = (table["item"] == name).to_numpy()
        row = table[of_item].iloc[0]
        p = posterior[:, data.items.index(name)]
        odds = np.log(p[:, place[row["label"]]] / p[:, place[row["runner_up"]]])
        total = of_item & (table["source"] == SUM).to_numpy()
        np.testing.assert_allclose(values[:, total][:, 0], odds, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(values[:, of_item & ~total].sum(axis=1), odds, atol=1e-9)
    means = table.groupby("item", sort=False)["log_odds"]
    np.testing.assert_allclose(means.last(), means.sum() - means.last(), atol=1e-9)


def test_every_coder_of_an_item_has_one_row(repeated) -> None:
    tree, data = repeated
    table = why(tree, data, data.items).table
    for i, name in enumerate(data.items):
        coders = data.coder[data.starts[i] : data.starts[i + 1]]
        said = table[table["item"] == name]
        assert sorted(said["source"]) == sorted(
            {data.coders[j] for j in coders} | {PREVALENCE, SUM}
        )
        assert said["source"].tolist()[-2:] == [PREVALENCE, SUM]
        assert np.all(np.diff(said["log_odds"].abs().to_numpy()[:-2]) <= 1e-12)


def test_leaving_a_coder_out_changes_the_enumerated_odds_by_their_part(make) -> None:
    prevalence = np.array([0.5, 0.3, 0.2])
    confusion = np.random.default_rng(2).dirichlet(np.ones(3) * 2, size=(3, 3))
    rows = [("t", f"c{j}", "abc"[k]) for j, k in enumerate((0, 2, 1))]
    rows += [("u", f"c{j}", "abc"[k]) for j, k in enumerate((1, 1, 0))]
    data = am.Annotations.from_records(rows, labels=list("abc"))

    def odds(said: list[tuple[int, int]], a: int, b: int) -> float:
        """Log-odds by summing over every truth."""
        joint = {
            truth: prevalence[truth] * np.prod([confusion[j, truth, k] for j, k in said])
            for truth in range(3)
        }
        total = sum(joint.values())
        return float(np.log(joint[a] / total) - np.log(joint[b] / total))

    table = why(make.exact(data, prevalence, confusion), data, ["t", "u"]).table
    place = {name: k for k, name in enumerate("abc")}
    for name, labels in (("t", (0, 2, 1)), ("u", (1, 1, 0))):
        of_item = table[table["item"] == name].set_index("source")
        a, b = place[of_item["label"].iloc[0]], place[of_item["runner_up"].iloc[0]]
        everyone = list(enumerate(labels))
        assert of_item.loc[SUM, "log_odds"] == pytest.approx(odds(everyone, a, b))
        assert of_item.loc[PREVALENCE, "log_odds"] == pytest.approx(odds([], a, b))
        for j, n in itertools.product(range(3), range(1, 4)):
            for others in itertools.combinations([x for x in everyone if x[0] != j], n - 1):
                added = odds([*others, everyone[j]], a, b) - odds(list(others), a, b)
                assert of_item.loc[f"c{j}", "log_odds"] == pytest.approx(added)


def test_known_gold_is_set_against_what_coders_speak_for_most(repeated) -> None:
    tree, data = repeated
    found = why(tree, data, "t3")
    assert set(found.table["label"]) == {"b"}
    assert found.table["probability"].to_numpy() == pytest.approx(1.0)
    against = found.table["runner_up"].iloc[0]
    draws = thinned(tree, data)
    blind = data.replace(gold=None)
    at = data.items.index("t3")
    score = np.mean([p[at] for _, p in truth_probabilities(draws, blind)], axis=0)
    score[1] = -np.inf
    assert against == "abc"[int(score.argmax())]
    assert "t3" in " ".join(found.notes)


def test_without_names_the_overturned_majorities_are_explained(crowd) -> None:
    world, tree = crowd
    fit = Fit(world.data, resolve("dawid-skene"), tree)
    gold = fit.gold().table
    overturned = gold.loc[gold["overturned"], "item"].tolist()
    table = fit.why().table
    assert overturned
    assert list(dict.fromkeys(table["item"])) == overturned
    sums = table[table["source"] == SUM]
    assert (sums["log_odds"] > 0).mean() > 0.9
    assert f"{len(overturned)} items of 400" in fit.why().notes[0]


def test_an_item_without_labels_has_the_prevalence_alone(make) -> None:
    data = make.coded(*np.array([(0, 0, 0), (0, 1, 1), (1, 0, 1)]).T, 3, 2, 2)
    table = why(make.exact(data, [0.8, 0.2], np.full((2, 2, 2), 0.5)), data, data.items[2]).table
    assert table["source"].tolist() == [PREVALENCE, SUM]
    assert table["log_odds"].tolist() == pytest.approx([np.log(4)] * 2)
