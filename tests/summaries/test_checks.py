"""The verdict: what makes it worse, and the sentences that say so."""

import numpy as np
import pytest

from annomodels.summaries.coders import coders
from annomodels.summaries.trust.checks import check
from annomodels.summaries.trust.convergence import convergence


@pytest.fixture(scope="module")
def good(make):
    """Fit data that the model generated, with enough draws."""
    world = make.world(2, n_items=300, n_coders=8, per_item=6)
    return world.data, make.gibbs(world.data, chains=4, draws=400, warmup=100)


def finding(result, name):
    row = result.table[result.table["name"] == name]
    assert len(row) == 1
    return row.iloc[0]


def with_attrs(tree, **attrs):
    out = tree.copy()
    out.attrs = {**tree.attrs, **attrs}
    return out


@pytest.mark.slow
def test_a_good_fit_is_trusted(good):
    data, tree = good
    result = check(tree, data)
    assert result.verdict == "no problem found"
    assert bool(result)
    assert result.table["ok"].all()
    assert list(result.table.columns) == ["name", "value", "limit", "ok", "sentence"]
    assert result.table["sentence"].str.endswith(".").all()
    assert "reproduces the labels" in repr(result)


@pytest.mark.slow
def test_convergence_is_that_of_arviz_on_the_same_draws(good):
    from arviz_stats.base import array_stats

    data, tree = good
    names, rhat, ess = convergence(tree, data)
    prevalence = tree["posterior"]["prevalence"].values
    confusion = tree["posterior"]["confusion"].values
    accuracy = np.einsum("cdk,cdjkk->cdj", prevalence, confusion)
    at = names.index("accuracy of c3")
    assert rhat[at] == pytest.approx(array_stats.rhat(accuracy[..., 3], chain_axis=0, draw_axis=1))
    assert ess[at] == pytest.approx(array_stats.ess(accuracy[..., 3], chain_axis=0, draw_axis=1))
    assert len(names) == 2 + 8


@pytest.mark.slow
def test_chains_that_disagree_must_not_be_used(good):
    data, tree = good
    bad = tree.copy(deep=True)
    bad["posterior"]["prevalence"].values[0] = [0.9, 0.1]
    result = check(bad, data)
    assert result.verdict == "do not use"
    assert not result
    assert result.findings[0].state == "results_apart"
    assert result.findings[0].said == result.sentences[0]


@pytest.mark.slow
def test_too_few_draws_must_not_be_used(good, make):
    data, _ = good
    few = check(make.gibbs(data, chains=2, draws=5), data)
    assert (few.verdict, few.findings[0].state) == ("do not use", "short")
    short = check(make.gibbs(data, chains=4, draws=60), data)
    assert short.verdict in ("needs review", "do not use")
    assert not finding(short, "effective draws")["ok"]


@pytest.mark.slow
def test_one_chain_is_cut_in_two(good, make):
    data, _ = good
    result = check(make.gibbs(data, chains=1, draws=1500), data)
    assert finding(result, "R-hat")["value"] < 1.02


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attrs", "name", "words"),
    [
        ({"swapped_chains": "[1]", "relabelled_share": 0.25}, "swapped classes", "chain 2 (25 %"),
        (
            {
                "modes": '[{"lp": -10.0, "share": 0.75, "prevalence": [0.5, 0.5]}, '
                '{"lp": -14.5, "share": 0.25, "prevalence": [0.9, 0.1]}]'
            },
            "modes",
            "75 %, 25 %; the log density of the second is 4.5 lower",
        ),
        ({"stopped": "interrupted"}, "stopped early", "because it was interrupted"),
        ({"stopped": "time limit"}, "stopped early", "because of its time limit"),
    ],
)
def test_the_run_tells_on_itself(good, attrs, name, words):
    data, tree = good
    result = check(with_attrs(tree, **attrs), data)
    assert result.verdict == "needs review"
    assert words in finding(result, name)["sentence"]
    assert finding(result, name)["sentence"] in result.sentences


