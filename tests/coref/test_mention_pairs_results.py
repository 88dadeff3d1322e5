"""What a fit tells: tables, chains, sentences; and what data and options are refused."""

import numpy as np
import pandas as pd
import pytest

import annomodels as am
from annomodels.coref import pairs
from annomodels.engines.links import log_likelihood
from annomodels.models.pairs import MentionPairs, PairValues, SingleTruth
from annomodels.priors import Beta

pytestmark = pytest.mark.slow

# three coders; ben mistakes the fourth mention, cat gives it two readings
SAID = {
    "ana": ["DN()", "DO(1)", "DO(2)", "DO(3)", "DN()", "DO(1&5)"],
    "ben": ["DN()", "DO(1)", "DO(2)", "DN()", "DN()", "DO(1&5)"],
    "cat": ["DN()", "DO(1)", "DO(2)", ["DO(3)", "DO(5)"], "DN()", "DO(1&5)"],
}


def fitted(table, model="pairs", **options):
    return am.fit(pairs(table), model, **{"seed": 1, **options})


def _frame(rows):
    return pd.DataFrame(rows, columns=["item", "coder", "label"])


def _table(said=SAID, texts=1):
    rows = [
        (f"t{t}#{i}", coder, label)
        for t in range(texts)
        for coder, labels in said.items()
        for i, given in enumerate(labels, 1)
        for label in ([given] if isinstance(given, str) else given)
    ]
    return _frame(rows)


@pytest.fixture(
    scope="module",
    params=["pairs", "single", pytest.param("nuts", marks=pytest.mark.calibration)],
)
def fit(request):
    if request.param == "nuts":
        # so many draws that the rates have 100 independent ones
        return fitted(_table(texts=8), "single", engine="nuts", draws=1500, chains=2)
    return fitted(_table(texts=8), request.param, draws=2000)


@pytest.mark.calibration
@pytest.mark.nuts
@pytest.mark.usefixtures("unending_sampler")
def test_nuts_keeps_what_there_is_when_the_time_is_over():
    fit = fitted(_table(texts=8), "single", engine="nuts", draws=500, chains=3, time_limit=0.1)
    assert fit.tree.attrs["stopped"] == "time limit"
    sizes = fit.tree["posterior"].sizes
    assert (sizes["chain"], sizes["draw"]) == (2, 60)
    assert np.isfinite(fit.tree["posterior"]["rate"]).all()
    np.testing.assert_allclose(fit.tree["truth"]["p_number"].sum("number"), 1.0)


def test_candidates_are_the_labels_given_and_coders_decide_on_all():
    codes = pairs(_table())
    assert codes.coders == ("ana", "ben", "cat")
    assert codes.labels == ("DN()", "DO(1)", "DO(2)", "DN()", "DO(3)", "DO(5)", "DN()", "DO(1&5)")
    assert codes.classes == ("DN", "DO")
    fourth = slice(codes.starts[3], codes.starts[6])
    assert codes.coder[fourth].tolist() == [0, 1, 2] * 3
    assert codes.accepted[fourth].tolist() == [0, 1, 0, 1, 0, 1, 0, 0, 1]
    assert codes.votes.tolist() == [3, 3, 3, 1, 2, 1, 3, 3]
    assert codes.per_coder.tolist() == [6, 6, 6]


def test_further_candidates_and_none_of_these():
    codes = pairs(_table(), always=["DN()"]).with_none()
    assert codes.labels[:5] == ("DN()", "none of these", "DN()", "DO(1)", "none of these")
    assert codes.classes[-1] == "none of these"
    assert codes.judged().tolist() == [3] * 6


def test_repeated_rows_count_once():
    table = _table()
    one, two = pairs(table), pairs(pd.concat([table, table]))
    assert (one.accepted == two.accepted).all()


