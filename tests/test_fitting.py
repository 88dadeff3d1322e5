"""Fits are saved and loaded whole, and refuse data from which nothing can be learnt."""

import numpy as np
import pytest

import annomodels as am


@pytest.fixture(scope="module")
def fit():
    data = am.datasets.load("anesthesia").with_truth({})
    return am.fit(data, "hierarchical", chains=2, draws=100, warmup=50, seed=1, extend=False)


@pytest.mark.slow
def test_a_fit_comes_back_whole(fit, tmp_path):
    path = fit.save(tmp_path / "fit.nc")
    back = am.load(path)
    assert back.model == fit.model
    assert back.data.fingerprint == fit.data.fingerprint
    assert repr(back.data) == repr(fit.data)
    assert back.seed == fit.seed == 1
    for group in ("posterior", "truth", "sample_stats"):
        for name, values in fit.tree[group].to_dataset().items():
            np.testing.assert_array_equal(back.tree[group][name].values, values.values)
    assert list(tmp_path.iterdir()) == [path]
    a, b = fit.gold().table, back.gold().table
    assert a.equals(b)


@pytest.mark.slow
def test_names_gold_groups_and_texts_survive_saving(tmp_path):
    data = am.Annotations.from_records(
        [(i, j, ("ja", "nein")[(i + j) % 2]) for i in range(6) for j in range(3)],
        truth={0: "ja", 3: "nein"},
    ).replace(group=[0, 0, 0, 1, 1, 1], groups=("α", "β"), texts=tuple("abcdef"))
    fit = am.fit(data, "hierarchical", chains=2, draws=20, warmup=20, seed=1, extend=False)
    back = am.load(fit.save(tmp_path / "a.nc")).data
    assert back.items == data.items
    assert back.labels == ("ja", "nein")
    assert back.groups == ("α", "β")
    assert back.texts == tuple("abcdef")
    np.testing.assert_array_equal(back.gold, data.gold)
    np.testing.assert_array_equal(back.group, data.group)


@pytest.mark.slow
def test_set_valued_labels_survive_saving(tmp_path):
    labels = [frozenset("x"), frozenset("xy"), frozenset()]
    rows = [(i, c, labels[(i + (c == "c")) % 3]) for i in range(12) for c in "abc"]
    data = am.Annotations.from_records(rows)
    path = am.fit(data, "hierarchical", chains=2, draws=60, seed=1, extend=False).save(
        tmp_path / "sets.nc"
    )
    assert am.load(path).data.labels == data.labels


@pytest.mark.slow
def test_a_file_is_not_overwritten_unasked(fit, tmp_path):
    path = tmp_path / "fit.nc"
    path.write_text("mine")
    with pytest.raises(am.errors.AnnomodelsError, match="file with this name"):
        fit.save(path)
    assert path.read_text() == "mine"
    fit.save(path, force=True)
    assert am.load(path).seed == 1


@pytest.mark.slow
def test_an_interrupted_save_leaves_the_old_file(fit, tmp_path, monkeypatch):
    path = fit.save(tmp_path / "fit.nc")
    before = path.read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("xarray.Dataset.dump_to_store", full)
    with pytest.raises(am.errors.AnnomodelsError, match="disk is full"):
        fit.save(path, force=True)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_saving_into_a_folder_that_is_not_there_is_said(fit, tmp_path):
    with pytest.raises(am.errors.AnnomodelsError, match="folder"):
        fit.save(tmp_path / "no" / "fit.nc")


@pytest.mark.parametrize("content", [b"", b"hello", b"\x89HDF\r\n\x1a\n" + b"0" * 100])
def test_files_that_are_no_fits_are_refused(content, tmp_path):
    path = tmp_path / "x.nc"
    path.write_bytes(content)
    with pytest.raises(am.errors.AnnotationError, match="not a fit"):
        am.load(path)
    with pytest.raises(am.errors.AnnotationError, match="does not exist"):
        am.load(tmp_path / "missing.nc")


