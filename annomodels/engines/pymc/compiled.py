"""Compiled PyMC models: models with equal graphs share their code, for any data."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from annomodels.types import AnyArray, Floats, PyMCModel

if TYPE_CHECKING:
    from nutpie.sample import CompiledModel
    from pytensor.graph.basic import Variable

# compiled models, several megabytes each
KEPT = 16

# code of the models that this process used last, the latest at the end
_CODE: OrderedDict[Hashable, Any] = OrderedDict()
ONE_AT_A_TIME = threading.RLock()


class Function(NamedTuple):
    """A compiled function of unconstrained parameters and of the values of shared variables."""

    loops: Callable[..., Sequence[AnyArray]]
    shared: list[str]

    def at(self, values: Mapping[str, AnyArray]) -> Callable[[AnyArray], Sequence[AnyArray]]:
        """Return the function for these values of the shared variables."""
        given = [values[name] for name in self.shared]
        return lambda x: self.loops(x, *given)


class Code(NamedTuple):
    """Code of a model: log density with gradient, and all variables."""

    density: Function
    variables: Function


def compiled(
    pymc_model: PyMCModel, start: Mapping[str, AnyArray], *, jitter: bool = False
) -> CompiledModel:
    """Return a nutpie model, compiled unless the code of an equal graph is cached."""
    # Data are values of variables. So another model of the same kind, with the same priors, labels
    # and number of coders, can use the same code for any number of items. nutpie's own compiler
    # compiles everything again in each process; PyTensor's functions are loaded from disk.
    from nutpie.compiled_pyfunc import from_pyfunc

    begin = _starts(pymc_model, start, jitter)
    point = begin(None)
    with ONE_AT_A_TIME:
        code = kept(graph_key(pymc_model), lambda: compile_model(pymc_model, point))
    values = data_values(pymc_model)
    density, variables = code.density.at(values), code.variables.at(values)
    names = [variable.name for variable in pymc_model.unobserved_RVs]

    def value(x: AnyArray) -> tuple[float, AnyArray]:
        total, gradient = density(x)
        return (float(total) if np.isfinite(gradient).all() else np.nan), gradient

    def shown_at(x: AnyArray) -> dict[str, AnyArray]:
        # nutpie accepts contiguous arrays only
        found = zip(names, variables(x), strict=True)
        return {name: np.require(each, np.float64, "C") for name, each in found}

    at = _flat(point)
    shown = shown_at(at)
    lengths = _lengths(pymc_model)
    for name, dims in pymc_model.named_vars_to_dims.items():
        size = tuple(lengths[dim] for dim in dims)
        if name in shown and shown[name].shape != size:
            raise ValueError(f"The start of {name} has shape {shown[name].shape}, not {size}.")
    return from_pyfunc(
        ndim=len(at),
        make_logp_fn=lambda: value,
        make_expand_fn=lambda *_: shown_at,
        expanded_dtypes=[np.dtype(np.float64)] * len(shown),
        expanded_shapes=[np.shape(each) for each in shown.values()],
        expanded_names=list(shown),
        make_initial_point_fn=lambda seed: _flat(begin(seed)),
    )


def _flat(point: Mapping[str, AnyArray]) -> Floats:
    return np.concatenate([np.ravel(value).astype(float) for value in point.values()])


def compile_model(pymc_model: PyMCModel, point: Mapping[str, AnyArray]) -> Code:
    """Compile density, gradient and variables for starts of these shapes."""
    import pytensor.tensor as pt
    from pymc.pytensorf import join_nonshared_inputs, rewrite_pregrad
    from pytensor import grad

    free = pymc_model.value_vars
    logp = rewrite_pregrad(pymc_model.logp())
    gradient = pt.concatenate([pt.flatten(each) for each in grad(logp, free)])

    def function(outputs: Sequence[Variable]) -> Function:
        joined, x = join_nonshared_inputs(dict(point), outputs, free)
        made = pymc_model.compile_fn(
            list(joined), inputs=[x], mode="NUMBA", point_fn=False, on_unused_input="ignore"
        )
        loops = made.vm.jit_fn
        loops.targetoptions["nogil"] = True  # chains run in threads
        shared = made.get_shared()
        # numba compiles at the first call: here, where the flags are set and no time limit runs
        loops(_flat(point), *(each.get_value(borrow=True) for each in shared))
        return Function(loops, [each.name for each in shared])

    shown = pymc_model.replace_rvs_by_values(pymc_model.unobserved_RVs)
    return Code(function([logp, gradient]), function(shown))


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
    lengths = _lengths(pymc_model)
    return (
        tuple(parts),
        tuple(map(seen, outputs)),
        tuple(variable.name for variable in shown),
        tuple(variable.name for variable in pymc_model.value_vars),
        tuple(sorted(lengths.items())),
        tuple(sorted(pymc_model.named_vars_to_dims.items())),
    )


def _lengths(pymc_model: PyMCModel) -> dict[str, int]:
    return {
        dim: int(size.get_value() if hasattr(size, "get_value") else size.eval())
        for dim, size in pymc_model.dim_lengths.items()
    }


def data_values(pymc_model: PyMCModel) -> dict[str, AnyArray]:
    """Return the values of the shared variables of a model: data and lengths of dimensions."""
    lengths = pymc_model.dim_lengths.values()
    held = [*pymc_model.data_vars, *(size for size in lengths if hasattr(size, "get_value"))]
    return {each.name: each.get_value(borrow=True) for each in held}


def _starts(
    pymc_model: PyMCModel, start: Mapping[str, AnyArray], jitter: bool
) -> Callable[[int | None], dict[str, AnyArray]]:
    """Return the function from a seed to the unconstrained starting point of a chain."""
    from pymc.initial_point import make_initial_point_fn

    with repeatable():
        point = make_initial_point_fn(
            model=pymc_model,
            overrides=dict(start),
            jitter_rvs=set(pymc_model.free_RVs) if jitter else set(),
            return_transformed=True,
        )
    one_at_a_time = threading.Lock()

    def begin(seed: int | None) -> dict[str, AnyArray]:
        with one_at_a_time:
            found = point(seed)
        return {variable.name: found[variable.name] for variable in pymc_model.value_vars}

    return begin