def test_links_and_chains_follow_the_most_probable_antecedents(fit):
    links = fit.links().table
    first = links[links["item"].str.startswith("t0#")]
    assert first[["item", "antecedent"]].values.tolist() == [
        ["t0#2", "t0#1"],
        ["t0#3", "t0#2"],
        ["t0#4", "t0#3"],
    ]
    chains = fit.chains()
    mine = chains.table[chains.table["chain"] == "t0#1"]
    assert mine["item"].tolist() == ["t0#1", "t0#2", "t0#3", "t0#4"]
    assert np.isnan(mine["p_link"].iloc[0])
    assert mine["p_weakest"].to_numpy() == pytest.approx(first["p_link"].min())
    assert chains.notes == (
        "Mentions left unjoined because their antecedent has several parts: 8.",
    )
    between = float(links["p_link"].min() + links["p_link"].max()) / 2
    fewer = fit.links(at_least=between).table
    assert 0 < len(fewer) < len(links)
    assert (fewer["p_link"] >= between).all()
    assert ((links["p_next"] > 0) & (links["p_next"] < 1)).all()
    assert len(fit.chains(at_least=between).table) < len(chains.table)


def test_probabilities_of_a_mention_fit_together(fit):
    mentions, every = fit.mentions().table, fit.interpretations().table
    total = mentions[["p_none", "p_one", "p_several"]].sum(axis=1)
    np.testing.assert_allclose(total, 1.0, atol=1e-9)
    expected = every.groupby("item")["p_true"].sum().to_numpy()
    if fit.model.single:
        np.testing.assert_allclose(expected, 1.0, atol=1e-9)
        assert every["silver"].sum() == len(mentions)
    else:
        at_least = (mentions["p_one"] + 2 * mentions["p_several"]).to_numpy()
        assert (expected > at_least - 1e-9).all()
    assert set(mentions["readings"]) <= {"none", "one", "several"}
    best = every.loc[every.groupby("item")["p_true"].idxmax(), "label"].tolist()
    assert mentions["silver"].tolist() == best


def test_the_disputed_mention_is_the_ambiguous_one(fit):
    doubtful = fit.ambiguous(0.0).table
    assert len(doubtful) == 48
    assert doubtful["item"].str.endswith("#4")[:8].all()
    assert len(fit.ambiguous(1.0).table) < 48


def test_coders_have_rates_with_intervals_for_each_class(fit):
    table = fit.coders().table
    assert ((table["low"] < table["mean"]) & (table["mean"] < table["high"])).all()
    draws = fit.tree["posterior"].to_dataset()
    assert len(table) == 3 * len(draws["kind"])
    assert (table["judgments"] == 48).all()
    narrow = fit.coders(prob=0.5).table
    assert (narrow["high"] - narrow["low"] < table["high"] - table["low"]).all()
    assert draws["rate"].dims == ("chain", "draw", "coder", "kind")
    kind = f"{table['quantity'][0]} of {table['class'][0]}"
    mean = float(draws["rate"].sel(coder=table["coder"][0], kind=kind).mean())
    assert mean == pytest.approx(table["mean"][0])


def test_a_fit_says_what_it_is(fit):
    assert "48 mentions" in repr(fit)
    assert fit.check().verdict != "do not use"
    assert fit.check().table["value"][0] == fit.tree.attrs["rhat_max"]


def test_a_fit_of_links_is_a_fit_like_others(fit, tmp_path):
    back = am.load(fit.save(tmp_path / "fit.nc"))
    assert back.model == fit.model
    assert back.data.fingerprint == fit.data.fingerprint
    for verb in ("interpretations", "mentions", "ambiguous", "links", "chains", "coders"):
        pd.testing.assert_frame_equal(getattr(back, verb)().table, getattr(fit, verb)().table)
    assert back.check().sentences == fit.check().sentences
    assert len(fit.plot.ranks().axes) == 3
    with pytest.raises(am.errors.NotApplicable, match=r"mentions\(\)"):
        fit.gold()
    with pytest.raises(am.errors.NotApplicable, match="for classes only"):
        am.compare([fit, back])
    with pytest.raises(am.errors.NotApplicable, match=r"takes no target="):
        fit.coders(0.8)
    classes = am.fit(am.datasets.load("anesthesia"), engine="em", seed=1, starts=1)
    assert "antecedents" in classes.unsupported("links")


