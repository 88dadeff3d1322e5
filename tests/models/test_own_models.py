"""Models from outside the package go through everything that can be asked of a fit."""

import json
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import annomodels as am
from annomodels.errors import EngineError, NotApplicable
from annomodels.fitting.fit import ClassFit
from annomodels.models.base import sample_values
from annomodels.models.catalog import from_dict
from annomodels.models.confusion import ConfusionModel
from annomodels.models.parameters import DrawnVariables
from annomodels.priors import Dirichlet
from annomodels.reporting.methods import bibtex, methods, methods_latex
from annomodels.summaries.draws import model_of

sys.path.insert(0, str(Path(__file__).parent))
import own_models
from own_models import HandMade, Knowing, Lapsing, Neighbours, Tight


@pytest.fixture(scope="module")
def data() -> am.Annotations:
    rng = np.random.default_rng(8)
    truth = rng.integers(3, size=40)
    rows = []
    for i, j in np.ndindex(40, 5):
        said = truth[i] if rng.random() < 0.8 else rng.integers(3)
        rows.append((f"i{i}", f"c{j}", "abc"[said]))
    return am.Annotations.from_records(rows, labels=["a", "b", "c"])


def ask_everything(fit: Any, folder: Path) -> None:
    """Ask a fit of classes in memory for all that there is."""
    coder = fit.data.coders[0]
    told = {"groups": {"groups": {name: name < "c3" for name in fit.data.coders}}}
    for verb in sorted(ClassFit._has - {"compare", "effects"}):
        owner, name = (fit.plot, verb[5:]) if verb.startswith("plot.") else (fit, verb)
        if verb == "plot.confusion":
            owner.confusion(coder)
        elif verb == "plot.difficulty" and "difficulty" not in fit.tree.get("items", {}):
            with pytest.raises(NotApplicable, match="no difficulty"):
                owner.difficulty()
        elif not (verb == "plot.ranks" and fit.engine == "em"):
            getattr(owner, name)(**told.get(verb, {}))
    other = am.fit(fit.data, "dawid-skene", chains=2, draws=60, warmup=40, seed=1, extend=False)
    for by in ("item", "label") if fit.engine != "em" else ():
        assert fit.model.name in str(am.compare([fit, other], by=by).table)
    page = am.report(fit, folder / "page.html")
    assert fit.model.title in page.read_text("utf-8")
    assert fit.model.title in methods(fit)
    assert fit.model.title in methods_latex(fit)
    assert "@" in bibtex(fit)
    assert fit.to_pymc()["log_likelihood"].type.ndim == 1
    audited = am.audit(fit, 10, seed=1)
    answers = dict.fromkeys(audited.table["item"], fit.data.labels[0])
    assert len(am.estimate(fit, answers, audited).table)
    again = am.load(fit.save(folder / "fit.nc"))
    assert again.model == fit.model
    assert type(again.model) is type(fit.model)
    assert again.gold().table.equals(fit.gold().table)


OPTIONS = {"chains": 2, "draws": 60, "warmup": 60, "seed": 1}


def type_name(model: Any) -> str:
    return type(model).__name__


@pytest.mark.few("model0-gibbs", "model1-em")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "engine"),
    [
        (Neighbours(decay=0.7), "gibbs"),
        (Neighbours(), "em"),
        (am.models.Ambiguous(coders=Neighbours()), "gibbs"),
    ],
)
def test_everything_is_answered(data, model, engine, tmp_path) -> None:
    more = {} if engine == "em" else OPTIONS | {"extend": False}
    ask_everything(am.fit(data, model, engine=engine, **{"seed": 1, **more}), tmp_path)


@pytest.mark.calibration
@pytest.mark.nuts
def test_everything_is_answered_of_a_model_that_only_nuts_serves(data, tmp_path) -> None:
    ask_everything(am.fit(data, HandMade(), **OPTIONS), tmp_path)


@pytest.mark.few("Knowing")
@pytest.mark.slow
@pytest.mark.usefixtures("unsampled")
@pytest.mark.parametrize("model", [Knowing(), Tight(nodes=5)], ids=type_name)
def test_everything_is_answered_whatever_the_draws_of_such_a_model_are(
    data, model, tmp_path
) -> None:
    ask_everything(am.fit(data, model, **OPTIONS), tmp_path)


