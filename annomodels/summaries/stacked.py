"""Stack of a fit: the mixture, and draws of the calibration layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.models.mixtures.stack import layered
from annomodels.summaries.draws import as_known, evenly, model_of, thinned, truth_probabilities
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    from annomodels.models.mixtures.stack import Stack

# items per block of P(truth)
AT_ONCE = 5_000
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Stacked:
    """Mixture of a model and the votes, and draws of the layer."""

    log_q: Floats  # log of the mixture, shape [item, truth]
    sharpness: Floats  # draws of the layer, shapes [draw], [draw, truth] and [draw, truth]
    unknown: Floats
    tilt: Floats
    known: Ints  # known truths of items in streamed data, shape [item]
    spread: float  # spread of a coder's accuracy around that under drawn truths, in logits

    def __len__(self) -> int:
        return len(self.unknown)

    def at(self, draws: slice | Ints) -> Stacked:
        layer = {name: getattr(self, name)[draws] for name in ("sharpness", "unknown", "tilt")}
        return replace(self, **layer)

    def typical(self) -> Stacked:
        """Return the median of the layer, the typical distance of a crowd from an expert."""
        layer = {name: np.median(getattr(self, name), axis=0, keepdims=True)
                 for name in ("sharpness", "unknown", "tilt")}  # fmt: skip
        return replace(self, **layer)

    def p(self, items: slice | Ints = slice(None)) -> Floats:
        """Compute P(truth) of some items under the draws, shape [draw, item, truth]."""
        return layered(self.log_q[items], self.sharpness, self.unknown, self.tilt)

    def parts(self, items: Ints, size: int = AT_ONCE) -> Iterator[tuple[slice, Floats]]:
        for begin in range(0, len(items), size):
            some = slice(begin, begin + size)
            yield some, self.p(items[some])

    def wrong(self, items: Ints, best: Ints, rng: np.random.Generator) -> Floats:
        """Draw the number of items whose label is not `best`, ignoring known truths."""
        wrong = np.zeros(len(self))
        for some, p in self.parts(items):
            p_right = p[:, np.arange(p.shape[1]), best[some]]
            wrong += (rng.random(p_right.shape) < 1.0 - p_right).sum(axis=1)
        return wrong

    def far_off(self, accuracy: Floats) -> Floats:
        """Add noise to accuracies [draw, coder], calibrated on public data sets."""
        odds = np.log(np.maximum(accuracy, TINY) / np.maximum(1.0 - accuracy, TINY))
        odds += self.spread * np.random.default_rng(4).standard_normal(odds.shape)
        return np.asarray(1.0 / (1.0 + np.exp(-odds)))


def stacked(tree: xr.DataTree) -> Stacked | None:
    """Return the stack of a fit, None under a single model; known items only if streamed."""
    if "stack" not in tree.children:
        return None
    found = tree["stack"].to_dataset()
    held = next((n for n in ("log_mixture", "known_mixture") if n in found), "")
    k = found.sizes["truth"]
    log_q = found[held].values if held else np.zeros((0, k))
    return Stacked(
        log_q,
        sharpness=found["sharpness"].values,
        unknown=found["unknown"].values,
        tilt=found["tilt"].values,
        known=found["known_truth"].values if "known_truth" in found else np.zeros(0, dtype=int),
        spread=cast("Stack", model_of(tree)).far_off,
    )


def truth_draws(
    tree: xr.DataTree, data: Annotations, most: int
) -> tuple[int, Iterator[tuple[int, Floats]]]:
    """Return the number of draws (up to `most`), and P(truth) [item, truth] on each of them."""
    stack = stacked(tree)
    if stack is None:
        draws = thinned(tree, data, most)
        return len(draws), truth_probabilities(draws, data)
    some = stack.at(evenly(len(stack), min(most, len(stack))))

    def each() -> Iterator[tuple[int, Floats]]:
        for n in range(len(some)):
            yield n, as_known(some.at(slice(n, n + 1)).p()[0], data)

    return len(some), each()