@pytest.mark.slow
def test_divergences_are_counted(good):
    data, tree = good
    bad = tree.copy(deep=True)
    stats = bad["sample_stats"].to_dataset()
    diverging = np.zeros(stats["lp"].shape, bool)
    diverging[0, :3] = True
    bad["sample_stats"] = type(bad)(stats.assign(diverging=(("chain", "draw"), diverging)))
    result = check(bad, data)
    assert (result.verdict, finding(result, "divergences")["value"]) == ("needs review", 3)


def test_em_is_at_best_a_first_look(good, make):
    data, _ = good
    tree = make.exact(data, [0.5, 0.5], np.array([make.matrix(0.8, 2)] * 8), engine="em")
    result = check(tree, data)
    assert result.verdict == "needs review"
    assert result.findings[0].code == "intervals"
    assert "R-hat" not in set(result.table["name"])


@pytest.mark.slow
def test_labels_without_signal_must_not_become_gold(make):
    world = make.world(n_items=300, n_coders=6, per_item=6, accuracy=0.5)
    result = check(make.gibbs(world.data, chains=2, draws=300), world.data)
    assert result.verdict == "do not use"
    assert ("signal", 2) in {(each.code, each.severity) for each in result.findings}


def test_no_overlap_must_not_be_used(make):
    item = np.arange(60)
    data = make.coded(item, item % 3, item // 3 % 2, 60, 3, 2)
    result = check(make.gibbs(data, chains=2, draws=300), data)
    assert result.verdict == "do not use"
    assert ("overlap", "none") in {(each.code, each.state) for each in result.findings}


@pytest.mark.slow
def test_groups_without_common_items_are_named(make):
    item = np.repeat(np.arange(100), 3)
    coder = np.tile(np.arange(3), 100) + 3 * (item >= 50)
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 100)
    label = np.where(rng.random(300) < 0.85, truth[item], 1 - truth[item])
    data = make.coded(item, coder, label, 100, 6, 2)
    result = check(make.gibbs(data, chains=4, draws=300), data)
    assert finding(result, "groups of coders")["value"] == 2
    assert not finding(result, "groups of coders")["ok"]


@pytest.mark.slow
def test_few_labels_per_coder_suggest_the_hierarchical_model(make):
    world = make.world(n_items=100, n_coders=50, per_item=5)
    tree = make.gibbs(world.data, chains=4, draws=300)
    result = check(tree, world.data)
    assert not finding(result, "labels per coder")["ok"]
    other = check(with_attrs(tree, model='{"name": "hierarchical"}'), world.data)
    assert "labels per coder" not in set(other.table["name"])


@pytest.mark.slow
def test_hard_items_make_probabilities_too_sure(make):
    world = make.world(n_items=400, n_coders=10, per_item=6, accuracy=0.9)
    rng = np.random.default_rng(5)
    hard = rng.random(400) < 0.5
    guess = rng.integers(0, 2, len(world.data))
    data = world.data.replace(label=np.where(hard[world.data.item], guess, world.data.label))
    result = check(make.gibbs(data, chains=4, draws=300), data)
    assert result.verdict == "needs review"
    assert any("Gold labels are overconfident" in sentence for sentence in result.sentences)


@pytest.mark.slow
def test_swapped_labels_are_a_signal(make):
    """Coders who say the next of three classes, or swap two of them, tell as much as good ones."""
    import annomodels as am
    from annomodels.summaries.skills import signal, skill

    rng = np.random.default_rng(2)
    truth = rng.integers(3, size=150)
    said = np.array([[0, 1, 2], [1, 2, 0], [0, 2, 1], [2, 1, 0], [1, 0, 2], [0, 1, 2]])
    right = rng.random((150, 6)) < 0.9
    rows = [
        (i, j, int(said[j, truth[i]] if right[i, j] else rng.integers(3)))
        for i in range(150)
        for j in range(6)
    ]
    gold = {i: int(truth[i]) for i in range(60)}
    data = am.Annotations.from_records(rows, labels=[0, 1, 2], truth=gold)
    tree = make.gibbs(data, chains=2, draws=200, warmup=200)
    posterior = tree["posterior"].to_dataset().stack(sample=("chain", "draw"))
    confusion = posterior["confusion"].transpose("sample", ...).values
    skills = skill(posterior["prevalence"].values.T, confusion).mean(axis=0)
    assert (skills < 0.1).sum() >= 3
    assert 0.55 < np.median(signal(tree, data)) < 0.9
    assert finding(check(tree, data), "signal")["ok"]