@pytest.mark.slow
def test_other_engines_see_the_own_prior(data) -> None:
    """At any point, prior by the kernels and by PyMC differ by nothing."""
    from annomodels.engines.pymc.handed import with_data

    model = Neighbours(decay=0.5)
    pymc_model = with_data(model, data)
    rng = np.random.default_rng(1)
    found = []
    for _ in range(2):
        state = model.sample_parameters(data.n_coders, 3, rng)
        values = model.pymc_start(state)
        point = {
            pymc_model.rvs_to_values[rv].name: pymc_model.rvs_to_transforms[rv]
            .forward(values[rv.name])
            .eval()
            for rv in pymc_model.free_RVs
        }
        parts = pymc_model.compile_fn(
            pymc_model.logp(pymc_model.free_RVs, jacobian=False), mode="FAST_COMPILE"
        )
        ours = model.log_prior({name: value[None] for name, value in values.items()})
        found.append((float(ours[0]), float(parts(point))))
    (one, pymc_one), (two, pymc_two) = found
    assert one - two == pytest.approx(pymc_one - pymc_two, rel=1e-8)


def test_labels_that_are_no_classes_go_with_an_own_model() -> None:
    rows = [(i, j, "abd"[(i + (j == 2 and i % 4 == 0)) % 2]) for i in range(20) for j in range(4)]
    rows += [(i, 4, "dk" if i % 3 else "a") for i in range(20)]
    asked = am.Annotations.from_records(rows, dont_know=["dk"])
    fit = am.fit(asked, Neighbours(), **OPTIONS, extend=False)
    assert "no_answer" in fit.tree["posterior"]
    assert model_of(fit.tree) == Neighbours()
    assert len(fit.coders().table) == 5


# -- names and classes ---------------------------------------------------------------------------


def test_a_class_without_a_name_is_called_as_python_calls_it() -> None:
    assert (Tight.name, Tight.title) == ("Tight", "Tight")
    assert HandMade.title == "hand-made"
    assert am.models.LogisticRandomEffects.name == "logistic-random-effects"


def test_a_definition_that_is_run_again_changes_no_earlier_fit(data) -> None:
    def define(strength: float) -> Any:
        @dataclass(frozen=True)
        class Again(am.models.DawidSkene):
            def row_counts(self, n_labels):
                return strength * np.eye(n_labels) + 0.5

        return Again

    first, second = define(2.0), define(9.0)
    one = am.fit(data, first(), engine="em", seed=1)
    two = am.fit(data, second(), engine="em", seed=1)
    assert type(model_of(one.tree)) is first
    assert type(model_of(two.tree)) is second
    assert one.tree.attrs["model"] != two.tree.attrs["model"]


def test_the_name_of_a_model_of_the_package_is_refused(data) -> None:
    @dataclass(frozen=True)
    class Mine(am.models.DawidSkene):
        name = "mace"

    with pytest.raises(NotApplicable, match="Mine has the name 'mace' of a model of this package"):
        am.fit(data, Mine())


@pytest.mark.parametrize(
    ("what", "message"),
    [(Neighbours, r"Give a model: Neighbours\(\)"), ({"a": 1}, "not a model"), (7, "not a model")],
)
def test_what_is_no_model_is_refused(data, what, message) -> None:
    with pytest.raises(NotApplicable, match=message):
        am.fit(data, what)


def test_a_field_that_a_result_cannot_keep_is_refused() -> None:
    @dataclass(frozen=True)
    class Heavy(am.models.DawidSkene):
        table: Any = None
        weights: Any = 1.0

    assert Heavy(table=((1.0, 2.0),), weights=np.float64(2.0)).weights == 2.0
    with pytest.raises(NotApplicable) as caught:
        Heavy(table=np.eye(2), weights={"a": 1})
    assert "table= of Heavy holds a value of the type ndarray" in str(caught.value)
    assert "weights= of Heavy holds a value of the type dict" in str(caught.value)
    assert "tuple of tuples" in str(caught.value)


# -- files ---------------------------------------------------------------------------------------

