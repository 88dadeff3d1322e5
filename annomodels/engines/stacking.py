"""Stack: P(truth) from a mode, the votes and a layer, and coders given the truth."""

# The confidence of the stack is estimated from items with known truth. Passes run where the items
# are: in memory (a single part), on disk or on a cluster.

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.alike import told_apart
from annomodels.data.annotations import Annotations
from annomodels.data.coded import Coded
from annomodels.data.copying import compared, copied
from annomodels.data.schema import RawResult
from annomodels.engines.chain import Chain
from annomodels.engines.collect import collect_parameters
from annomodels.engines.gibbs import source_of
from annomodels.engines.kept import DrawStore, add_priors
from annomodels.engines.layer import draw_layer
from annomodels.engines.run import chain_keys, room_for
from annomodels.engines.settings import Clock, Interrupts, Settings
from annomodels.engines.source.partition import ItemSource, alike
from annomodels.engines.source.spread import Spread
from annomodels.engines.source.stacked import (
    EffectDraws,
    believed,
    correlated,
    mixed,
    truths_drawn,
    vote_patterns,
    weighed,
)
from annomodels.engines.starts import soft_counts
from annomodels.executors.choose import team
from annomodels.models.base import State
from annomodels.models.encoded import Encoded
from annomodels.models.mixtures.stack import Dependence, Stack, as_far_off, mode_of
from annomodels.models.mixtures.votes import difficulty_of, together
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    from annomodels.data.schema import ItemFields
    from annomodels.engines.source.disk import LabelsOnDisk

# maximum number of passes of a climb to the mode; change of the expected counts, relative to the
# labels, at convergence
PASSES, ARRIVED = 200, 1e-6
# standard error of a correlation of errors without evidence, and the smallest one
NO_ERROR, LEAST_ERROR = 1.0, 1e-3
# labels of a scan that are searched for copies, noise and exchangeable coders
MOST_LOOKED_AT = 2_000_000
# maximum number of items with known truth for the layer, evenly spaced if there are more
MOST_KNOWN = 100_000
# warm-up draws of the coders, which start near the mode; maximum number of draws after an early
# end, when the user waits
WARMUP, ENOUGH = 50, 1000
# maximum number of draws of all truths that one pass counts, and bytes of their counts
AT_ONCE, BYTES_AT_ONCE = 25, 16 * 2**20


def run(model: Stack, data: Annotations | LabelsOnDisk, settings: Settings) -> RawResult:
    """Climb to the mode, mix it with the votes, and draw the coders given drawn truths."""
    crew = team(settings.executor or "threads", settings.threads)
    source = source_of(model, data, settings, crew)
    seen = data if isinstance(data, Annotations) else _first_labels(source)
    copies = copied(compared(seen)).coders
    place, exchangeable = told_apart(seen)
    merged = alike(source, place, copies)
    about = Dependence(exchangeable=exchangeable, noise=seen.by_chance)

    try:
        with Spread(merged, crew) as spread:
            result = _stacked(model, spread, source, about, settings)
    finally:
        if crew is not settings.executor:
            crew.close()
    result.attrs["copies"] = [[int(j) for j in group] for group in copies]
    return result


def _first_labels(source: ItemSource) -> Coded:
    """Return the labels of the first items of a scan, for detecting copies and noise."""
    item: list[Ints] = []
    row: list[Ints] = []
    label: list[Ints] = []
    n = 0
    for partition in source.partitions:
        codes = partition.open()
        item.append(n + np.repeat(np.arange(codes.n_patterns), np.diff(codes.starts)))
        row.append(codes.row)
        label.append(codes.label)
        n += codes.n_patterns
        if sum(map(len, row)) >= MOST_LOOKED_AT:
            break
    return Coded(
        item=np.concatenate(item),
        coder=np.concatenate(row),
        label=np.concatenate(label),
        items=tuple(range(n)),
        coders=tuple(range(source.n_rows)),
        labels=tuple(range(source.n_labels)),
    )


