"""What one chain keeps: draws of the parameters, sums of what they say of the items."""

from __future__ import annotations

import numpy as np

from annomodels.engines.trace import Trace
from annomodels.types import AnyArray

BATCHES = 20
# numbers of P(state) to keep for the items
MOST_STATES = 50_000_000


class Kept:
    """What one chain keeps of a stage: draws of the parameters, sums of the class probabilities.

    Parameters
    ----------
    n_items, n_classes
        Sizes; no item where what draws say of the items is summed elsewhere.
    draws
        Number of draws to make room for.
    single
        Whether draws are kept in single precision.
    """

    def __init__(self, n_items: int, n_classes: int, draws: int, single: bool) -> None:
        self.room = draws
        self.dtype = np.float32 if single else np.float64
        self.arrays: dict[str, AnyArray] = {}
        # what is watched of all iterations, where few draws are kept
        self.trace: Trace | None = None
        self.log_likelihood = np.zeros(draws)
        self.lp = np.zeros(draws)
        shape = (n_items, n_classes)
        self.batch = np.zeros(shape)
        self.p_sum = np.zeros(shape)
        self.p_square = np.zeros(shape)
        self.entropy = np.zeros(n_items)
        # draws, draws in the open batch, batches, relabelled draws, length of a batch
        self.book = np.array([0, 0, 0, 0, max(1, draws // BATCHES)])

    @property
    def n(self) -> int:
        """Number of draws kept."""
        return int(self.book[0])

    @property
    def batches(self) -> int:
        """Number of batches of class probabilities that are complete."""
        return int(self.book[2])

    @property
    def relabelled(self) -> int:
        """Number of draws whose classes were brought into another order."""
        return int(self.book[3])

    @property
    def sums(self) -> tuple[AnyArray, ...]:
        """Sums over the draws: of the open batch, of all batches, of squares, of entropies."""
        return self.batch, self.p_sum, self.p_square, self.entropy

    def make_room(self, variables: dict[str, AnyArray]) -> None:
        """Make room for draws of variables of these shapes."""
        if not self.arrays:
            for name, values in variables.items():
                self.arrays[name] = np.empty((self.room, *np.shape(values)), dtype=self.dtype)

    def add(
        self, variables: dict[str, AnyArray], log_likelihood: float, lp: float, moved: bool
    ) -> None:
        """Keep one draw; its class probabilities are in `batch` already."""
        self.make_room(variables)
        for name, values in variables.items():
            self.arrays[name][self.n] = values
        self.note(log_likelihood, lp, moved)

    def note(self, log_likelihood: float, lp: float, moved: bool) -> None:
        """Complete a draw whose parameters and class probabilities are in their places."""
        self.log_likelihood[self.n] = log_likelihood
        self.lp[self.n] = lp
        self.book[:2] += 1
        self.book[3] += moved
        if self.book[1] >= self.book[4]:
            self.close_batch()

    def close_batch(self) -> None:
        """Turn the current batch into one more batch mean."""
        from annomodels.kernels.products import close_batch

        close_batch(self.batch, self.book[1], self.p_sum, self.p_square, 0, len(self.batch))
        self.book[1] = 0
        self.book[2] += 1

    def finish(self) -> None:
        """Close what is open, after a run that stopped early."""
        if self.book[1] and not self.book[2]:
            self.close_batch()


class StateKept(Kept):
    """What a chain keeps of a stage, with sums of P(state) and of what states stand for.

    Parameters
    ----------
    n_items, n_classes
        Sizes.
    draws
        Number of draws to make room for.
    single
        Whether draws are kept in single precision.
    n_states
        Number of states.
    value_names
        What the numbers are called that states stand for.
    """

    def __init__(
        self,
        n_items: int,
        n_classes: int,
        draws: int,
        single: bool,
        n_states: int,
        value_names: list[str],
    ) -> None:
        super().__init__(n_items, n_classes, draws, single)
        items = n_items
        self.value_names = value_names
        self.p_state = np.zeros((items if items * n_states <= MOST_STATES else 0, n_states))
        self.value_sum = np.zeros((len(value_names), items))
        self.value_square = np.zeros((len(value_names), items))

    @property
    def places(self) -> tuple[AnyArray, ...]:
        """Where a pass adds: truth, entropy, states, values and their squares."""
        return self.batch, self.entropy, self.p_state, self.value_sum, self.value_square
