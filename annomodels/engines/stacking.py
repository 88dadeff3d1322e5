"""P(truth) of a stack: members fitted, weighted and combined, and coders given the truth."""

# The confidence of the stack is learned from items with known labels. Items are passed over where
# they lie, in memory, on disk or on a cluster; memory is the case of one part.

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from annomodels.data.alike import taken_together
from annomodels.data.annotations import Annotations
from annomodels.data.coded import Coded
from annomodels.data.copying import compared, copied
from annomodels.data.schema import RawResult
from annomodels.engines.chain import Chain
from annomodels.engines.collect import collect_parameters
from annomodels.engines.gibbs import source_of
from annomodels.engines.kept import DrawStore, add_priors
from annomodels.engines.layer import draw_layer
from annomodels.engines.settings import Clock, Interrupts, Settings
from annomodels.engines.source.partition import Source
from annomodels.engines.source.spread import Spread
from annomodels.engines.source.stacked import (
    Layer,
    alike,
    believed,
    mixed,
    remembered,
    truths_drawn,
)
from annomodels.engines.stages import chain_keys, room_for
from annomodels.engines.starts import soft_counts
from annomodels.engines.state_rounds import repeated, sampled
from annomodels.errors import EngineError
from annomodels.executors.choose import team
from annomodels.models.base import State
from annomodels.models.encoded import Encoded
from annomodels.models.mixtures.stack import Stack, as_far_off, stacking_weights
from annomodels.models.mixtures.state_model import StateModel
from annomodels.progress import Progress
from annomodels.types import AnyArray, Floats, Ints

if TYPE_CHECKING:
    from annomodels.data.schema import ItemFields
    from annomodels.engines.source.disk import LabelsOnDisk

# iterations of members, as a share of what is asked for
MEMBERS = 0.4
# share of their draws that is left at the least where labels are very many; the warm-up is whole
LEAST_OF_MEMBERS = 0.5
# labels up to which all are left out and predicted; of more, those of items that are evenly spread
FORETOLD = 500_000
# labels of a scan in which copies and noise are looked for
MOST_LOOKED_AT = 2_000_000
# items with known labels that the layer is learned from, evenly spread where there are more
MOST_KNOWN = 100_000
# bytes of the few whole draws of a member, of all its chains
MOST_OF_ALL = 128 * 2**20
# draws of the coders before those that are kept: they begin near the mode; and draws to make at the
# most where somebody has ended the run and waits
WARMUP, ENOUGH = 50, 1000
# draws of all truths that are counted in one pass: so many, fewer where counts take more bytes
AT_ONCE, BYTES_AT_ONCE = 25, 16 * 2**20


def run(model: Stack, data: Annotations | LabelsOnDisk, settings: Settings) -> RawResult:
    """Fit the members, combine them, and draw the coders given truths from the stack."""
    # a run that was stopped or interrupted stacks the members that it has
    crew = team(settings.executor or "threads", settings.threads)
    source = source_of(model, data, settings, crew)
    # coders of one label cost as much as others and tell nothing of themselves
    place = taken_together(data)
    seen = data if isinstance(data, Annotations) else _first_labels(source)
    copies = copied(compared(seen)).coders
    together = alike(source, place, copies)
    noise = seen.by_chance

    def run_(spread: Spread) -> RawResult:
        result = _stacked(model, spread, source, place, noise, settings)
        result.attrs["copies"] = [[int(j) for j in group] for group in copies]
        return result

    return repeated(run_, together, crew, settings)


