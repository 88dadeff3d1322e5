"""Every plot draws real fits, marks what it should, fits into a page, and is a method of a fit."""

import inspect
import itertools
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

import annomodels as am
from annomodels import plots
from annomodels.fitting.plots import FitPlots
from annomodels.plots import style
from annomodels.plots.coders import pairwise
from annomodels.plots.trust import _steps
from annomodels.summaries.trust.predictive import BY_CHANCE, FITS

FUNCTIONS = {
    "agreement": plots.agreement_forest,
    "coders": plots.coder_forest,
    "confusion": plots.confusion_matrix,
    "coverage": plots.coverage,
    "difficulty": plots.difficulty,
    "pairwise": plots.pairwise_heatmap,
    "predictive": plots.predictive_votes,
    "prevalence": plots.prevalence,
    "doubt": plots.doubt,
    "ranks": plots.ranks,
    "simplex": plots.simplex,
}
PLOTS = ("agreement", "coders", "doubt", "pairwise", "predictive", "prevalence")


@pytest.fixture(scope="module")
def anesthesia():
    data = am.datasets.load("anesthesia")
    return am.fit(data, "hierarchical", chains=2, draws=200, warmup=100, seed=1)


@pytest.fixture(scope="module")
def glance():
    """Fit without intervals."""
    return am.fit(am.datasets.load("anesthesia"), engine="em", seed=1, starts=1)


def made_up(n_items, n_coders, names, rng, per_item=5):
    truth = rng.integers(len(names), size=n_items)
    rows = []
    for i, j in itertools.product(range(n_items), range(per_item)):
        right = rng.random() < 0.8
        label = truth[i] if right else rng.integers(len(names))
        rows.append((i, (i * per_item + j) % n_coders, names[label]))
    return am.Annotations.from_records(rows, labels=names)


def drawn(figure):
    return plots.inline(figure, "k", "t", "d")


def texts(svg):
    return [node.text for node in ElementTree.fromstring(svg).iter("text")]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PLOTS, "ranks"])
def test_each_plot_becomes_a_small_described_svg(name, anesthesia):
    svg = plots.inline(FUNCTIONS[name](anesthesia), f"fig-{name}", "A title", "What it shows.")
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    assert [root[0].tag, root[0].text, root[1].tag, root[1].text] == [
        "title",
        "A title",
        "desc",
        "What it shows.",
    ]
    assert len(svg) < 60_000
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    assert len(ids) == len(set(ids))
    assert all(identifier.startswith(f"fig-{name}") for identifier in ids)
    for reference in re.findall(r'(?:href="#|url\(#)([\w-]+)', svg):
        assert reference in ids
    # colors follow the page, and fonts are not fixed
    assert "font-family" not in svg
    assert "currentColor" in svg
    without_fallbacks = re.sub(r"var\(--\w+,#\w+\)", "", svg)
    assert not re.findall(r"(?:fill|stroke):\s*#", without_fallbacks)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLOTS)
def test_plots_do_without_intervals(name, glance):
    assert "nan" not in drawn(FUNCTIONS[name](glance)).lower()


@pytest.mark.slow
def test_rank_plots_of_a_fit_without_draws_are_refused(glance):
    with pytest.raises(am.errors.NotApplicable, match="need draws"):
        plots.ranks(glance)


@pytest.mark.slow
def test_the_forest_shows_the_coders_from_worst_to_best(anesthesia):
    svg = drawn(plots.coder_forest(anesthesia, measure="skill"))
    names = [text for text in texts(svg) if text in anesthesia.data.coders or text in "12345"]
    table = anesthesia.coders().table.sort_values("skill")
    shown = [str(name) for name in table["coder"]]
    assert names[: len(shown)] == shown


@pytest.mark.slow
def test_the_forest_shows_forty_of_ten_thousand_coders(rng):
    import pandas as pd
    import xarray as xr

    n = 10_000
    accuracy = rng.uniform(0.6, 0.99, n)
    kind = np.full(n, "good", dtype=object)
    kind[7], kind[9] = "adversary", "spammer"
    accuracy[[7, 9]] = 0.2, 0.5
    columns = {"coder": [f"c{j}" for j in range(n)], "n": 30, "kind": kind}
    for name in ("accuracy", "skill"):
        columns |= {name: accuracy, f"{name}_low": accuracy - 0.1, f"{name}_high": accuracy + 0.1}
    summary = am.Summary("Coders", pd.DataFrame(columns), xr.Dataset())
    svg = drawn(plots.coder_forest(summary))
    names = [text for text in texts(svg) if re.fullmatch(r"c\d+", text or "")]
    assert len(names) == 40
    assert names[:2] == ["c7", "c9"]
    assert len(svg) < 40_000


