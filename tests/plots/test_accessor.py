"""``fit.plot``: every plot as a method, on a figure of its own or on given axes."""

import inspect

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

import annomodels as am
from annomodels import plots
from annomodels.fitting.plots import FitPlots

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
