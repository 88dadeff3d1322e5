"""What draws of NUTS say of the items, where a model knows states: one pass for every draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.engines.kept import Kept, StateKept
from annomodels.errors import EngineError
from annomodels.models.base import Model
from annomodels.models.encoded import Encoded
from annomodels.models.states import SMALLEST

__all__ = ["revisit_states"]

Floats = NDArray[Any]


def revisit_states(
    model: Model, codes: Encoded, posterior: dict[str, Floats], lp: Floats
) -> Sequence[Kept]:
    """Compute P(truth), P(state) and what states stand for on every draw.

    Parameters
    ----------
    model
        A model whose items have states.
    codes
        The patterns of labels.
    posterior
        Draws of the PyMC variables, each [chain, draw, ...].
    lp
        Log density that the sampler reports, shape [chain, draw].

    Raises
    ------
    EngineError
        When the model names no states.
    """
    from annomodels.kernels.states import state_pass

    chains, draws = lp.shape
    kept: list[StateKept] = []
    for chain in range(chains):
        part: StateKept | None = None
        for draw in range(draws):
            values = model.finish({name: array[chain, draw] for name, array in posterior.items()})
            found = model.states({name: np.asarray(v)[None] for name, v in values.items()})
            if found is None:
                raise EngineError(f"The {model.title} model names no states of its items.")
            names = sorted(found.values)
            n_states = found.share.shape[1]
            if part is None:
                part = StateKept(codes, draws, False, n_states, names)
            rows = np.log(np.maximum(found.emission[0], SMALLEST)).transpose(0, 2, 1)
            table = np.ascontiguousarray(rows.reshape(-1, n_states))
            numbers = np.array([found.values[name][0] for name in names]).reshape(-1, n_states)
            log_likelihood = state_pass(
                *codes.arrays, codes.weight, np.log(np.maximum(found.share[0], SMALLEST)), table,
                np.ascontiguousarray(found.truth[0]), numbers, SMALLEST, *part.places,
            )  # fmt: skip
            prior = model.log_prior_of(values)
            own = float(lp[chain, draw]) if prior is None else log_likelihood + prior
            part.add(values, log_likelihood, own, moved=False)
        if part is not None:
            kept.append(part)
    return kept