@pytest.mark.slow
def test_fifty_labels_fit_into_prevalence_and_confusion(rng):
    names = [f"label {k} with a name that is far too long for any axis" for k in range(50)]
    fit = am.fit(made_up(400, 8, names, rng), "pooled", engine="em", starts=1, seed=1)
    for figure in (plots.prevalence(fit), plots.confusion_matrix(fit, 3)):
        svg = drawn(figure)
        assert len(svg) < 60_000
        assert max(len(text or "") for text in texts(svg)) < 36


@pytest.mark.slow
def test_strange_names_are_drawn_as_text(rng):
    names = ["$x^$ & $y$", "<script>", "א ב", "😀", "a\nb\x00\u202e"]
    fit = am.fit(made_up(60, 4, names, rng), "hierarchical", chains=2, draws=50, warmup=50, seed=1)
    svg = drawn(plots.prevalence(fit))
    assert {"$x^$ & $y$", "<script>", "א ב", "😀", "a b"} <= set(texts(svg))
    assert "<script>" not in svg


@pytest.mark.slow
def test_the_simplex_is_for_three_labels_only(rng, anesthesia):
    fit = am.fit(made_up(80, 6, ["a", "b", "c"], rng), engine="em", seed=1, starts=1)
    svg = drawn(plots.simplex(fit))
    assert {"a", "b", "c"} <= set(texts(svg))
    with pytest.raises(am.errors.NotApplicable, match="3 labels, and these data have 4"):
        plots.simplex(anesthesia)


@pytest.mark.slow
def test_items_at_one_place_are_one_bubble():
    from annomodels.plots.items import bubbles, draw_bubbles

    rng = np.random.default_rng(1)
    x, y = rng.random(100_000), rng.random(100_000)
    assert bubbles(x, y, 0.02)[2].sum() == 100_000
    ax = style.figure(3).add_subplot()
    draw_bubbles(ax, x, y, "k", "o", "all")
    drawn = sum(len(points.get_offsets()) for points in ax.collections)
    assert 100 < drawn <= 400


@pytest.mark.slow
def test_the_matrix_of_a_coder_who_is_not_there_names_some_who_are(anesthesia):
    with pytest.raises(am.errors.NotApplicable, match=r"'zoe' is not in .*first coders are 1, 2"):
        plots.confusion_matrix(anesthesia, "zoe")


def test_kappa_of_pairs_is_that_of_the_coefficients():
    data = am.datasets.load("anesthesia")
    kappa, share = pairwise(data), pairwise(data, "agreement")
    assert np.isnan(np.diag(kappa)).all()
    np.testing.assert_allclose(kappa, kappa.T)
    for a, b in itertools.combinations(range(data.n_coders), 2):
        pair = am.agreement(data.select(coders=[data.coders[a], data.coders[b]]), "kappa", draws=0)
        assert kappa[a, b] == pytest.approx(pair.value, abs=1e-12)
        assert share[a, b] == pytest.approx(pair.observed, abs=1e-12)


def test_pairs_without_common_items_stay_empty():
    rows = [
        (1, "a", "x"),
        (1, "b", "x"),
        (2, "a", "y"),
        (2, "b", "y"),
        (3, "c", "x"),
        (3, "d", "y"),
    ]
    data = am.Annotations.from_records(rows)
    values = pairwise(data)
    assert values[0, 1] == 1.0
    assert np.isnan(values[0, 2])
    drawn(plots.pairwise_heatmap(data))


def test_the_heatmap_is_refused_for_many_coders(rng):
    with pytest.raises(am.errors.NotApplicable, match="2 to 60 coders, and these data have 100"):
        plots.pairwise_heatmap(made_up(100, 100, ["a", "b"], rng))


def test_a_notebook_shows_a_figure_without_pyplot() -> None:
    from annomodels.plots.style import figure

    made = figure(1.0)
    assert made._repr_png_().startswith(b"\x89PNG")
    assert made.patch.get_alpha() == 0.0


@pytest.mark.slow
def test_no_plot_leaves_rows_out_without_saying_how_many(rng):
    """Each text with two numbers counts what is drawn and what there is."""
    names = [f"label {k:02d}" for k in range(31)]
    data = made_up(200, 42, names, rng)
    fit = am.fit(data, "hierarchical", chains=2, draws=20, warmup=10, seed=1, extend=False)

    def said(figure):
        return " ".join(texts(drawn(figure)))

    assert "the 40 most notable of 42 coders" in said(plots.coder_forest(fit))
    assert "of 42 coders" not in said(plots.coder_forest(fit, most=42))
    assert "the 30 most frequent of 31 labels" in said(plots.prevalence(fit))
    assert "the most notable of 42 coders" in said(plots.confusion_matrix(fit))
    assert "the 3 shares that differ most, of 31 labels" in said(plots.ranks(fit))


def test_the_worst_coders_are_drawn_if_none_is_named(anesthesia):
    figure = plots.confusion_matrix(anesthesia)
    titles = [ax.get_title() for ax in figure.axes]
    coders = anesthesia.coders().table
    worst = coders["coder"].iloc[list(anesthesia.coders().order[:4])]
    assert titles == [str(name) for name in worst]
    one = style.figure(3).add_subplot()
    plots.confusion_matrix(anesthesia, ax=one)
    assert one.get_title() == titles[0]


