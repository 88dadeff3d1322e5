"""What a fit by NUTS costs beside sampling, the first time and with other data of the same model.

    .venv/bin/python benchmarks/recompilation.py

Each model has a process of its own. There it is fitted to the labels of three simulated crowds: one
to begin with, another of the same size, and one with more items. What is counted is the processor
time of the thread that calls `am.fit`: it builds, compiles and sums up, while the chains run in
threads of their own. Where something discrete is left it also samples, by the step methods of PyMC;
what these take is not counted. So other work on the machine hardly matters. A first process starts
with nothing kept on disk by PyTensor, a second one finds what the first has left.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from common import alone, answer, arguments, machine, markdown, say, write

MODELS = (
    "hierarchical", "scalar-difficulty", "dawid-skene", "mace", "ordinal",
    "logistic-random-effects", "guess-level", "spammers", "ambiguous",
)  # fmt: skip
FEW = ("dawid-skene",)
SIZES = (100, 100, 250)


def main() -> None:
    """Measure all models and write the table."""
    parser = arguments(__doc__, "recompilation.md")
    parser.add_argument("--models", nargs="+", default=MODELS, help="models to measure")
    parser.add_argument(
        "--warm", action="store_true", help="only with what PyTensor has kept on disk"
    )
    parser.add_argument("--alone", metavar="MODEL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        answer(measured(options.alone, options.seed))
        return
    header = ("model", "first fit, new disk", "first fit", "other data", "more items", "compiled")
    explanation = (
        "Processor seconds of a fit by NUTS beside sampling (8 coders, 3 labels, 4 labels an item; "
        "100 items in the first two fits of a process, 250 in the third). *New disk*: first fit of "
        "a process where PyTensor has kept nothing yet; *first fit*: in a later process; *other "
        "data* and *more items*: second and third fit of that process. *Compiled*: how many of its "
        "three fits compiled the model."
    )
    versions = machine("pymc", "pytensor", "nutpie")
    rows: list[list[str]] = []
    for model in FEW if options.reduced else options.models:
        say(model)
        with tempfile.TemporaryDirectory() as folder:
            kept = None if options.warm else {"PYTENSOR_FLAGS": f"base_compiledir={folder}"}
            run = partial(alone, __file__, "--alone", model, "--seed", str(options.seed))
            cold = None if options.warm else run(environment=kept)
            rows.append(row(model, cold, run(environment=kept)))
        # after each model: a run that is stopped has written what it found
        write(options.out, [explanation, markdown(header, rows), versions])


def row(model: str, cold: dict[str, Any] | None, warm: dict[str, Any] | None) -> list[str]:
    """Give a row of the table from a process on a new disk, if there was one, and a later one."""
    if warm is None:
        return [model, *["failed"] * 5]
    new_disk = "-" if cold is None else f"{cold['overhead'][0]:.1f}"
    return [model, new_disk, *(f"{t:.1f}" for t in warm["overhead"]), f"{warm['compiled']:d}"]


def crowd(seed: int, n_items: int) -> Any:
    """Labels of a simulated crowd."""
    import numpy as np

    import annomodels as am

    rng = np.random.default_rng(seed)
    k, truth = 3, rng.integers(3, size=n_items)
    rows = []
    for i in range(n_items):
        for j in rng.choice(8, 4, replace=False):
            right = rng.random() < 0.65 + 0.03 * j
            rows.append(
                (i, f"c{j}", int(truth[i] if right else (truth[i] + rng.integers(1, k)) % k))
            )
    return am.Annotations.from_records(rows, labels=list(range(k)))


def measured(model: str, seed: int) -> dict[str, Any]:
    """Fit three crowds and give the processor seconds beside sampling of each."""
    import pymc
    from pymc.step_methods import CompoundStep

    import annomodels as am
    from annomodels.engines.pymc import compiled as code

    compiled: list[str] = []
    sampling = 0.0

    def counting(compile_model: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **options: Any) -> Any:
            compiled.append(model)
            return compile_model(*args, **options)

        return counted

    def timed(self: Any, point: Any) -> Any:
        nonlocal sampling
        begun = time.thread_time()
        try:
            return step(self, point)
        finally:
            sampling += time.thread_time() - begun

    code.compile_model = counting(code.compile_model)  # type: ignore[assignment]
    pymc.Model.compile_logp = counting(pymc.Model.compile_logp)  # models with discrete variables
    step, CompoundStep.step = CompoundStep.step, timed
    am.fit(crowd(seed, 30), "dawid-skene", draws=50, seed=1)  # loads libraries and Gibbs's loops
    overhead = []
    for n, size in enumerate(SIZES):
        data = crowd(seed + n, size)
        begun, sampling = time.thread_time(), 0.0
        am.fit(data, model, engine="nuts", chains=2, draws=100, seed=seed)
        overhead.append(time.thread_time() - begun - sampling)
    return {"overhead": overhead, "compiled": len(compiled)}


if __name__ == "__main__":
    main()