def test_the_log_density_is_likelihood_and_prior_of_each_draw(fit):
    posterior = fit.tree["posterior"].to_dataset()
    lp, data = fit.tree["sample_stats"]["lp"].values, fit.model.encode(fit.data)
    for chain, draw in ((0, 0), (1, 7)):
        values = PairValues.of(posterior.isel(chain=chain, draw=draw))
        likelihood = log_likelihood(fit.model, data, values)[0]
        assert float(posterior["log_likelihood"][chain, draw]) == pytest.approx(likelihood)
        assert lp[chain, draw] == pytest.approx(
            likelihood + float(fit.model.log_prior(vars(values)))
        )


def test_the_default_model_is_that_of_the_data():
    fit = am.fit(pairs(_table()), chains=1, draws=20, warmup=0, seed=1)
    assert fit.model == MentionPairs()


def test_several_true_readings_are_found():
    # each of the two readings is what two of four coders say, all coders sound elsewhere
    rows = [(f"t#{i}", coder, f"DO({i - 1})") for i in range(2, 60) for coder in "abcd"]
    rows += [(f"s#{i}", coder, "DO(a)") for i in range(6) for coder in "abcd"]
    rows += [(f"s#{i}", coder, "DO(b)") for i in range(6) for coder in "abcd"]
    found = fitted(_frame(rows), draws=500).mentions().table.set_index("item")
    assert found.loc["s#1", "readings"] == "several"
    assert found.loc["t#9", "readings"] == "one"


def test_single_truth_can_be_none_of_these():
    rows = [(f"t#{i}", coder, "DN()") for i in range(80) for coder in "abcde"]
    rows += [(f"u#{i}", coder, "DO(x)") for i in range(80) for coder in "abcde"]
    rows += [(f"s#{i}", coder, f"DO({coder})") for i in range(20) for coder in "abcde"]
    fit = fitted(_frame(rows), SingleTruth(accuracy=Beta(80, 20), none=True), draws=500)
    found = fit.mentions().table.set_index("item")
    assert found.loc["s#1", ["silver", "readings"]].tolist() == ["none of these", "none"]
    assert found.loc["t#1", ["silver", "readings"]].tolist() == ["DN()", "one"]
    assert set(fit.links().table["item"].str[0]) == {"u"}


def test_documents_are_taken_as_they_are():
    text = am.coref.document(
        "t", {"ana": [["a", "b"], ["c"]], "ben": [["a", "b"], ["c"]], "cat": [["a", "b", "c"]]}
    )
    fit = fitted([text], "single", draws=1000)
    assert fit.data.items == ("t#0", "t#1", "t#2")
    assert fit.links().table["antecedent"].tolist()[0] == "t#0"


def test_the_check_says_what_is_thin():
    table = pd.concat([_table(), pd.DataFrame({"item": ["x#1"], "coder": "dan", "label": "DN()"})])
    sentences = " ".join(fitted(table, "single", draws=1000).check().sentences)
    assert "Fewer than 20 mentions were judged by ana, ben, cat, dan" in sentences
    assert "Mentions judged by only one coder: 1 of 7" in sentences


def test_a_swap_of_true_and_false_is_told():
    backwards = MentionPairs(sensitivity=Beta(2, 40), specificity=Beta(2, 40))
    check = fitted(_table(texts=8), backwards, draws=1500).check()
    assert "True and false may be swapped on class DO" in " ".join(check.sentences)
    assert not check