def _first_labels(source: Source) -> Coded:
    """Return the labels of the first items of a scan, to look for copies and noise."""
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
    model: Stack, spread: Spread, source: Source, place: Ints, noise: bool, settings: Settings
) -> RawResult:
    clock = Clock(settings.time_limit)
    parts = members(model, spread, settings, clock)
    had = slice(len(parts))
    stack = replace(
        model,
        members=model.members[had],
        log_prior_weight=model.log_prior_weight[had],
        powers=model.powers[had],
        apart=model.apart[had],
    )
    densities = np.stack([part.densities for part in parts])
    held_out_weight, dependence = (
        stacking_weights(densities),
        stack.dependence(densities, source.n_labels),
    )
    dependence = replace(dependence, noise=noise)
    weights = stack.weights(held_out_weight)
    told = spread.each(mixed, stack, weights)
    log_known, truth = (np.concatenate(each) for each in zip(*told, strict=True))
    some = slice(None, None, max(1, -(-len(truth) // MOST_KNOWN)))
    log_known, truth = log_known[some], truth[some]
    layer = draw_layer(stack, log_known, truth, dependence, settings.seed, source.n_items)
    whole = source.finish is None
    found = spread.each(believed, stack, weights, layer, source.finish, whole)
    of_items = source.gathered([each for each, *_ in found])
    settings.tell("coders", 0.0)
    stopped = next((part.attrs["stopped"] for part in parts if part.attrs.get("stopped")), "")
    if stopped:
        settings = replace(settings, draws=min(settings.draws, ENOUGH))
    coders = _Coders(stack, spread, source, layer, settings)
    with Interrupts(True) as interrupts:  # the members are there, and are not thrown away
        result = coders.given(of_items)
    stopped = stopped or "interrupted" * interrupts.noted
    names = stack.names[1:]
    result.attrs |= {
        "engine": "gibbs",
        "seconds": clock.seconds,
        "stopped": stopped,
        "dependence": asdict(dependence),
        "members": {
            name: {key: float(part.attrs[key]) for key in ("rhat_max", "ess_min")}
            for name, part in zip(names, parts, strict=True)
        },
        "left_out": list(model.names[1 + len(parts) :]),
    }
    held = {
        "weight": weights,
        "held_out_weight": held_out_weight,
        "sharpness": layer.sharpness,
        "unknown": layer.unknown,
        "tilt": layer.tilt,
    }
    if whole:
        said = np.concatenate([each for _, each, _ in found], axis=1)
        held["member"] = np.log(np.maximum(said, 1e-300))
        held["log_mixture"] = np.concatenate([each for *_, each in found])
    elif len(truth):
        held |= {"known_mixture": log_known, "known_truth": truth}
    of_members = {
        f"member_{n}": _whole(stack, n, part, place) for n, part in enumerate(parts) if whole
    }
    return replace(result, groups=result.groups | of_members, stack=held, **of_items)


def _whole(
    stack: Stack, n: int, part: Member, place: Ints
) -> dict[str, tuple[tuple[str, ...], AnyArray]]:
    """Return the few whole draws of a member with their dimensions."""
    # `place` is that of each coder among those whom the members were fitted to
    dims = stack.members[n].dims(part.n_labels)
    found = {name: (("few", *dims[name]), values) for name, values in part.few.items()}
    by_coder = {name: own.index("coder") for name, (own, _) in found.items() if "coder" in own}
    each = sum(found[name][1].nbytes / found[name][1].shape[at] for name, at in by_coder.items())
    few = len(next(iter(part.few.values()), ()))
    if each * len(place) > MOST_OF_ALL:
        few = max(1, int(few * MOST_OF_ALL / (each * len(place))))
    for name, (own, values) in found.items():
        chosen = values[np.arange(few) * len(values) // few]
        at = by_coder.get(name)
        found[name] = own, chosen if at is None else np.take(chosen, place, axis=at)
    return found


@dataclass(frozen=True, eq=False)
class Member:
    """Fitted member: densities of held-out labels, a few draws, and the run."""

    densities: Floats  # log density of each label that was left out, shape [label]
    few: dict[str, AnyArray]  # a few whole draws by variable, [draw, ...]
    attrs: dict[str, Any]  # what is said of its run
    n_labels: int  # size of the label set


def members(model: Stack, spread: Spread, settings: Settings, clock: Clock) -> list[Member]:
    """Fit the members, up to one that is stopped early."""
    source = spread.source
    seeds = np.random.SeedSequence([settings.seed, 1]).generate_state(len(model.members))
    size = source.n_annotations, source.n_rows, source.n_labels
    share = MEMBERS * model.share_of_iterations(*size)
    of_draws = share * max(LEAST_OF_MEMBERS, model.share_of_draws(*size))
    every = max(1, -(-source.n_annotations // FORETOLD))
    parts: list[Member] = []
    for n, member in enumerate(model.members):
        if parts and (parts[-1].attrs.get("stopped") or clock.over):
            break
        left = None if clock.limit is None else max(clock.limit - clock.seconds, 1e-3)
        own = replace(
            settings,
            # modes of members are averaged over, not left: longer chains would not mix either
            warmup=math.ceil(round(share * settings.warmup, 6)),
            draws=math.ceil(round(of_draws * settings.draws, 6)),
            extend=False,
            rows=False,
            seed=int(seeds[n]),
            time_limit=left,
            progress=_named(settings, model.names[1 + n]),
        )
        try:
            done = sampled(cast("StateModel", member), spread, own, model.names[1 + n], every)
            kept = done.result[0]
        except KeyboardInterrupt:  # before its first draw
            if not parts:
                raise
            parts[-1].attrs["stopped"] = "interrupted"
            break
        densities, gaps = done.collected(remembered, n)
        found = done.with_few(
            collect_parameters(member, kept, source.volume, gaps / source.n_items, done.attrs)
        )
        if not sum(map(len, densities)):
            raise EngineError(
                f"A stack weighs its members by labels that are left out, and {member.full_name} "
                "does not say how probable these are."
            )
        # what coders would say next is asked of labels in memory
        few = found.few if source.finish is None else {}
        parts.append(Member(np.concatenate(densities), few, found.attrs, source.n_labels))
    return parts


def _named(settings: Settings, name: str) -> Progress:
    """Progress that names the member."""
    tell = settings.progress
    return lambda stage, share, message: tell(stage, share, f"{name} {message}".strip())


# -- coders given truths from the stack ---------------------------------------------------------


class _Coders:
    """Draws of prevalence, coders and population, each given one draw of all truths."""

    def __init__(
        self, stack: Stack, spread: Spread, source: Source, layer: Layer, settings: Settings
    ) -> None:
        self.stack, self.spread, self.source = stack, spread, source
        self.layer, self.settings = layer, settings
        n_rows, k = source.n_rows, source.n_labels
        size = source.n_annotations, n_rows, k
        most = math.ceil(stack.share_of_draws(*size) * settings.draws)
        self.draws, self.single = room_for(n_rows, k, replace(settings, draws=most))
        self.at_once = max(1, min(AT_ONCE, BYTES_AT_ONCE // (8 * n_rows * k * k)))

    def given(self, of_items: ItemFields) -> RawResult:
        """Draw them; `of_items` is what the stack says of the items."""
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
        # Gives what is kept, and of each draw the number of wrong gold labels and that of the right
        # labels of each coder.
        from annomodels.kernels.rows import draw_parameters

        chain = Chain(self.stack, self.source.volume, deepcopy(begin), key, False)
        kept, state = chain.room(self.draws, self.single), chain.state
        kept.make_room(chain.model.pymc_start(state))
        # what parameters come from changes in place
        prior, logs = chain.model.priors(state), (state.log_prevalence, state.log_confusion)
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
                kept.add(chain.model.pymc_start(state), likelihood, likelihood, False)
        return kept, wrong, right

    def _truths(self, number: int, key: int) -> Iterator[tuple[Ints, Ints, int]]:
        """Draw all truths again and again: counts [cell, truth], class sizes and wrong labels."""
        layers = np.random.default_rng([self.settings.seed, 3, number]).permutation(
            np.resize(np.arange(len(self.layer.unknown)), WARMUP + self.draws)
        )
        for first in range(0, len(layers), self.at_once):
            some = self.layer.part(layers[first : first + self.at_once])
            found = self.spread.sum(truths_drawn, *some, key, first, counted=True)
            yield from zip(*found, strict=True)


def of_known(codes: Encoded) -> tuple[Ints, Ints]:
    """Count right labels of items with known labels, and labels of all others, by coder."""
    item = np.repeat(np.arange(codes.n_patterns), np.diff(codes.starts))
    gold = codes.gold[item]
    right, unsure = (codes.row[chosen] for chosen in (gold == codes.label, gold < 0))
    n = codes.n_rows
    return np.bincount(right, minlength=n), np.bincount(unsure, minlength=n)
