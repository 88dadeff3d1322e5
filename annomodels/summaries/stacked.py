"""Stack as a fit keeps it: its mixture, and draws of how confident it is."""

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

# items of which P(truth) is computed at a time
AT_ONCE = 5_000
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Stacked:
    """Mixture of a model and the votes, and draws of the layer."""

    log_q: Floats  # log of the mixture, shape [item, truth]
    sharpness: Floats  # draws of the layer, shapes [draw], [draw, truth] and [draw, truth]
    unknown: Floats
    tilt: Floats
    known: Ints  # truths of the items of a scan whose truth is known, shape [item]
    spread: float  # how far the accuracy of a coder lies from that under drawn truths, in logits

    def __len__(self) -> int:
        return len(self.unknown)

    def at(self, draws: slice | Ints) -> Stacked:
        """Take some draws of the layer."""
        layer = {name: getattr(self, name)[draws] for name in ("sharpness", "unknown", "tilt")}
        return replace(self, **layer)

    def typical(self) -> Stacked:
        """Return the median of the layer: a crowd as far from an expert as in most data sets."""
        layer = {name: np.median(getattr(self, name), axis=0, keepdims=True)
                 for name in ("sharpness", "unknown", "tilt")}  # fmt: skip
        return replace(self, **layer)

    def p(self, items: slice | Ints = slice(None)) -> Floats:
        """Compute P(truth) of some items under the draws, shape [draw, item, truth]."""
        return layered(self.log_q[items], self.sharpness, self.unknown, self.tilt)

    def parts(self, items: Ints, size: int = AT_ONCE) -> Iterator[tuple[slice, Floats]]:
        """Go through the same, some items at a time."""
        for begin in range(0, len(items), size):
            some = slice(begin, begin + size)
            yield some, self.p(items[some])

    def wrong(self, items: Ints, best: Ints, rng: np.random.Generator) -> Floats:
        """Draw how many of some items do not have a label, as if none were known."""
        wrong = np.zeros(len(self))
        for some, p in self.parts(items):
            p_right = p[:, np.arange(p.shape[1]), best[some]]
            wrong += (rng.random(p_right.shape) < 1.0 - p_right).sum(axis=1)
        return wrong

    def far_off(self, accuracy: Floats) -> Floats:
        """Spread accuracies [draw, coder] as far from drawn truths as on public sets."""
        odds = np.log(np.maximum(accuracy, TINY) / np.maximum(1.0 - accuracy, TINY))
        odds += self.spread * np.random.default_rng(4).standard_normal(odds.shape)
        return np.asarray(1.0 / (1.0 + np.exp(-odds)))


def stacked(tree: xr.DataTree) -> Stacked | None:
    """Read what a fit keeps of a stack; None of one model; of a scan, of its known items."""
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
    """Return the number of, and up to `most`, draws of P(truth) [item, truth]; known is certain."""
    stack = stacked(tree)
    if stack is None:
        draws = thinned(tree, data, most)
        return len(draws), truth_probabilities(draws, data)
    some = stack.at(evenly(len(stack), min(most, len(stack))))

    def each() -> Iterator[tuple[int, Floats]]:
        for n in range(len(some)):
            yield n, as_known(some.at(slice(n, n + 1)).p()[0], data)

    return len(some), each()