def test_short_runs_are_not_to_be_used():
    check = fitted(_table(texts=4), draws=10, warmup=0, chains=4).check()
    assert not check
    assert "The chains do not agree" in " ".join(check.sentences)


def test_bad_tables_are_refused_with_all_problems():
    with pytest.raises(am.errors.AnnotationError, match="no column coder and no column label"):
        fitted(pd.DataFrame({"item": ["a"]}))
    holes = pd.DataFrame({"item": ["a", None], "coder": ["x", "y"], "label": ["", "DN()"]})
    with pytest.raises(am.errors.AnnotationError) as caught:
        fitted(holes)
    assert [problem.where for problem in caught.value.problems] == ["row 2", "row 1"]
    with pytest.raises(am.errors.AnnotationError, match="No judgments"):
        fitted(_table().iloc[:0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "mpa"}, "pairs, single"),
        ({"engine": "em"}, "gibbs or nuts"),
        ({"draws": 0, "chains": 0}, "chains=0 and draws=0"),
        ({"warmup": -1}, "warmup=-1"),
        ({"executor": "threads"}, "[Ll]eave"),
        ({"starts": 3}, "[Ll]eave"),
        ({"model": "hierarchical"}, "labels of items, not mentions"),
    ],
    ids=str,
)
def test_options_that_do_not_exist_are_refused(options, message):
    with pytest.raises(am.errors.NotApplicable, match=message):
        fitted(_table(), **options)


def test_candidates_of_all_mentions_are_a_list():
    with pytest.raises(am.errors.NotApplicable, match="list of labels"):
        pairs(_table(), always="DN()")


def test_thresholds_must_be_probabilities(fit):
    for call in (fit.links, fit.chains, fit.ambiguous):
        with pytest.raises(am.errors.NotApplicable, match="between 0 and 1"):
            call(1.5)
    with pytest.raises(am.errors.NotApplicable, match="prob=0"):
        fit.coders(prob=0)


def test_what_one_more_reader_would_say_is_less_sure_than_the_truth():
    rows = [("t#1", coder, "DO(0)" if coder == "c" else "DN()") for coder in "abc"]
    rows += [(f"t#{i}", coder, "DN()") for i in range(2, 30) for coder in "abc"]
    fit = fitted(_frame(rows), chains=2, draws=300, warmup=200)
    found = fit.interpretations().table.set_index(["item", "label"])
    p, said = found["p_true"], found["p_next"]
    assert said["t#1", "DO(0)"] < said["t#1", "DN()"] < p["t#1", "DN()"]
    assert said["t#1"].sum() < 1
    assert 0.9 < said["t#9", "DN()"] < 1
    silver = fit.mentions().table.set_index("item")
    assert silver["p_next"]["t#1"] == said["t#1", "DN()"]


def test_one_class_of_labels_has_no_ratio_of_weights_to_draw():
    rows = [("t#1", c, "M(0)") for c in "ab"] + [("t#2", c, f"M({c})") for c in "ab"]
    fit = fitted(_frame(rows), "single", chains=2, draws=300, warmup=100)
    assert fit.interpretations().table["p_true"].tolist() == pytest.approx([1, 0.5, 0.5], abs=0.05)
    assert (fit.tree["posterior"]["prevalence"] == 1).all()


def test_more_draws_are_not_advised_where_they_do_not_help():
    """Coders who guess have several solutions, and each chain stays in its own."""
    rng = np.random.default_rng(1)
    rows = [
        (f"t{t}#{i}", coder, rng.choice(["DN()", "DO(1)", "DO(2)", "DO(3)"]))
        for t in range(6)
        for i in range(1, 21)
        for coder in "ab"
    ]
    check = fitted(_frame(rows), draws=200, extend=False).check()
    said = [
        text for text in check.sentences if "chains do not agree" in text or "draws are" in text
    ]
    assert len(said) == 2
    assert all("More draws seldom help here. Use model='single'" in text for text in said)
