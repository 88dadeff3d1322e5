"""P(truth) and P(state) of the items under draws of NUTS, by one pass per draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from annomodels.engines.given import given_by, state_of, weigh
from annomodels.engines.kept import DrawStore, canonical_order
from annomodels.engines.source.itemsums import ItemSums, Stage, with_room
from annomodels.models.base import Model
from annomodels.models.encoded import Encoded
from annomodels.models.parameters import reordered
from annomodels.types import AnyArray

if TYPE_CHECKING:
    from annomodels.models.conjugate import ConjugateModel

# stored draws and item sums of each chain, and names of the state values
Revisited = tuple[list[DrawStore], list[ItemSums], list[str]]


def revisited(
    model: Model,
    codes: Encoded,
    posterior: dict[str, AnyArray],
    lp: AnyArray,
    relabel: bool = False,
) -> Revisited:
    """Compute P(truth), P(state) and the state values under each draw."""
    chains, draws = lp.shape
    k, volume = codes.n_labels, codes.volume
    identity = np.arange(k)
    # the density of the result's variables, which that of the PyMC variables may not be
    conjugate = cast("ConjugateModel", model) if "gibbs" in model.engines else None
    kept = [DrawStore(draws, single=False) for _ in range(chains)]
    sums: list[ItemSums] = []
    for chain, part in enumerate(kept):
        for draw in range(draws):
            values = {name: array[chain, draw] for name, array in posterior.items()}
            values = model.result_values(values)
            order = canonical_order(state_of(values), volume) if relabel else identity
            moved = bool((order != identity).any())
            if moved:
                values = reordered(model.variables(k), values, np.argsort(order))
            given = given_by(model, values, codes.kind)
            *_, states = given
            if not draw:
                n_states, n_values = 0, 0
                if states is not None:
                    (n_states, _), n_values = states.truth.shape, len(states.values)
                n_states = with_room(n_states, codes.n_patterns)
                stage = Stage(1, part.length, n_states, n_values)
                sums.append(ItemSums(codes.n_patterns, k, stage))
            log_likelihood = weigh(codes.arrays, codes.weight, given, sums[-1], codes.kind)
            sums[-1].note(draw)
            own = float(lp[chain, draw])
            if conjugate is not None:
                one = {name: np.asarray(v)[None] for name, v in values.items()}
                own = log_likelihood + float(conjugate.log_prior(one)[0])
            part.add(values, log_likelihood, own, moved)
    found = model.states({name: values[:1] for name, values in kept[0].arrays.items()})
    return kept, sums, [] if found is None else sorted(found.values)
