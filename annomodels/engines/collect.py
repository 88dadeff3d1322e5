"""From what the chains kept to one result: stacked draws, averaged class probabilities, modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import numpy as np

from annomodels.data.mixing import mixing, worst
from annomodels.data.schema import RawResult
from annomodels.engines.kept import DrawStore, StateStore, alike, total_gaps, traced, watched_of
from annomodels.engines.source.statemeans import StateMeans
from annomodels.models.base import Model
from annomodels.models.encoded import Encoded
from annomodels.types import AnyArray

if TYPE_CHECKING:
    from annomodels.data.schema import ItemFields

SWAPPED_FROM = 0.5


def collect(
    model: Model, kept: Sequence[DrawStore], codes: Encoded, attrs: dict[str, object]
) -> RawResult:
    """Put the chains together."""
    for part in kept:
        part.finish()
    batches = sum(part.batches for part in kept)
    mean = np.sum([part.p_sum for part in kept], axis=0) / batches
    square = np.sum([part.p_square for part in kept], axis=0) / batches
    spread = np.maximum(square - mean**2, 0.0)
    mcse = np.sqrt(spread / (batches - 1)) if batches > 1 else np.full_like(mean, np.nan)
    entropy = np.mean([part.entropy / part.n for part in kept], axis=0)
    volume = codes.volume
    by_chain = np.stack([part.p_sum / max(part.batches, 1) for part in kept])
    gaps = total_gaps(by_chain, codes.weight) / codes.weight.sum()
    inverse = codes.inverse
    item_values, p_state = _of_states(kept, inverse)
    return collect_parameters(
        model,
        kept,
        volume,
        gaps,
        attrs,
        p_truth=mean[inverse],
        p_truth_mcse=mcse[inverse],
        conditional_entropy=entropy[inverse],
        item_values=item_values,
        p_state=p_state,
    )


def collect_parameters(
    model: Model,
    kept: Sequence[DrawStore],
    volume: AnyArray,
    gaps: AnyArray,
    attrs: dict[str, object],
    **of_items: Unpack[ItemFields],
) -> RawResult:
    """Combine the parameters of the chains, their distances `gaps` and the fields about items."""
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


def _of_states(
    kept: Sequence[DrawStore], inverse: AnyArray
) -> tuple[dict[str, AnyArray], AnyArray | None]:
    """Average what the states of the items stand for, and P(state), over all draws."""
    parts = [part for part in kept if isinstance(part, StateStore)]
    if not parts:
        return {}, None
    n = sum(part.n for part in parts)
    mean = np.sum([part.value_sum for part in parts], axis=0) / n
    square = np.sum([part.value_square for part in parts], axis=0) / n
    values = _with_spread(parts[0].value_names, mean[:, inverse], square[:, inverse])
    if not len(parts[0].p_state):
        return values, None
    return values, (np.sum([part.p_state for part in parts], axis=0) / n)[inverse]


def _with_spread(names: Sequence[str], mean: AnyArray, square: AnyArray) -> dict[str, AnyArray]:
    """Means of values [value, item], and as ``name_sd`` their standard deviations."""
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    return dict(zip(names, mean, strict=True)) | {
        f"{name}_sd": spread[n] for n, name in enumerate(names)
    }


def fields_of_states(parts: Sequence[StateMeans], names: Sequence[str]) -> ItemFields:
    """Fields of a result that concern items in states, from what came back of each partition."""

    def whole(name: str, axis: int = 0) -> AnyArray:
        return np.concatenate([getattr(part, name) for part in parts], axis=axis)

    values = _with_spread(names, *whole("values", axis=2))
    p_state = whole("p_state")
    return {
        "p_truth": whole("p_truth"),
        "p_truth_mcse": whole("p_truth_mcse"),
        "conditional_entropy": whole("conditional_entropy"),
        "item_values": values,
        "p_state": p_state if len(p_state) else None,
    }


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