def test_data_from_which_nothing_can_be_learnt_are_refused_with_all_reasons():
    one = am.Annotations.from_records([(1, "a", "x"), (2, "a", "x")])
    with pytest.raises(am.errors.AnnotationError) as caught:
        am.fit(one, "hierarchical")
    assert len(caught.value.problems) == 2
    apart = am.Annotations.from_records([(1, "a", "x"), (1, "a", "y"), (2, "b", "y")])
    with pytest.raises(am.errors.AnnotationError, match="No item was labeled by two coders"):
        am.fit(apart, "hierarchical")


@pytest.mark.slow
def test_a_set_without_signal_does_not_yield_confident_labels():
    rng = np.random.default_rng(0)
    rows = [(i, j, int(rng.integers(3))) for i in range(100) for j in range(5)]
    fit = am.fit(am.Annotations.from_records(rows), "hierarchical", seed=1, draws=500, extend=False)
    p = fit.tree["truth"]["p_truth"].values
    assert (p.max(axis=1) > 0.95).mean() < 0.02
    assert (fit.gold().table["state"] == "settled").mean() < 0.02


def test_a_fit_says_what_it_is(fit):
    assert "hierarchical Dawid-Skene on 45 items" in repr(fit)
    assert "2 chains of 100 draws, seed 1" in repr(fit)


@pytest.mark.slow
def test_a_verb_called_twice_does_the_work_once_and_hands_out_a_table_to_change(fit, monkeypatch):
    from annomodels.summaries import gold

    first = fit.gold(0.9)
    monkeypatch.setattr(gold, "contributions", None)
    first.table["mine"] = 1
    again = fit.gold(0.9)
    assert "mine" not in again.table
    assert again.table["item"].tolist() == list(fit.data.items)


def test_what_a_fit_lacks_is_said_and_calling_it_says_the_same(fit, tmp_path):
    assert not fit.unsupported("gold")
    reason = fit.unsupported("write_gold")
    assert "memory" in reason
    with pytest.raises(
        am.errors.NotApplicable, match=reason.replace("(", r"\(").replace(")", r"\)")
    ):
        fit.write_gold(tmp_path / "gold.csv")


def test_every_verb_is_a_method_and_a_missing_one_says_why(fit):
    from annomodels.fitting.fit import ClassFit, LinkFit, NumberFit, ScanFit

    kinds = (ClassFit, ScanFit, NumberFit, LinkFit)
    for verb in sorted(frozenset().union(*(kind._has for kind in kinds)) - {"compare"}):
        owner, name = (fit.plot, verb[5:]) if verb.startswith("plot.") else (fit, verb)
        assert callable(getattr(owner, name))
        for kind in kinds:
            missing = kind(fit.data, fit.model, fit.tree)
            assert bool(missing.unsupported(verb)) == (verb not in kind._has)
    assert isinstance(fit, ClassFit)
    with pytest.raises(am.errors.NotApplicable, match="numbers have no classes"):
        NumberFit(fit.data, fit.model, fit.tree).why()


def test_options_that_the_engine_does_not_know_are_refused_in_one_message(fit):
    with pytest.raises(am.errors.NotApplicable, match=r"starts= \(em\), target_accept= \(nuts\)"):
        am.fit(fit.data, "hierarchical", engine="gibbs", starts=3, target_accept=0.8)


def test_options_that_the_engine_does_not_know_are_refused_together():
    data = am.datasets.load("anesthesia")
    with pytest.raises(
        am.errors.NotApplicable, match=r"extend= \(gibbs\), target_accept= \(nuts\)"
    ):
        am.fit(data, engine="em", seed=1, extend=False, target_accept=0.8)
    with pytest.raises(am.errors.NotApplicable, match=r"'gibbs' does not support starts= \(em\)"):
        am.fit(data, "hierarchical", engine="gibbs", seed=1, starts=3)
