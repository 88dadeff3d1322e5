"""Compiled PyMC models: models with equal graphs share their code, for any data."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.types import AnyArray, Floats, PyMCModel

if TYPE_CHECKING:
    from nutpie.compile_pymc import CompiledPyMCModel
    from pytensor.compile.sharedvalue import SharedVariable
    from pytensor.graph.basic import Variable

# compiled models, several megabytes each
KEPT = 16

# code of the models that this process used last, the latest at the end
_CODE: OrderedDict[Hashable, Any] = OrderedDict()
ONE_AT_A_TIME = threading.RLock()


def compiled(
    pymc_model: PyMCModel, start: Mapping[str, AnyArray], *, jitter: bool = False
) -> CompiledPyMCModel:
    """Return a nutpie model, compiled unless the code of an equal graph is cached."""
    # Data are values of variables. So another model of the same kind, with the same priors, labels
    # and number of coders, can use the same code for any number of items.
    import nutpie

    with ONE_AT_A_TIME:
        code = kept(
            graph_key(pymc_model), lambda: nutpie.compile_pymc_model(pymc_model, backend="numba")
        )
        return _finished(code, pymc_model, start, jitter)


def kept(key: Hashable, make: Callable[[], Any]) -> Any:
    """Return the cached code of a key; make and cache it if there is none."""
    # PyTensor's rewriting and compiling are not thread-safe
    with ONE_AT_A_TIME:
        code = _CODE.get(key)
        if code is None:
            with repeatable():
                code = make()
        _CODE[key] = code
        _CODE.move_to_end(key)
        while len(_CODE) > KEPT:
            _CODE.popitem(last=False)
        return code


@contextmanager
def repeatable() -> Iterator[None]:
    """Make PyTensor compile code that gives the same numbers in every process."""
    # By default sums may be reordered. Their order depends on which functions are compiled together
    # and so on the disk cache of earlier processes: a seed would not determine the draws.
    from pytensor import config

    with config.change_flags(numba__fastmath=False):
        yield


def forget() -> None:
    """Clear the cache."""
    with ONE_AT_A_TIME:
        _CODE.clear()


def graph_key(pymc_model: PyMCModel) -> Hashable:
    """Return everything that the code of a model depends on, as one comparable value."""
    # These are the operations in the graph of the log density and the variables, in order, its
    # constants, the names and types of its inputs, and the lengths of its dimensions, but not the
    # values of data variables.
    from pytensor.compile.sharedvalue import SharedVariable
    from pytensor.graph.basic import Constant
    from pytensor.graph.traversal import toposort

    shown = pymc_model.unobserved_value_vars
    outputs = [pymc_model.logp(), *shown]
    place: dict[Any, int] = {}
    parts: list[Hashable] = []

    def seen(variable: Variable) -> int:
        if variable not in place:
            place[variable] = len(parts)
            if isinstance(variable, Constant):
                parts.append((variable.type, variable.signature()))
            else:
                shared = isinstance(variable, SharedVariable)
                parts.append((variable.type, variable.name, shared))
        return place[variable]

    for node in toposort(outputs):
        inputs = tuple(map(seen, node.inputs))
        for n, output in enumerate(node.outputs):
            place[output] = len(parts)
            parts.append((node.op, inputs, n, output.type))
    lengths = {dim: int(_length(size)) for dim, size in pymc_model.dim_lengths.items()}
    return (
        tuple(parts),
        tuple(map(seen, outputs)),
        tuple(variable.name for variable in shown),
        tuple(variable.name for variable in pymc_model.value_vars),
        tuple(sorted(lengths.items())),
        tuple(sorted(pymc_model.named_vars_to_dims.items())),
    )


def _length(size: Variable) -> AnyArray:
    return np.asarray(size.get_value() if hasattr(size, "get_value") else size.eval())


def holders(pymc_model: PyMCModel) -> dict[str, SharedVariable]:
    """Return the shared variables of a model by name: data and lengths of dimensions."""
    lengths = pymc_model.dim_lengths.values()
    found = [*pymc_model.data_vars, *(size for size in lengths if hasattr(size, "get_value"))]
    return {holder.name: holder for holder in found}


def data_values(pymc_model: PyMCModel) -> dict[str, AnyArray]:
    """Return the values of the shared variables of a model, by name."""
    return {name: held.get_value(borrow=True) for name, held in holders(pymc_model).items()}


def _finished(
    code: CompiledPyMCModel, pymc_model: PyMCModel, start: Mapping[str, AnyArray], jitter: bool
) -> CompiledPyMCModel:
    """Return the code with the data, coordinates and chain starts of a model."""
    import pandas as pd

    values = data_values(pymc_model)
    found = code.with_data(**{var.name: values[var.name] for var in code.shared_var_keys})
    names = {dim: pd.Index(v) for dim, v in pymc_model.coords.items() if v is not None}
    begin = _starts(pymc_model, start, code.shapes, jitter)
    return replace(found, initial_point_func=begin, _coords={**code.coords, **names})


def _starts(
    pymc_model: PyMCModel,
    start: Mapping[str, AnyArray],
    shapes: dict[str, tuple[int, ...]],
    jitter: bool,
) -> Callable[[int | None], Floats]:
    """Return the function from a seed to the starting point of a chain, as nutpie calls it."""
    from pymc.initial_point import make_initial_point_fn

    with repeatable():
        point = make_initial_point_fn(
            model=pymc_model,
            overrides=dict(start),
            jitter_rvs=set(pymc_model.free_RVs) if jitter else set(),
            return_transformed=True,
        )
    names = [pymc_model.rvs_to_values[free].name for free in pymc_model.free_RVs]
    one_at_a_time = threading.Lock()

    def begin(seed: int | None = None) -> Floats:
        with one_at_a_time:
            found = point(seed)
        for name in names:
            if np.shape(found[name]) != tuple(shapes[name]):
                raise ValueError(
                    f"The start of {name} has shape {np.shape(found[name])}, not {shapes[name]}."
                )
        return np.concatenate([np.ravel(found[name]).astype(float) for name in names])

    return begin