def _stacked(
    stack: Stack, spread: Spread, source: ItemSource, about: Dependence, settings: Settings
) -> RawResult:
    clock = Clock(settings.time_limit)
    with Interrupts(True) as interrupts:
        dependence = measured(stack, spread, about, settings)
        stopped = "time limit" if clock.over else "interrupted" * interrupts.noted
        told = spread.storing(mixed, stack, dependence)
        log_known, truth = (np.concatenate(each) for each in zip(*told, strict=True))
        some = slice(None, None, max(1, -(-len(truth) // MOST_KNOWN)))
        log_known, truth = log_known[some], truth[some]
        layer = draw_layer(stack, log_known, truth, dependence, settings.seed, source.n_items)
        whole = source.finish is None
        found = spread.storing(believed, layer, source.finish, whole)
        of_items = source.gathered([each for each, *_ in found])
    stopped = stopped or "interrupted" * interrupts.noted
    # From here on P(truth) must not be lost: the caller records signals. It starts after the
    # context above, which therefore has to end first.
    settings.tell("coders", 0.0)
    if stopped:
        settings = replace(settings, draws=min(settings.draws, ENOUGH))
    result = _Coders(stack, spread, source, layer, settings).given(of_items)
    result.attrs |= {
        "engine": "gibbs",
        "seconds": clock.seconds,
        "stopped": stopped,
        "dependence": asdict(dependence),
    }
    held = {"sharpness": layer.sharpness, "unknown": layer.unknown, "tilt": layer.tilt}
    if whole:
        held["log_mode"] = np.concatenate([each for _, each, _ in found])
        held["log_mixture"] = np.concatenate([each for *_, each in found])
    elif len(truth):
        held |= {"known_mixture": log_known, "known_truth": truth}
    return replace(result, stack=held, **of_items)


def measured(stack: Stack, spread: Spread, about: Dependence, settings: Settings) -> Dependence:
    """Climb to the mode, estimate the correlation of errors, and climb with weights."""
    from annomodels.kernels.mixtures.stacked import PAIR

    # the blocks store log P(truth) of the last climb
    rows, _ = climbed(spread, 0.0, about.exchangeable, settings, "starting")
    right = np.ascontiguousarray(np.diagonal(rows, axis1=1, axis2=2))
    (sums,) = spread.sum(correlated, right)
    products, deviations, variance = (float(x) / PAIR for x in sums)
    value, error = stack.correlation, NO_ERROR
    if deviations > 0:
        value = products / deviations
        error = float(np.clip(np.sqrt(variance) / deviations, LEAST_ERROR, NO_ERROR))
    correlation = stack.believed_correlation(value, error)
    if about.exchangeable:
        per_item = spread.source.n_annotations / spread.source.n_items
        correlation = max(correlation, stack.least_correlation(per_item))
    weight = min(correlation, stack.most_weighed)
    _, sizes = climbed(spread, weight, about.exchangeable, settings, "fitting")
    # the prevalence of exchangeable coders is uniform, as at the mode
    prevalence = () if about.exchangeable else (sizes + 1.0) / (sizes.sum() + len(sizes))
    difficulty = difficulty_of(*together(spread.each(vote_patterns)))
    return replace(
        about,
        correlation=correlation,
        measured=value,
        error=error,
        prevalence=tuple(float(share) for share in prevalence),
        **asdict(difficulty),
    )


def climbed(
    spread: Spread, correlation: float, exchangeable: bool, settings: Settings, stage: str
) -> tuple[Floats, Floats]:
    """Climb from the votes to the mode; return rows [coder, truth, label] and expected sizes."""
    from annomodels.kernels.mixtures.stacked import UNIT

    source = spread.source
    k, before = source.n_labels, np.zeros(0)
    log_rows, log_prevalence = np.zeros((0, k)), np.zeros(k)
    rows, sizes = np.zeros((source.n_rows, k, k)), np.zeros(k)
    for step in range(PASSES):
        settings.tell(stage, step / PASSES)
        given = log_rows, log_prevalence, correlation
        parts = spread.sum(weighed, *given)
        counts, sizes = (each / UNIT for each in parts)
        # counts are [coder * labels + label, truth]
        by_truth = counts.reshape(-1, k, k).transpose(0, 2, 1)
        rows, prevalence = mode_of(by_truth, sizes, exchangeable)
        log_rows = np.ascontiguousarray(np.log(rows).transpose(0, 2, 1).reshape(-1, k))
        log_prevalence = np.log(prevalence)
        if step and np.abs(counts - before).sum() <= ARRIVED * counts.sum():
            break
        before = counts
    if not spread.here:  # what a sum stores is lost there
        spread.storing(weighed, *given)
    return rows, sizes


# -- coders given truths from the stack ---------------------------------------------------------


class _Coders:
    """Draws of prevalence, coders and population, each given one draw of all truths."""

    def __init__(
        self,
        stack: Stack,
        spread: Spread,
        source: ItemSource,
        layer: EffectDraws,
        settings: Settings,
    ) -> None:
        self.stack, self.spread, self.source = stack, spread, source
        self.layer, self.settings = layer, settings
        n_rows, k = source.n_rows, source.n_labels
        size = source.n_annotations, n_rows, k
        most = math.ceil(stack.share_of_draws(*size) * settings.draws)
        self.draws, self.single = room_for(n_rows * k * k, replace(settings, draws=most))
        self.at_once = max(1, min(AT_ONCE, BYTES_AT_ONCE // (8 * n_rows * k * k)))

    def given(self, of_items: ItemFields) -> RawResult:
        """Draw prevalence and coders; `of_items` are the item fields of the stack."""
        settings, source = self.settings, self.source
        sure, n_open = np.zeros((2, source.n_rows), dtype=np.int64)

        def parts() -> Iterator[Encoded]:
            for partition in source.partitions:
                codes = partition.open()
                right, unsure = of_known(codes)
                sure[:] += right
                n_open[:] += unsure
                yield codes

        p = source.believed(of_items)
        begin = self.stack.start(*soft_counts(parts, lambda _: next(p)))
        keys = chain_keys(settings)
        with ThreadPoolExecutor(settings.workers) as pool:
            done = list(pool.map(lambda n: self._sampled(n, keys[n], begin), range(len(keys))))
        gaps = np.zeros((len(keys), len(keys)))
        attrs: dict[str, object] = {"thin": 1, "warmup": settings.warmup}
        kept = [each for each, *_ in done]
        add_priors(self.stack, kept)
        result = collect_parameters(self.stack, kept, source.volume, gaps, attrs)
        result.stats["wrong"] = np.stack([wrong for _, wrong, _ in done]).astype(float)
        right = np.stack([right for *_, right in done])
        right = as_far_off(right, sure, n_open, self.stack.far_off, settings.seed)
        return replace(result, groups={"coders": {"right": (("chain", "draw", "coder"), right)}})

    def _sampled(self, number: int, key: int, begin: State) -> tuple[DrawStore, Ints, Ints]:
        """Draw truths given the layer and coders given truths, in turn."""
        # Returns the stored draws and, per draw, the number of wrong gold labels and the number of
        # right labels of each coder.
        from annomodels.kernels.rows import draw_parameters

        chain = Chain(self.stack, self.source.volume, deepcopy(begin), key, False)
        kept, state = chain.room(self.draws, self.single), chain.state
        # the source of the parameters changes in place
        prior, logs = chain.coders.priors(state), (state.log_prevalence, state.log_confusion)
        wrong = np.zeros(self.draws, dtype=np.int64)
        right: Ints = np.zeros((self.draws, self.source.n_rows), dtype=np.int32)
        for n, (counts, sizes, missed) in enumerate(self._truths(number, key)):
            own = counts.reshape(state.log_confusion.shape)
            draw_parameters(own, sizes, *prior, chain.key, n, *logs)
            if n >= WARMUP:
                wrong[n - WARMUP] = missed
                right[n - WARMUP] = own.trace(axis1=1, axis2=2)
                likelihood = float((own * state.log_confusion).sum())
                likelihood += float(sizes @ state.log_prevalence)
                kept.add(chain.coders.kept_values(state), likelihood, likelihood, False)
        return kept, wrong, right

    def _truths(self, number: int, key: int) -> Iterator[tuple[Ints, Ints, int]]:
        """Yield draws of all truths: counts [cell, truth], class sizes and wrong labels."""
        layers = np.random.default_rng([self.settings.seed, 3, number]).permutation(
            np.resize(np.arange(len(self.layer.unknown)), WARMUP + self.draws)
        )
        for first in range(0, len(layers), self.at_once):
            some = self.layer.part(layers[first : first + self.at_once])
            found = self.spread.sum(truths_drawn, *some, key, first)
            yield from zip(*found, strict=True)


def of_known(codes: Encoded) -> tuple[Ints, Ints]:
    """Count, by coder, right labels of items with known truth, and labels of all other items."""
    item = np.repeat(np.arange(codes.n_patterns), np.diff(codes.starts))
    gold = codes.gold[item]
    right, unsure = (codes.row[chosen] for chosen in (gold == codes.label, gold < 0))
    n = codes.n_rows
    return np.bincount(right, minlength=n), np.bincount(unsure, minlength=n)
