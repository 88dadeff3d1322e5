"""The model of spans: one density in Gibbs and PyMC, calibrated, saved and loaded."""

import math
import os
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

import annomodels as am
from annomodels.errors import AnnotationError, NotApplicable
from annomodels.io.span_builder import MarkedSpan, Spans
from annomodels.kernels.spans import group_weights
from annomodels.limits import STATES
from annomodels.reporting.spans import SpanFacts
from annomodels.spans.groups import OTHER_BORDERS, groups_of
from annomodels.spans.model import SpanModel, sample, unseen_spans


def tiny():
    """Four places of three coders, with other borders, other labels and a split."""
    marks = [
        ("d", "ana", 0, 4, "PER"), ("d", "ben", 0, 4, "PER"), ("d", "eva", 0, 9, "LOC"),
        ("d", "ana", 20, 30, "LOC"), ("d", "ben", 20, 24, "PER"), ("d", "ben", 25, 30, "LOC"),
        ("e", "ana", 3, 5, "PER"), ("e", "eva", 8, 9, "LOC"), ("e", "ana", 8, 9, "LOC"),
    ]  # fmt: skip
    made = tuple(MarkedSpan(d, c, "NE", a, b, k) for d, c, a, b, k in marks)
    return Spans(made, {"d": ("ana", "ben", "eva"), "e": ("ana", "eva")})