def test_a_value_outside_the_band_is_not_drawn_as_if_inside():
    import pandas as pd

    from annomodels.data.summary import Summary

    table = pd.DataFrame(
        {
            "statistic": ["a", "b", "c"],
            "observed": [0.0, 1.5, 3.0],
            "low": [-1.0] * 3,
            "high": [1.0] * 3,
            "verdict": [FITS, BY_CHANCE, "too high"],
        }
    )
    (ax,) = plots.predictive_votes(Summary("", table)).axes
    drawn = {
        line.get_label(): list(line.get_xdata()) for line in ax.get_lines() if len(line.get_xdata())
    }
    assert drawn["in the band"] == [0.0]
    assert drawn["outside, as some are by chance"] == [1.5]
    assert drawn["not as expected"] == [3.0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["agreement", "coders", "coverage", "doubt", "prevalence"])
@pytest.mark.parametrize("scale", ["nominal", "ordinal"])
def test_no_text_of_a_figure_is_cut_off(name, scale):
    """With an ordinal scale three coefficients are not defined, which needs two lines."""
    from matplotlib.text import Text

    frame = am.datasets.load("anesthesia").to_frame()
    data = am.Annotations.from_frame(frame, scale=scale)
    figure = getattr(am.fit(data, engine="em", seed=1, starts=1).plot, name)()
    figure.draw_without_rendering()
    box = figure.bbox
    axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    unseen = {
        tick.label1
        for axis in axes
        for tick in axis.get_major_ticks()
        if not min(ends := axis.get_view_interval()) <= tick.get_loc() <= max(ends)
    }
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text() and text not in unseen:
            at = text.get_window_extent()
            assert at.x0 >= box.x0 - 1, text.get_text()
            assert at.x1 <= box.x1 + 1, text.get_text()


def test_a_figure_can_be_pickled():
    import pickle

    made = pickle.loads(pickle.dumps(style.figure(1.0)))
    assert made._repr_png_().startswith(b"\x89PNG")


def test_chains_from_one_distribution_stay_near_one(rng):
    steps = _steps(rng.normal(size=(4, 3000)))
    assert steps.shape == (4, 15)
    np.testing.assert_allclose(steps.mean(axis=1), 1.0)
    assert np.abs(steps - 1).max() < 0.35


def test_a_shifted_chain_stands_out(rng):
    values = rng.normal(size=(4, 1000))
    values[2] += 2.0
    steps = _steps(values)
    assert steps[2, -1] > 2.0
    assert steps[2, 0] < 0.2


ARGUMENTS = {"confusion": ("ana",)}


@pytest.fixture(scope="module")
def fit() -> am.Fit:
    """Fit three labels, so that every plot applies."""
    rows = [
        (i, coder, "xyz"[(i + (i * j) % 5 // 4) % 3])
        for i in range(40)
        for j, coder in enumerate(("ana", "ben", "cem", "dot"))
    ]
    made = am.fit(
        am.Annotations.from_records(rows), "hierarchical", chains=2, draws=60, warmup=40, seed=2
    )
    # a model without difficulties, given some, is as good as a slow one that has them
    facts = {"difficulty": np.linspace(-2, 2, 40), "difficulty_sd": np.full(40, 0.5)}
    items = xr.Dataset({name: ("item", values) for name, values in facts.items()})
    made.tree["items"] = xr.DataTree(items)
    return made


def methods() -> set[str]:
    return {name for name in dir(FitPlots) if not name.startswith("_")}


def test_every_plot_is_a_method_with_the_same_options() -> None:
    functions = {**FUNCTIONS, "values": plots.values}  # the last is of numbers
    assert methods() == set(functions)
    assert {f.__name__ for f in functions.values()} == set(plots.__all__) - {"inline"}
    for name, function in functions.items():
        assert inspect.unwrap(getattr(FitPlots, name)) is function
        assert getattr(FitPlots, name).__doc__ == function.__doc__


@pytest.mark.few("coders", "pairwise", "simplex")
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"ranks"}))
def test_given_axes_are_drawn_on_and_their_neighbours_left_alone(name: str, fit: am.Fit) -> None:
    figure = Figure((8, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    made = getattr(fit.plot, name)(*ARGUMENTS.get(name, ()), ax=left)
    assert made is figure
    assert figure.axes == [left, right]
    assert left.has_data()
    assert not right.has_data()
    assert not figure.legends
    own = getattr(fit.plot, name)(*ARGUMENTS.get(name, ()))
    assert (left.get_legend() is not None) == bool(own.legends)
    figure.savefig(_Nowhere(), format="png")


class _Nowhere:
    """A file that forgets."""

    def write(self, data: bytes) -> int:
        return len(data)

    def flush(self) -> None:
        """Do nothing."""
