"""Combine chains into one result: stacked draws, mean class probabilities, modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import numpy as np

from annomodels.data.mixing import mixing, worst
from annomodels.data.schema import RawResult
from annomodels.engines.kept import DrawStore, alike, traced, watched_of
from annomodels.engines.source.itemsums import ItemMeans, ItemSums, item_means
from annomodels.engines.source.partition import cut
from annomodels.models.base import Model
from annomodels.models.encoded import Encoded
from annomodels.types import AnyArray, Ints

if TYPE_CHECKING:
    from annomodels.data.schema import ItemFields

SWAPPED_FROM = 0.5


def collect(
    model: Model,
    kept: Sequence[DrawStore],
    sums: Sequence[ItemSums],
    names: Sequence[str],
    codes: Encoded,
    attrs: dict[str, object],
) -> RawResult:
    """Combine chains whose items are local; `names` are those of the state values."""
    means = item_means(sums, min(part.n for part in kept), codes.weight)
    of_items = cut(codes, 1).gathered([means])
    of_items |= fields_of_states([means], names, codes.inverse)
    gaps = means.gaps / codes.weight.sum()
    return collect_parameters(model, kept, codes.volume, gaps, attrs, **of_items)


def collect_parameters(
    model: Model,
    kept: Sequence[DrawStore],
    volume: AnyArray,
    gaps: AnyArray,
    attrs: dict[str, object],
    **of_items: Unpack[ItemFields],
) -> RawResult:
    """Combine the parameters of the chains, their distances `gaps` and the item fields."""
    attrs = dict(attrs)
    draws = min(part.n for part in kept)
    posterior = {
        name: np.stack([part.arrays[name][:draws] for part in kept]) for name in kept[0].arrays
    }
    log_likelihood = np.stack([part.log_likelihood[:draws] for part in kept])
    lp = np.stack([part.lp[:draws] for part in kept])
    noted = traced([part.trace for part in kept])
    if noted is not None:
        noted = noted[0].round(5), noted[1].round(1)
        attrs["watched"] = {"rhat": noted[0].tolist(), "ess": noted[1].tolist()}
    rhat_max, ess_min = worst(*(noted or mixing(watched_of(model, posterior, volume))))
    swapped = [n for n, part in enumerate(kept) if part.relabelled > SWAPPED_FROM * part.n]
    attrs = {
        **attrs,
        "relabelled_share": sum(part.relabelled for part in kept) / sum(part.n for part in kept),
        "swapped_chains": swapped,
        "modes": chain_modes(gaps, log_likelihood, posterior["prevalence"]),
        "rhat_max": rhat_max,
        "ess_min": ess_min,
    }
    stats = {"log_likelihood": log_likelihood}
    return RawResult(posterior=posterior, lp=lp, stats=stats, attrs=attrs, **of_items)


def fields_of_states(parts: Sequence[ItemMeans], names: Sequence[str], inverse: Ints) -> ItemFields:
    """Expand state values and P(state) from patterns to items."""
    mean, square = np.concatenate([part.values for part in parts], axis=2)[:, :, inverse]
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    values = dict(zip(names, mean, strict=True))
    values |= {f"{name}_sd": spread[n] for n, name in enumerate(names)}
    p_state = np.concatenate([part.p_state for part in parts])
    return {"item_values": values, "p_state": p_state[inverse] if p_state.size else None}


def chain_modes(
    gaps: AnyArray, log_likelihood: AnyArray, prevalence: AnyArray, distance: float = 0.05
) -> list[dict[str, object]]:
    """Group chains by their class probabilities; more than one group means several modes."""
    groups = alike(gaps, range(len(gaps)), distance)
    return [
        {
            "lp": float(log_likelihood[group].mean()),
            "share": len(group) / len(gaps),
            "prevalence": prevalence[group].mean(axis=(0, 1)).round(6).tolist(),
        }
        for group in sorted(groups, key=lambda group: -float(log_likelihood[group].mean()))
    ]
