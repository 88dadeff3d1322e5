"""NUTS compiles a model once: other data of the same model take its code, and only they do."""

import os
import subprocess
import sys

import numpy as np
import pytest

import annomodels as am
from annomodels.engines.pymc import compiled
from annomodels.models import MODELS, resolve
from annomodels.models.encoded import encode
from annomodels.priors import Diagonal, Dirichlet
from tests.engines.crowds import assert_same, simulate

OPTIONS = {"engine": "nuts", "chains": 2, "draws": 60, "warmup": 200, "seed": 3}
TWO_LABELS = ("beta-binomial-by-item",)


def crowd(seed, model="", n_items=40, n_coders=6, n_labels=3, gold=0):
    """Labels of a simulated crowd, the first items with known gold."""
    k = 2 if model in TWO_LABELS else n_labels
    rng = np.random.default_rng(seed)
    data, truth = simulate(rng, n_items, n_coders, k, per_item=4)
    if gold:
        data = data.with_truth({item: int(truth[data.items.index(item)]) for item in range(gold)})
    return data


def built(model, data):
    model = resolve(model).with_data(data)
    codes = encode(data, shared=model.shared)
    known = data.coords
    coords = {dim: known[dim] for dim in ("truth", "label", "coder")}
    return model.build(codes, {**coords, **model.coords(coords["label"])})


def key(model, data):
    return compiled.graph_key(built(model, data))


@pytest.mark.calibration
@pytest.mark.parametrize("model", list(MODELS))
def test_other_data_of_any_size_have_the_same_graph(model):
    first = key(model, crowd(1, model))
    assert key(model, crowd(2, model)) == first
    assert key(model, crowd(3, model, n_items=70)) == first


@pytest.mark.slow
@pytest.mark.parametrize(
    "other",
    [
        am.models.HierarchicalDawidSkene(prevalence=Dirichlet(2.0)),
        am.models.HierarchicalDawidSkene(population=Diagonal(300.0, 0.8, 10.0)),
        am.models.HierarchicalDawidSkene(population=Diagonal(300.0, 0.7)),
        am.models.HierarchicalDawidSkene(population=Diagonal(300.0, 0.7, 10.0, 1.0)),
        am.models.HierarchicalDawidSkene.carpenter(),
        am.models.DawidSkene(),
        am.models.Answering(kinds=("?",)),
    ],
    ids=[
        "prevalence",
        "accuracy",
        "fixed accuracy",
        "strength",
        "concentration",
        "model",
        "wrapped",
    ],
)
def test_other_priors_and_models_have_graphs_of_their_own(other):
    assert key(other, crowd(1)) != key("hierarchical", crowd(1))


@pytest.mark.few("mace")
@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        "mace",
        "readings",
        *(
            pytest.param(name, marks=pytest.mark.calibration)
            for name in ("beta-binomial-by-item", "scalar-difficulty", "logistic-random-effects")
        ),
    ],
)
@pytest.mark.usefixtures("uncompiled")
def test_a_graph_with_the_values_of_other_data_is_their_density(model):
    first = built(model, crowd(1, model, gold=3))
    second = built(model, crowd(2, model, n_items=70, gold=9))
    point = {name: value + 0.1 for name, value in second.initial_point().items()}
    mine, wanted = (
        each.compile_fn(each.logp(), inputs=each.value_vars, mode="FAST_COMPILE")
        for each in (first, second)
    )
    assert mine(point) != wanted(point)
    for variable in second.data_vars:
        first[variable.name].set_value(variable.get_value())
    assert mine(point) == wanted(point)


@pytest.mark.calibration
@pytest.mark.nuts
def test_code_is_compiled_once_for_data_of_any_size(monkeypatch):
    made, compile_model = [], compiled.compile_model

    def counted(*arguments):
        made.append(arguments)
        return compile_model(*arguments)

    monkeypatch.setattr(compiled, "compile_model", counted)
    compiled.forget()
    am.fit(crowd(1), "pooled", **OPTIONS)
    shared = am.fit(crowd(2, n_items=70), "pooled", **OPTIONS)
    assert len(made) == 1
    compiled.forget()
    assert_same(am.fit(crowd(2, n_items=70), "pooled", **OPTIONS), shared)
    assert len(made) == 2


@pytest.mark.slow
def test_nothing_is_left_to_compile_while_a_time_limit_runs():
    import pymc as pm

    with pm.Model() as model:
        pm.HalfNormal("x")
    with compiled.repeatable():
        code = compiled.compile_model(model, {"x_log__": np.zeros(())})
    for function in code:
        assert len(function.loops.signatures) == 1
    total, gradient = code.density.at({})(np.array([0.7]))
    x = np.exp(0.7)  # log density of a half-normal variable on the log scale
    assert float(total) == pytest.approx(0.5 * np.log(2 / np.pi) - x**2 / 2 + 0.7)
    assert gradient == pytest.approx([1 - x**2])
    assert code.variables.at({})(np.array([0.7]))[0] == pytest.approx(x)


def test_a_start_of_another_shape_is_refused():
    import pymc as pm

    with pm.Model(coords={"coder": ["ana", "ben"]}) as model:
        pm.Normal("x", dims="coder")
    with pytest.raises(ValueError, match=r"The start of x has shape \(3,\), not \(2,\)"):
        compiled.compiled(model, {"x": np.zeros(3)})


def test_code_is_compiled_without_reordering_of_sums():
    from pytensor import config

    before = config.numba__fastmath
    found = compiled.kept("sums", lambda: config.numba__fastmath)
    assert found is False
    assert config.numba__fastmath == before
    compiled.forget()


ON_A_NEW_MACHINE = """
import sys
import numpy as np
import annomodels as am
data = am.datasets.load("anesthesia")
fit = am.fit(data, "pooled", engine="nuts", chains=1, draws=60, seed=3)
np.save(sys.argv[1], fit.tree["posterior"]["prevalence"].values)
"""


@pytest.mark.nuts
@pytest.mark.full("PyTensor compiles its functions anew; reduced runs have the flag that matters.")
def test_the_first_fit_of_a_machine_draws_as_later_ones_do(tmp_path):
    """Where nothing is compiled yet, other functions are compiled together than afterwards."""
    flags = f"{os.environ.get('PYTENSOR_FLAGS', '')},base_compiledir={tmp_path / 'kept'}"
    found = []
    for turn in ("first", "second"):
        path = tmp_path / f"{turn}.npy"
        subprocess.run(
            [sys.executable, "-c", ON_A_NEW_MACHINE, str(path)],
            check=True,
            env=os.environ | {"PYTENSOR_FLAGS": flags.strip(",")},
        )
        found.append(np.load(path))
    np.testing.assert_array_equal(*found)


def test_fields_of_a_model_that_other_data_change_are_found():
    """The key would notice numbers of the data that were left in the graph as constants."""
    import pymc as pm

    def of(weight, hidden):
        with pm.Model() as model:
            x = pm.Normal("x")
            w = np.array(weight) if hidden else pm.Data("weight", weight)
            pm.Potential("labels", (w * x).sum())
        return compiled.graph_key(model)

    assert of([1.0, 2.0], hidden=False) == of([2.0], hidden=False)
    assert of([1.0, 2.0], hidden=True) != of([1.0, 3.0], hidden=True)