@pytest.mark.slow
def test_random_labels_give_no_signal_whatever_the_posterior_says(make):
    import annomodels as am
    from annomodels.summaries.draws import thinned
    from annomodels.summaries.skills import signal, skill

    rng = np.random.default_rng(4)
    rows = [(i, j, int(rng.integers(3))) for i in range(100) for j in range(6)]
    data = am.Annotations.from_records(rows, labels=[0, 1, 2])
    tree = make.gibbs(data, chains=2, draws=200, warmup=200)
    draws = thinned(tree, data, 500)
    assert np.median(skill(draws.prevalence, draws.confusion)) > 0.1
    assert not signal(tree, data).any()
    found = check(tree, data)
    assert found.verdict == "do not use"
    assert "none" in {each.state for each in found.findings if each.code == "signal"}
    assert set(coders(tree, data).table["kind"]) == {"not enough evidence"}


@pytest.mark.slow
def test_known_truth_lights_the_third_lamp(good, make):
    from annomodels.summaries.trust.checks import tested_on

    data, tree = good
    truth = make.world(2, n_items=300, n_coders=8, per_item=6).truth
    known = {data.items[i]: data.labels[truth[i]] for i in range(60)}
    found = check(tree, data)
    assert found.lamps["tested on known truth"] == "not tested"
    tested = tested_on(found, tree, data, known)
    assert (tested.verdict, tested.lamps["tested on known truth"]) == ("confirmed", "passed")
    wrong = {item: data.labels[1 - truth[i]] for i, item in enumerate(data.items[:60])}
    assert tested_on(found, tree, data, wrong).verdict == "needs review"
    assert tested_on(found, tree, data, dict(list(known.items())[:5])) is found


def test_one_fault_has_one_sentence_and_its_symptoms_stay_in_the_table():
    from annomodels.summaries.trust.checks import judged
    from annomodels.summaries.trust.findings import CODERS, REVIEW, TESTED, Finding

    symptom = Finding("spread of the votes", 0.0, 0.01, "Votes are odd.", REVIEW, symptom=True)
    copies = Finding("copies", 2, 0, "Copies: a, b.", REVIEW)
    alone, both = judged([symptom], ""), judged([symptom, copies], "")
    assert alone.sentences == ("Votes are odd.",)
    assert both.sentences == ("Copies: a, b.",)
    assert list(both.table["ok"]) == [False, False]
    # a coder is no reason for a verdict on the result, so that the reason is still said, and first
    swaps = Finding("classes swapped by coders", 1, 0, "a swaps.", REVIEW, CODERS)
    assert judged([swaps, symptom], "").sentences == ("Votes are odd.", "a swaps.")
    assert judged([swaps], "").verdict == "no problem found"
    fine = Finding("R-hat", 1.0, 1.01, "")
    assert judged([fine], "All well.").verdict == "no problem found"
    assert (
        judged([fine], "All well.")
        .sentences[0]
        .startswith("All well. The gold labels have not been tested")
    )
    assert (
        judged([fine, Finding(TESTED, 0, 1, "", lamp=TESTED)], "All well.").verdict == "confirmed"
    )


@pytest.mark.slow
@pytest.mark.parametrize(("size", "asked"), [(60, True), (40, False)])
def test_labels_that_never_differ_need_review(make, size, asked):
    import annomodels as am

    rows = [(i, j, i % 2) for i in range(size) for j in range(2)]
    data = am.Annotations.from_records(rows)
    found = check(make.gibbs(data, chains=2, draws=200, warmup=100), data)
    assert ("unanimous_labels" in {each.code for each in found.findings}) == asked
    if asked:
        assert not finding(found, "unanimous labels")["ok"]
        assert found.verdict in ("needs review", "do not use")
