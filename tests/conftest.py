"""What every test may use: the shared data, a fixed random generator, Hypothesis profiles."""

import gc
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# Before anything imports matplotlib: no test opens a window.
os.environ["MPLBACKEND"] = "Agg"

# PyTensor would call a C compiler some 40 times for a density that a test evaluates once.
os.environ["PYTENSOR_FLAGS"] = f"{os.environ.get('PYTENSOR_FLAGS', '')},cxx=".lstrip(",")

# What is imported is compiled once, not by every process that a test starts.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Tests raise Ctrl-C, which a job in the background of a shell ignores, and close terminals, which
# one under nohup ignores; processes that they start would do so too.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Nothing that is imported and collected becomes garbage.
gc.disable()

_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    print_blob=True,
    max_examples=40,
    suppress_health_check=_SLOW_IS_FINE,
)
for _name, _examples in (("dev", 20), ("quick", 10)):
    settings.register_profile(
        _name, deadline=None, max_examples=_examples, suppress_health_check=_SLOW_IS_FINE
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark examples that fit something as slow, and cases that others stand for as calibration."""
    reduced = os.environ.get("ANNOMODELS_CALIBRATION") == "reduced"
    for item in items:
        full = item.get_closest_marker("full")
        if full is not None:
            item.add_marker(pytest.mark.calibration)
            if reduced:
                item.add_marker(pytest.mark.skip(reason=full.args[0]))
        few = item.get_closest_marker("few")
        if few is not None and item.callspec.id not in few.args:
            item.add_marker(pytest.mark.calibration)
        test = getattr(item, "dtest", None)
        if test is not None and any(
            word in example.source
            for example in test.examples
            for word in ("fit(", "fit_predict(", "report(", "design(")
        ):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over all that was imported and collected."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _compiled_once(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """Let a worker wait for a loop that another one compiles, and take it from the disk then."""
    from annomodels.kernels.compile import CACHED

    alone = not hasattr(request.config, "workerinput")
    if alone or not CACHED or os.name == "nt":
        yield
        return
    import fcntl

    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    folder = tmp_path_factory.getbasetemp().parent  # that of all workers
    compiled, held = Dispatcher.compile, set()

    def compile_alone(self, sig):
        name = f"{self.py_func.__module__}.{self.py_func.__qualname__}"
        with global_compiler_lock:  # first the lock of this process, as everywhere in numba
            if name in held or not name.startswith("annomodels."):
                return compiled(self, sig)
            held.add(name)
            try:
                with (folder / f"{name}.lock").open("w") as file:
                    fcntl.flock(file, fcntl.LOCK_EX)
                    return compiled(self, sig)
            finally:
                held.remove(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dispatcher, "compile", compile_alone)
        yield


@pytest.fixture
def measured() -> Callable[..., tuple[Any, int]]:
    """Call a function; return what it returns, and the most bytes that it held at a time."""

    def call(function: Callable[..., Any], *given: Any, **options: Any) -> tuple[Any, int]:
        # beside many old objects, Python seldom looks for cycles among the new ones
        gc.collect()
        gc.freeze()
        gc.collect()
        tracemalloc.start()
        try:
            return function(*given, **options), tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return call


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def benchmark_script(root: Path) -> Iterator[Callable[[str], ModuleType]]:
    """Import a script of the benchmarks, which import each other by name."""
    folder = str(root / "benchmarks")
    sys.path.append(folder)
    yield importlib.import_module
    sys.path.remove(folder)


@pytest.fixture(scope="session")
def formats(root: Path) -> Path:
    """Folder with one made-up data set in the shape of many tools' exports."""
    return root / "tests" / "formats"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with the shared data: $ANNOMODELS_SHARED, else ``shared`` beside the checkout.

    Without it a test is skipped, or fails where $ANNOMODELS_REQUIRE_SHARED is 1.
    """
    folder = Path(os.environ.get("ANNOMODELS_SHARED") or ROOT.parent / "shared")
    if (folder / "data").is_dir():
        return folder
    reason = f"There is no shared data in {folder}; set ANNOMODELS_SHARED to its folder."
    if os.environ.get("ANNOMODELS_REQUIRE_SHARED") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def counting_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each look at the clock of a run be a hundredth of a second after the last."""
    from itertools import count

    from annomodels.engines.settings import Clock

    looks = count()
    monkeypatch.setattr(Clock, "seconds", property(lambda _: next(looks) / 100))


@pytest.fixture
def unending_sampler(monkeypatch: pytest.MonkeyPatch, counting_clock: None) -> None:
    """Let nutpie go on until it is stopped, with 60 draws; its last chain has five, then NaN."""
    import numpy as np
    import nutpie

    class Unending:
        def __init__(self, sampler):
            self.result = sampler.wait()

        def wait(self, timeout):
            raise TimeoutError

        def abort(self):
            for values in self.result["posterior"].data_vars.values():
                if np.issubdtype(values.dtype, np.floating):
                    values.values[-1, 5:] = np.nan
            return self.result

    sample = nutpie.sample
    monkeypatch.setattr(
        nutpie, "sample", lambda code, **options: Unending(sample(code, **{**options, "draws": 60}))
    )


@pytest.fixture
def stops():
    """Class of teams whose user loses patience during the call of a number."""
    from annomodels.executors.team import Threads

    class Stops(Threads):
        def __init__(self, after: int) -> None:
            super().__init__(1)
            self.left = after

        def map(self, function, values):
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt
            return super().map(function, values)

    return Stops


@pytest.fixture
def uncompiled():
    """Let PyTensor compute by NumPy: compiling costs seconds, which a few values never pay back."""
    from pytensor import config

    with config.change_flags(mode="FAST_COMPILE"):
        yield


@pytest.fixture
def unsampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give points around the start of NUTS for draws, where a model would have to be compiled.

    They are no posterior, but values of every variable as the PyMC model has them: what is asked
    of draws can be asked of these, and compiling and sampling cost ten times as much.
    """
    import numpy as np
    from pymc.initial_point import make_initial_point_fn
    from pytensor import config

    from annomodels.engines.pymc import nuts

    def points(given, settings, wanted, **_):
        model, start = given
        rng = np.random.default_rng(settings.seed)
        shown = [each for each in model.unobserved_RVs if each.name in wanted]
        outputs = [model.logp(), *model.replace_rvs_by_values(shown)]
        with config.change_flags(mode="FAST_COMPILE"):
            at = model.compile_fn(outputs, inputs=model.value_vars, on_unused_input="ignore")
            begin = make_initial_point_fn(model=model, overrides=start, return_transformed=True)(0)
            runs = [
                [
                    at({k: v + 0.3 * rng.normal(size=np.shape(v)) for k, v in begin.items()})
                    for _ in range(settings.draws)
                ]
                for _ in range(settings.chains)
            ]
        lp, *values = (np.array([[d[n] for d in run] for run in runs]) for n in range(len(outputs)))
        found = {each.name: drawn for each, drawn in zip(shown, values, strict=True)}
        return found, lp, np.zeros(lp.shape, bool), ""

    sampled = nuts.sample
    monkeypatch.setattr(nuts, "compiled", lambda *given: given)
    monkeypatch.setattr(
        nuts,
        "sample",
        lambda code, *args, **options: (points if isinstance(code, tuple) else sampled)(
            code, *args, **options
        ),
    )


@pytest.fixture
def rng(request: pytest.FixtureRequest):
    """Random generator with a seed of its own for every test, the same in every run."""
    import numpy as np

    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture(autouse=True)
def _seeded_and_tidy(request: pytest.FixtureRequest):
    """Seed numpy's global generator (some libraries draw from it); close figures afterwards."""
    import numpy as np

    np.random.seed(zlib.crc32(request.node.nodeid.encode()))  # noqa: NPY002
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


@pytest.fixture
def small_disk(tmp_path):
    """Folder on a disk of a few pages."""
    if os.name != "posix" or os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root mounts a disk")
    place = tmp_path / "disk"
    place.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(place)]
    if subprocess.run(mounted, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)
