"""One Gibbs chain: truth given parameters, parameters given counts, and what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.engines.relabel import canonical_order
from annomodels.models.confusion import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded

__all__ = ["Chain", "Kept"]

Mapper = Callable[[Callable[[int], float], Iterable[int]], Iterable[float]]
BATCHES = 20


class Kept:
    """What one chain keeps of a stage: draws of the parameters, sums of the class probabilities.

    Parameters
    ----------
    codes
        The items.
    draws
        Number of draws to make room for.
    single
        Whether draws are kept in single precision.
    """

    def __init__(self, codes: Encoded, draws: int, single: bool) -> None:
        self.codes = codes
        self.room = draws
        self.dtype = np.float32 if single else np.float64
        self.n = 0
        self.relabelled = 0
        self.arrays: dict[str, NDArray[Any]] = {}
        self.log_likelihood = np.empty(draws)
        self.lp = np.empty(draws)
        shape = (codes.n_patterns, codes.n_labels)
        self.batch = np.zeros(shape)
        self.p_sum = np.zeros(shape)
        self.p_square = np.zeros(shape)
        self.entropy = np.zeros(codes.n_patterns)
        self.batches = 0
        self.in_batch = 0

    def add(self, variables: dict[str, NDArray[Any]], log_likelihood: float, lp: float) -> None:
        """Keep one draw; its class probabilities are in `batch` already."""
        for name, values in variables.items():
            if name not in self.arrays:
                self.arrays[name] = np.empty((self.room, *values.shape), dtype=self.dtype)
            self.arrays[name][self.n] = values
        self.log_likelihood[self.n] = log_likelihood
        self.lp[self.n] = lp
        self.n += 1
        self.in_batch += 1
        if self.in_batch >= max(1, self.room // BATCHES):
            self.close_batch()

    def close_batch(self) -> None:
        """Turn the current batch into one more batch mean."""
        from annomodels.kernels.passes import close_batch

        close_batch(self.batch, self.in_batch, self.p_sum, self.p_square, 0, self.codes.n_patterns)
        self.in_batch = 0
        self.batches += 1

    def finish(self) -> None:
        """Close what is open, after a run that stopped early."""
        if self.in_batch and not self.batches:
            self.close_batch()


class Chain:
    """A Gibbs chain that can be advanced a slice at a time.

    Parameters
    ----------
    model
        Says how counts become parameters.
    codes
        The items, not collapsed.
    state
        Where to begin; changed in place.
    key
        Key of all random numbers of the chain.
    relabel
        Whether kept draws are brought into the canonical order of the classes.
    partitions
        Number of parts a pass is split into.
    mapper
        Maps a function over the parts; the built-in ``map`` or a pool's.
    """

    def __init__(
        self,
        model: ConjugateModel,
        codes: Encoded,
        state: State,
        key: int,
        relabel: bool,
        partitions: int,
        mapper: Mapper,
    ) -> None:
        self.model, self.codes, self.state = model, codes, state
        self.key = np.uint64(key)
        self.relabel = relabel
        self.mapper = mapper
        self.iteration = 0
        self.volume = np.bincount(codes.row, minlength=codes.n_rows) / len(codes.row)
        edges = np.searchsorted(
            codes.starts, np.linspace(0, codes.starts[-1], partitions + 1), side="left"
        )
        edges[0], edges[-1] = 0, codes.n_patterns
        self.edges = [int(edge) for edge in edges]
        k = codes.n_labels
        self.counts = np.zeros((partitions, codes.n_rows, k, k), dtype=np.int64)
        self.sizes = np.zeros((partitions, k), dtype=np.int64)
        self.identity = np.arange(k)
        self.no_sum, self.no_entropy = np.empty((0, 0)), np.empty(0)

    def advance(self, iterations: int, thin: int, kept: Kept | None, stop: Event) -> None:
        """Run some iterations, keeping every `thin`-th in `kept`."""
        for _ in range(iterations):
            if stop.is_set():
                return
            if kept is not None and self.iteration % thin == 0:
                self._keep(kept)
            else:
                self._pass(self.identity, None)
            if len(self.edges) == 2:
                counts, sizes = self.counts[0], self.sizes[0]
            else:
                counts, sizes = self.counts.sum(axis=0), self.sizes.sum(axis=0)
            self.model.draw(counts, sizes, self.state, self.key, self.iteration)  # type: ignore[arg-type]
            self.iteration += 1

    def _keep(self, kept: Kept) -> None:
        """Draw the truth of all items and keep the parameters it was drawn from."""
        order = canonical_order(self.state, self.volume) if self.relabel else self.identity
        log_likelihood = self._pass(order, kept)
        lp = log_likelihood + self.model.log_prior(self.state)
        moved = bool((order != self.identity).any())
        kept.relabelled += moved
        state = self.state.ordered(order) if moved else self.state
        kept.add(self.model.pymc_start(state), log_likelihood, lp)

    def _pass(self, order: NDArray[Any], kept: Kept | None) -> float:
        """Draw the truth of all items; gives the log likelihood of the parameters."""
        from annomodels.kernels.passes import sampled_pass

        self.counts.fill(0)
        self.sizes.fill(0)
        p_sum = self.no_sum if kept is None else kept.batch
        entropy = self.no_entropy if kept is None else kept.entropy

        def part(n: int) -> float:
            return float(
                sampled_pass(
                    *self.codes.arrays,
                    self.state.log_prevalence,
                    self.state.log_confusion,
                    self.key,
                    self.iteration,
                    order,
                    kept is not None,
                    self.edges[n],
                    self.edges[n + 1],
                    self.counts[n],
                    self.sizes[n],
                    p_sum,
                    entropy,
                )
            )

        if len(self.edges) == 2:
            return part(0)
        return sum(self.mapper(part, range(len(self.edges) - 1)))