def crowd(n_documents=30, n_coders=4, seed=0):
    """Draw marks of coders of known skill, who err independently; and true spans."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.6, 0.95, n_coders)
    marks, truth = [], set()
    names = [f"c{j}" for j in range(n_coders)]
    for d in range(n_documents):
        for place in range(0, 200, 20):
            true = rng.choice(["", "A", "B"], p=[0.3, 0.4, 0.3])
            if true:
                truth.add((f"d{d}", place, place + 5, true))
            for j, name in enumerate(names):
                right = rng.random() < skill[j]
                label = true if right else rng.choice(["", "A", "B"], p=[0.6, 0.2, 0.2])
                end = place + (5 if rng.random() < skill[j] else int(rng.choice([3, 4, 6, 7])))
                if label:
                    marks.append(MarkedSpan(f"d{d}", name, "NE", place, end, str(label)))
    return Spans(tuple(marks), {f"d{d}": tuple(names) for d in range(n_documents)}), truth


def parameters(groups, seed=0):
    rng = np.random.default_rng(seed)
    k, j = len(groups.labels) + 1, len(groups.coders)
    return {
        "of_context": rng.dirichlet(np.ones(k), int(groups.context.max()) + 1),
        "confusion": rng.dirichlet(np.ones(k), (j, k)),
        "exact": rng.uniform(0.2, 0.9, j),
        "of_visit": rng.uniform(0.2, 0.9, groups.visit_first[-1]),
    }


def by_kernel(groups, p, g):
    by_class, by_shape = np.empty(len(groups.labels) + 1), np.empty(50)
    attends = p["of_visit"][:, None]
    coder = np.repeat(np.arange(len(groups.coders)), np.diff(groups.visit_first))
    silent = np.hstack([attends * p["confusion"][coder, :, 0] + 1 - attends, attends])
    value = group_weights(
        g, groups.answer_first, groups.coder, groups.visit, groups.label, groups.shape,
        groups.shape_first, groups.log_other, groups.log_shape, groups.log_nothing,
        np.log(p["of_context"][groups.context[g]]), np.log(p["confusion"].transpose(0, 2, 1)),
        np.log(silent), np.log(p["exact"]), np.log1p(-p["exact"]), by_class, by_shape,
    )  # fmt: skip
    return value, by_class, by_shape


def test_the_kernel_equals_enumeration_of_every_truth_and_border():
    groups = groups_of(tiny())
    p = parameters(groups)
    simple = [g for g in range(len(groups)) if all(len(s) < 2 for s in shapes_of(groups, g))]
    assert len(simple) == 3
    for g in simple:
        # borders are those that were marked, and others: OTHER_BORDERS + 1 in all
        total, posterior = 0.0, np.zeros(len(groups.labels) + 1)
        answers = range(groups.answer_first[g], groups.answer_first[g + 1])
        for k, true in product(range(len(posterior)), range(OTHER_BORDERS + 1)):
            chance = p["of_context"][groups.context[g], k] / (OTHER_BORDERS + 1)
            for a in answers:
                j, attends = groups.coder[a], p["of_visit"][groups.visit[a]]
                of_label = attends * p["confusion"][j, k, groups.label[a]]
                if not groups.label[a]:
                    chance *= of_label + 1 - attends
                    continue
                b = p["exact"][j]
                border = b if groups.shape[a] == true else (1 - b) / OTHER_BORDERS
                chance *= of_label * (border if k else 1 / (OTHER_BORDERS + 1))
            total += chance
            posterior[k] += chance
        value, by_class, _ = by_kernel(groups, p, g)
        assert value == pytest.approx(math.log(total))
        assert by_class == pytest.approx(posterior / total)


def shapes_of(groups, g):
    return groups.shapes[groups.shape_first[g] : groups.shape_first[g + 1]]


@pytest.mark.nuts
@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
def test_the_pymc_model_is_the_same_density():
    decided = [MarkedSpan("e", "", "", 3, 5, "(none)"), MarkedSpan("e", "", "", 8, 9, "LOC")]
    names = ("of_context", "exact", "of_visit", "confusion_0", "confusion_1", "confusion_2")
    for groups in (groups_of(tiny()), groups_of(tiny(), decisions=decided)):
        model = SpanModel().pymc(groups)
        asked = model.replace_rvs_by_values([model[name] for name in ("answers", *names)])
        point = model.initial_point(random_seed=1)
        answers, *values = model.compile_fn(
            asked, inputs=model.value_vars, on_unused_input="ignore"
        )(point)
        found = dict(zip(names, values, strict=True))
        p = {n: np.asarray(found[n]) for n in names[:3]}
        p["confusion"] = np.stack([found[f"confusion_{k}"] for k in range(3)], axis=1)
        total = 0.0
        for g in range(len(groups)):
            value, by_class, by_shape = by_kernel(groups, p, g)
            known = groups.known[g]
            if known >= 0:
                value += math.log(by_class[known])
                value += math.log(by_shape[groups.known_shape[g]]) if known else 0.0
            total += value
        assert float(answers) == pytest.approx(total)


@pytest.mark.nuts
@pytest.mark.full("Compiles for minutes; reduced runs have densities, enumeration and ranks.")
def test_gibbs_and_nuts_have_the_same_posterior():
    import pymc as pm

    # with wide priors, small concentrations make corners that NUTS does not leave
    model = SpanModel(
        other=5, diagonal=10, concentration=80, prevalence=5, evenness=40, steadiness=40
    )
    groups = groups_of(tiny())
    gibbs = sample(groups, model, seed=2, chains=4, draws=20_000, warmup=500)
    with model.pymc(groups):
        nuts = pm.sample(
            1500, tune=800, chains=2, cores=1, random_seed=3, progressbar=False, target_accept=0.95
        )
    for name in ("prevalence", "exact", "attentive"):
        ours, theirs = gibbs.posterior[name], nuts["posterior"][name].values
        gap = np.abs(ours.mean(axis=(0, 1)) - theirs.mean(axis=(0, 1)))
        # of 50 batches of NUTS, whose errors are larger: draws depend on how a processor rounds
        batches = theirs.reshape(50, -1, *theirs.shape[2:]).mean(axis=1)
        assert (gap < 5 * batches.std(axis=0) / np.sqrt(50)).all(), name
        assert gap.max() < 0.025, name
        assert ours.std(axis=(0, 1)) == pytest.approx(theirs.std(axis=(0, 1)), abs=0.025), name


def simulated(model, rng):
    """Draw parameters from the prior and answers given them, with all places, marked or not."""
    from dataclasses import replace

    k, coders, documents, places = 2, 3, 4, 6
    base = np.array([rng.dirichlet(row) for row in model.base(k)])
    s = np.exp(rng.normal(math.log(model.concentration), 1, k))
    p = {"prevalence": rng.dirichlet(np.full(k, model.prevalence))}
    even = math.exp(rng.normal(math.log(model.evenness), 1))
    p["exact"] = rng.beta(*model.exact, coders)
    p["attentive"] = rng.beta(*model.attention, coders)
    steady = np.exp(rng.normal(math.log(model.steadiness), 1, coders))
    rows = np.array(
        [[rng.dirichlet(np.maximum(s[c] * base[c], 1e-6)) for c in range(k)] for _ in range(coders)]
    )
    marks = []
    for d in range(documents):
        of_context = rng.dirichlet(np.maximum(even * p["prevalence"], 1e-6))
        attends = rng.beta(steady * p["attentive"], steady * (1 - p["attentive"]))
        for place in range(places):
            true, border = rng.choice(k, p=of_context), rng.integers(OTHER_BORDERS + 1)
            # a known span of nobody keeps each place in the data, so that none is left out
            marks.append(MarkedSpan(f"d{d}", "keep", "NE", 100 * place, 100 * place + 50, "A"))
            for j in range(coders):
                if rng.random() > attends[j] or not rng.choice(k, p=rows[j, true]):
                    continue
                others = [b for b in range(OTHER_BORDERS + 1) if b != border]
                exact = rng.random() < p["exact"][j]
                mine = (
                    rng.integers(OTHER_BORDERS + 1)
                    if not true
                    else border
                    if exact
                    else rng.choice(others)
                )
                start = 100 * place
                marks.append(MarkedSpan(f"d{d}", f"c{j}", "NE", start, start + 10 + int(mine), "A"))
    names = ("c0", "c1", "c2", "keep")
    groups = groups_of(Spans(tuple(marks), {f"d{d}": names for d in range(documents)}))
    return without(groups, "keep", replace), p


def without(groups, coder, replace):
    """Leave out a coder's answers and borders, but no place."""
    code = groups.coders.index(coder)
    keep = groups.coder != code
    counts = np.add.reduceat(keep, groups.answer_first[:-1])
    shapes, first, log_shape = [], [0], []
    for g in range(len(groups)):
        found = [s for s in shapes_of(groups, g) if s and s[0][1] - s[0][0] != 50]
        left = OTHER_BORDERS + 1 - len(found)
        shapes += [*found, ()]
        first.append(len(shapes))
        log_shape += [-math.log(OTHER_BORDERS + 1)] * len(found) + [
            math.log(max(left, 1e-300) / (OTHER_BORDERS + 1))
        ]
    marked = np.add.reduceat((groups.label > 0) & keep, groups.answer_first[:-1])
    return replace(
        groups, coders=groups.coders[:-1], coder=groups.coder[keep], label=groups.label[keep],
        shape=groups.shape[keep], visit=groups.visit[keep], visit_first=groups.visit_first[:-1],
        answer_first=np.concatenate([[0], np.cumsum(counts)]), shapes=tuple(shapes),
        shape_first=np.array(first), log_shape=np.array(log_shape),
        log_nothing=-marked * math.log(OTHER_BORDERS + 1.0),
        log_other=np.full(len(groups), -math.log(OTHER_BORDERS)),
        longest=np.zeros(len(shapes), np.int32), other_labels=(None,) * len(shapes),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.calibration
def test_ranks_of_the_prior_are_uniform():
    """Simulation-based calibration (Talts et al. 2018, arXiv:1804.06788)."""
    model, rng, bins = SpanModel(), np.random.default_rng(5), 8
    runs = 40 if os.environ.get("ANNOMODELS_CALIBRATION") == "reduced" else 160
    ranks = {"prevalence": [], "exact": [], "attentive": []}
    for run in range(runs):
        groups, p = simulated(model, rng)
        found = sample(groups, model, seed=run, chains=1, draws=6300, warmup=300)
        for name, values in ranks.items():
            drawn = found.posterior[name][0, ::100, 0]
            values.append(int((drawn < p[name][0]).sum()))
    for name, values in ranks.items():
        counts = np.bincount(np.array(values) * bins // 64, minlength=bins)[:bins]
        statistic = ((counts - runs / bins) ** 2 / (runs / bins)).sum()
        assert chi2.sf(statistic, bins - 1) > 0.001, (name, counts)


@pytest.fixture(scope="module")
def fitted():
    spans, truth = crowd()
    return am.fit(spans, seed=1), truth


def gold_of(fit):
    names = ["document", "start", "end", "label"]
    return set(fit.gold().table[names].itertuples(index=False, name=None))


def f1_of(found, truth):
    return 2 * len(found & truth) / (len(found) + len(truth))


@pytest.mark.calibration
def test_gold_spans_are_closer_to_the_truth_than_votes(fitted):
    fit, truth = fitted
    votes = fit.candidates().assign(n=lambda t: t["coders"].str.count(",") + (t["coders"] != ""))
    half = votes[votes["n"] >= 2][["document", "start", "end", "label"]]
    majority = set(half.itertuples(index=False, name=None))
    assert f1_of(gold_of(fit), truth) > f1_of(majority, truth)


@pytest.mark.slow
@pytest.mark.few("6-4")
@pytest.mark.parametrize(("crowds", "least"), [(6, 4), (20, 16)])
def test_the_interval_of_f1_covers_that_of_most_crowds_who_err_independently(crowds, least):
    """The calibration assumes that coders err together, so its upper end is near the real F1."""
    covered = 0
    for seed in range(20, 20 + crowds):  # the constants were chosen on 0 to 9
        spans, truth = crowd(seed=seed)
        fit = am.fit(spans, seed=1, draws=400, warmup=200)
        quality = fit.quality().table.set_index("quantity")
        low, real, high = quality["low"]["f1"], f1_of(gold_of(fit), truth), quality["high"]["f1"]
        assert low < real < high + 0.01
        covered += low < real < high
    assert covered >= least


def test_chains_are_compared_and_short_ones_are_not_trusted(fitted):
    attrs = fitted[0].tree.attrs
    assert 1 <= float(attrs["rhat_max"]) < 1.05
    assert float(attrs["ess_min"]) > 100
    assert SpanFacts(fitted[0]).verdict[0] == "no problem found"
    # chains of few marks have the length that was asked for
    assert fitted[0].draws.log_density.shape == (4, 1000)
    for options in ({"chains": 1}, {"draws": 40}):
        short = SpanFacts(am.fit(crowd()[0], seed=1, **options))
        assert short.verdict[0] == "needs review"


def test_tables_are_complete(fitted):
    fit, _ = fitted
    gold, coders = fit.gold().table, fit.coders().table
    names = "document start end label text p_exact p_span runner_up votes state reason source"
    assert " ".join(gold) == names
    assert gold["p_exact"].between(0, 1).all()
    assert (gold["p_span"] >= gold["p_exact"] - 1e-9).all()
    assert set(gold["state"]) <= set(STATES)
    assert ((gold["reason"] == "") == (gold["state"] == "settled")).all()
    order = coders.set_index("coder")["f1"]
    assert order["c0"] < order["c3"]  # skill grows with the number
    for name in ("misses", "false_alarms", "borders", "labels", "f1"):
        assert (coders[f"{name}_low"] <= coders[name]).all()
        assert (coders[name] <= coders[f"{name}_high"]).all()
    share = fit.confusion().table.groupby(["coder", "true_label"])["share"].sum()
    assert np.allclose(share, 1.0)
    documents = fit.documents()
    assert documents["n_gold"].sum() == len(gold)
    assert (documents["tp"] <= documents["n_gold"] + 1e-9).all()


def test_the_same_seed_gives_the_same_fit_and_a_file_keeps_it(fitted, tmp_path):
    fit, _ = fitted
    again = am.fit(crowd()[0], seed=1)
    pd.testing.assert_frame_equal(again.gold().table, fit.gold().table)
    loaded = am.load(fit.save(tmp_path / "fit.nc"))
    pd.testing.assert_frame_equal(loaded.gold().table, fit.gold().table)
    pd.testing.assert_frame_equal(loaded.coders().table, fit.coders().table)
    assert loaded.spans.spans == fit.spans.spans
    assert loaded.seed == 1


def test_a_damaged_file_is_refused(fitted, tmp_path):
    path = fitted[0].save(tmp_path / "fit.nc")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(AnnotationError, match="not a fit"):
        am.load(path)


@pytest.mark.slow
def test_decisions_are_kept(tmp_path):
    fit = am.fit(tiny(), seed=1, draws=200, warmup=80)
    rows = pd.DataFrame(
        {
            "document": ["d", "e", "e"],
            "start": [0, 3, 20],
            "end": [4, 5, 25],
            "label": ["LOC", "(none)", "PER"],
        }
    )
    decided = fit.decided(rows)
    gold = decided.gold().table
    known = gold[gold["state"] == "decided"]
    assert known[["start", "end", "label", "source"]].to_numpy().tolist() == [
        [0, 4, "LOC", "decision"], [20, 25, "PER", "decision"],
    ]  # fmt: skip
    assert (known["p_exact"] == 1).all()
    assert not ((gold["document"] == "e") & (gold["start"] == 3)).any()
    loaded = am.load(decided.save(tmp_path / "fit.nc"))
    pd.testing.assert_frame_equal(loaded.gold().table, gold)
    later = loaded.decided([{"document": "d", "start": 0, "end": 4, "label": "PER"}])
    assert later.gold().table["label"][0] == "PER"
    assert (later.gold().table["state"] == "decided").sum() == 2
    with pytest.raises(NotApplicable, match="has no place"):
        fit.decided([{"document": "unknown", "start": 0, "end": 4, "label": "PER"}])


def test_missed_spans_are_a_lower_bound_by_those_marked_once_and_twice():
    marks = [MarkedSpan("d", "ana", "NE", 10 * n, 10 * n + 4, "X") for n in range(6)]
    marks += [MarkedSpan("d", "ben", "NE", 10 * n, 10 * n + 4, "X") for n in range(4, 6)]
    groups = groups_of(Spans(tuple(marks), {"d": ("ana", "ben")}))
    assert unseen_spans(groups, np.ones((1, 6), np.int16)).tolist() == [4 * 3 / (2 * 3)]


def test_other_models_and_engines_are_refused():
    with pytest.raises(NotApplicable, match="leave out model and engine"):
        am.fit(tiny(), engine="nuts")
    with pytest.raises(NotApplicable, match="leave out model and engine"):
        am.fit(tiny(), "dawid-skene")


def test_options_of_a_fit_are_used_or_refused():
    told = []
    fit = am.fit(
        tiny(), seed=1, draws=80, warmup=80, threads=1, progress=lambda *step: told.append(step)
    )
    assert told == [("sampling", n / 4, "") for n in range(5)]
    again = am.fit(tiny(), seed=1, draws=80, warmup=80, threads=3)
    assert np.array_equal(fit.draws.truth, again.draws.truth)
    with pytest.raises(NotApplicable, match="without time_limit=, executor=: leave out"):
        am.fit(tiny(), time_limit=9.0, executor="threads")
    with pytest.raises(NotApplicable, match="cannot have chains=0"):
        am.fit(tiny(), chains=0)
