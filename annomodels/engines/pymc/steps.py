"""Step methods of PyMC, compiled once for all models of the same graph, whatever their data."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.engines.pymc.compiled import graph_key, holders, kept
from annomodels.types import AnyArray, PyMCModel

if TYPE_CHECKING:
    from pymc.step_methods.compound import BlockedStep, CompoundStep, StepMethodState

Point = dict[str, AnyArray]


def compiled_steps(pymc_model: PyMCModel, start: Mapping[str, AnyArray]) -> Steps:
    """Return the step methods of a model, compiled once for all models with the same graph."""
    # the first model of a graph is kept, and takes the data of later ones
    # what the code takes for granted beside the graph
    shapes = tuple((name, np.shape(start[name])) for name in sorted(start))
    key: Hashable = ("steps", graph_key(pymc_model), shapes)
    steps: Steps = kept(key, lambda: Steps(pymc_model, start))
    return steps


class Steps:
    """Step methods that PyMC assigns to the variables of a model."""

    # The functions that they call are compiled here and shared by all chains; the data and the
    # variables that a step does not move are values that these functions find in one place. So
    # callers must hold their :meth:`turn`.

    def __init__(self, pymc_model: PyMCModel, start: Mapping[str, AnyArray]) -> None:
        import pymc as pm
        import pytensor
        from pymc.initial_point import make_initial_point_fn
        from pymc.sampling.mcmc import assign_step_methods
        from pymc.step_methods.compound import flatten_steps

        self._model = pymc_model
        self._holders = holders(pymc_model)
        self._given: Mapping[str, Any] | None = None
        self._door, self._lock = threading.Lock(), threading.RLock()
        self._start = {name: pytensor.shared(np.asarray(start[name])) for name in start}
        self._begin = make_initial_point_fn(model=pymc_model, overrides=self._start)
        point = self._begin(0)
        assigned = assign_step_methods(pymc_model)[1]
        self._smooth = assigned.get(pm.NUTS, [])
        self._density = pymc_model.logp_dlogp_function(
            self._smooth, ravel_inputs=True, initial_point=point
        )
        self._density.trust_input = True
        # in PyMC's order; None is where NUTS comes
        self._others: list[tuple[Any, Any] | None] = []
        for kind, variables in assigned.items():
            if kind is pm.NUTS:
                self._others.append(None)
                continue
            step = kind(vars=variables, model=pymc_model, initial_point=point)
            self._others += [(part, part.sampling_state) for part in flatten_steps(step)]
        drawn = {free.name for free in pymc_model.unobserved_RVs}
        shown = [value for value in pymc_model.unobserved_value_vars if value.name in drawn]
        self._names = [value.name for value in shown]
        self._values = pymc_model.compile_fn(
            shown, inputs=pymc_model.value_vars, on_unused_input="ignore"
        )
        self._call_all(point)

    def _call_all(self, point: Point) -> None:
        """Call each function: numba compiles at the first call, which is no part of sampling."""
        self.log_density(point)
        self.values(point)
        for part in filter(None, self._others):
            part[0].step(point)

    @contextmanager
    def turn(self, given: Mapping[str, AnyArray]) -> Iterator[None]:
        """Have the functions for oneself, with these data; chains in threads take turns."""
        try:
            # who comes back at once queues behind those who wait: a lock alone would starve them
            with self._door:
                self._lock.acquire()
            if self._given is not given:
                self._given = None
                for name, value in given.items():
                    self._holders[name].set_value(value, borrow=True)
                self._given = given
            yield
        finally:
            # it is not ours if an interrupt came before, and may be if one came right after
            with suppress(RuntimeError):
                self._lock.release()

    def begin(self, start: Mapping[str, AnyArray]) -> Point:
        """Return the unconstrained values that the steps move, from those of the free variables."""
        for name, holder in self._start.items():
            holder.set_value(np.asarray(start[name]))
        point: Point = self._begin(0)
        return point

    def chain(
        self, point: Point, target_accept: float, seed: int, warmup: int, draws: int
    ) -> CompoundStep:
        """Return step methods for one chain that have learned nothing yet."""
        import pymc as pm
        from pymc.step_methods import CompoundStep

        found = [
            pm.NUTS(
                vars=self._smooth, model=self._model, logp_dlogp_func=self._density,
                initial_point=point, target_accept=target_accept,
            )
            if other is None else _twin(*other)
            for other in self._others
        ]  # fmt: skip
        steps = CompoundStep(found)
        # as pm.sample seeds a single chain
        steps.setup_chain(np.random.default_rng(seed).spawn(1)[0], warmup, draws)
        return steps

    def values(self, point: Point) -> dict[str, AnyArray]:
        """Return the variables of the model, by name, at a point."""
        return dict(zip(self._names, self._values(point), strict=True))

    def log_density(self, point: Point) -> float:
        """Return the log density of the unconstrained variables at a point."""
        flat = np.concatenate([np.ravel(point[variable.name]) for variable in self._smooth])
        return float(self._density([flat], extra_vars=point)[0])


def _twin(step: BlockedStep, state: StepMethodState) -> BlockedStep:
    """Copy a step with its functions, in the state in which it was made."""
    twin = copy(step)
    for name, value in vars(step).items():
        if isinstance(value, MethodType) and value.__self__ is step:
            setattr(twin, name, MethodType(value.__func__, twin))
    twin.sampling_state = state
    return twin
