"""P(truth) and P(state) of the items under draws of NUTS: one pass for every draw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annomodels.engines.kept import DrawStore, StateStore, canonical_order
from annomodels.errors import EngineError
from annomodels.models.base import Model, State
from annomodels.models.encoded import Encoded
from annomodels.models.states import SMALLEST
from annomodels.types import AnyArray


def revisit_states(
    model: Model,
    codes: Encoded,
    posterior: dict[str, AnyArray],
    lp: AnyArray,
    relabel: bool = False,
) -> Sequence[DrawStore]:
    """Compute P(truth), P(state) and the values of the states on every draw."""
    from annomodels.kernels.passes import States, Sums, weighing_pass

    chains, draws = lp.shape
    identity = np.arange(codes.n_labels)
    # the row of a label is drawn, or not, where labels are counted: not here
    volume, no_rows = codes.volume, np.zeros(0, dtype=np.int64)
    kept: list[StateStore] = []
    for chain in range(chains):
        part: StateStore | None = None
        for draw in range(draws):
            values = model.result_values(
                {name: array[chain, draw] for name, array in posterior.items()}
            )
            order = _order(values, volume) if relabel else identity
            moved = bool((order != identity).any())
            if moved:
                values = _reordered(model, values, np.argsort(order))
            found = model.states({name: np.asarray(v)[None] for name, v in values.items()})
            if found is None:
                raise EngineError(f"The {model.title} model names no states of its items.")
            names = sorted(found.values)
            n_states = found.share.shape[1]
            if part is None:
                part = StateStore(codes.n_patterns, codes.n_labels, draws, False, n_states, names)
            rows = np.maximum(found.emission[0], SMALLEST).transpose(0, 2, 1)
            table = np.ascontiguousarray(rows.reshape(-1, n_states))
            numbers = np.array([found.values[name][0] for name in names]).reshape(-1, n_states)
            truth = np.ascontiguousarray(found.truth[0])
            states = States(truth, no_rows, truth, table, numbers, SMALLEST)
            kind, shares = None, found.share
            if found.kinds is not None and codes.kind is not None:
                kind, every = codes.kind, np.arange(codes.kind.max() + 1)
                shares = np.exp(found.kinds.log_share(0, every))
            log_likelihood = weighing_pass(
                codes.arrays, codes.weight, kind, np.maximum(shares, SMALLEST), table, None,
                states, Sums(*part.places, identity),
            )  # fmt: skip
            prior = model.log_prior_of(values)
            own = float(lp[chain, draw]) if prior is None else log_likelihood + prior
            part.add(values, log_likelihood, own, moved)
        if part is not None:
            kept.append(part)
    return kept


def _order(values: dict[str, AnyArray], volume: AnyArray) -> AnyArray:
    """Place that each class should have, given what coders say of it."""
    confusion = np.asarray(values["confusion"])
    rows = np.log(np.maximum(confusion if confusion.ndim == 3 else confusion[None], SMALLEST))
    rows = np.ascontiguousarray(rows.transpose(0, 2, 1))
    log_prevalence = np.log(np.maximum(values["prevalence"], SMALLEST))
    return canonical_order(State(log_prevalence, rows), volume)


def _reordered(model: Model, values: dict[str, AnyArray], back: AnyArray) -> dict[str, AnyArray]:
    """Return the classes another order in every variable that speaks of them."""
    dims = model.dims(len(back))
    out = dict(values)
    for name, array in values.items():
        along = dims.get(name, ())
        if "truth" in along:  # counted from the end: a shared matrix has no axis of coders
            out[name] = np.take(array, back, axis=along.index("truth") - len(along))
    return out