LOADING = """
import sys
import annomodels as am
from annomodels.errors import AnnomodelsError
path, how = sys.argv[1:]
sys.path.insert(0, {folder!r})
try:
    if how == "imported":
        import own_models
        fit = am.load(path)
    elif how == "given":
        import importlib.util
        spec = importlib.util.spec_from_file_location("elsewhere", {folder!r} + "/own_models.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["elsewhere"] = module
        spec.loader.exec_module(module)
        assert type(am.load(path, model=module.Neighbours(decay=3.0)).model) is module.Neighbours
        fit = am.load(path, model=module.Neighbours)
    else:
        fit = am.load(path)
    assert fit.check() and len(fit.gold().table) == 40
    print(fit.model.decay, "own_models" in sys.modules)
except AnnomodelsError as error:
    print(type(error).__name__, "own_models" in sys.modules, error)
"""


def loaded(path: Path, how: str) -> str:
    code = LOADING.format(folder=str(Path(own_models.__file__).parent))
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), how], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout.strip()


@pytest.mark.few("True")
@pytest.mark.slow
@pytest.mark.parametrize("wrapped", [False, True])
def test_another_process_loads_a_class_that_it_was_given_or_has(data, wrapped, tmp_path) -> None:
    model: Any = Neighbours(decay=0.5)
    if not wrapped:
        saved = am.fit(data, model, engine="em", seed=1).save(tmp_path / "fit.nc")
        assert loaded(saved, "imported") == "0.5 True"
        assert loaded(saved, "given") == "0.5 False"
    else:
        model = am.models.Ambiguous(coders=model)
        saved = am.fit(data, model, **OPTIONS, extend=False).save(tmp_path / "fit.nc")
    said = loaded(saved, "nothing")
    assert said.startswith("NotApplicable False The model 'neighbors' (own_models.Neighbours) is")
    assert "give the class to am.load as model" in said


@pytest.mark.slow
def test_what_is_given_must_be_what_the_file_holds(data, tmp_path) -> None:
    plain = am.fit(data, "dawid-skene", engine="em", seed=1).save(tmp_path / "plain.nc")
    with pytest.raises(NotApplicable, match=r"'dawid-skene', without.*leave out the class"):
        am.load(plain, model=Neighbours)
    own = am.fit(data, Neighbours(), engine="em", seed=1)
    described = json.loads(own.tree.attrs["model"])
    described["priors"]["slope"] = 1.0
    own.tree.attrs["model"] = json.dumps(described)
    with pytest.raises(NotApplicable, match="Neighbours does not accept the fields that the fit"):
        am.load(own.save(tmp_path / "own.nc"))


def test_a_model_is_written_down_and_read_back() -> None:
    for model in (Neighbours(decay=0.25), am.models.Consensus(coders=Neighbours()), Tight()):
        assert from_dict(json.loads(json.dumps(model.to_dict()))) == model
    changed = replace(Neighbours(), decay=2.0)
    assert changed.to_dict()["class"] == "own_models:Neighbours"
    assert "class" not in am.models.Mace().to_dict()


def test_rows_that_come_from_nowhere_are_named() -> None:
    @dataclass(frozen=True)
    class Rowless(Lapsing, ConfusionModel):
        prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))

        def pymc_start(self, state):
            return {}

    with pytest.raises(EngineError, match="The variable confusion depends on itself"):
        sample_values(Rowless(), 2, 2, np.random.default_rng(1))


def test_variables_without_those_of_super_are_named() -> None:
    @dataclass(frozen=True)
    class Alone(HandMade):
        def variables(self, n_labels):
            return super().variables(n_labels)[1:]

    sizes, rng = {"truth": 2, "label": 2, "coder": 3}, np.random.default_rng(1)
    values = DrawnVariables(Alone().variables(2), sizes, rng)
    with pytest.raises(EngineError, match=r"no variable prevalence.*super\(\)\.variables"):
        Alone().item_states(values)


def test_a_model_without_rows_and_states_is_told_what_it_lacks(data) -> None:
    class Nothing(HandMade):
        def coords(self, labels):
            return {}

    with pytest.raises(EngineError, match=r"derive it from ConfusionModel, or give it n_states"):
        am.fit(data, Nothing())
