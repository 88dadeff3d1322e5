"""Labels to ask for next: which items, by which coders, and when to stop."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations_with_replacement
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import gammaln, xlogy

from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import columns
from annomodels.data.names import label_text, places_of
from annomodels.data.summary import Summary
from annomodels.errors import NotApplicable, Option
from annomodels.limits import NEXT_CODERS, NEXT_LABELS, NEXT_SHARE, NEXT_WORTH
from annomodels.summaries.coders import coders as coders_of
from annomodels.summaries.coders import flagged
from annomodels.summaries.draws import (
    SMALLEST,
    Draws,
    Stacked,
    evenly,
    only,
    stacked,
    state_probabilities,
    thinned,
)
from annomodels.summaries.gold import OVERCONFIDENT
from annomodels.summaries.items import settled, state_columns, to_decide
from annomodels.summaries.notes import say
from annomodels.summaries.skills import entropy_bits, signal
from annomodels.summaries.trust.known_truth import contradicted, known_truth_finding
from annomodels.types import Bools, Floats, Ints

DRAWS = 200
STOP, PER_ITEM = 0.01, 5
WORDS = {"gold": "wrong gold labels", "bits": "bits of uncertainty about the truth"}


COLUMNS = columns("item coder gain label probability n")
WHOM = columns(
    "coder kind advice", ALL["asked"].called("Labels to ask for"), "bits",
    ALL["n"].called("Labels so far"),
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class NextLabels(Summary):
    """Labels to ask for, by decreasing expected gain.

    Parameters
    ----------
    title, table, draws, notes
        As in every summary; the table has one row per label to ask for.
    coders
        One row per coder: bits per label, labels to ask for, advice.
    before, after
        Expected wrong gold labels (or bits of uncertainty) now, and with these labels. The real
        gain is usually smaller, because coders share errors. So use `after` to rank requests. It
        has no interval; fit again after the labels, or audit. NaN if known truth contradicts the
        probabilities: then no gain is known, and no label is asked for.
    finished
        True if the table contains all labels that gain enough, so more would not pay.
    """

    coders: pd.DataFrame = field(kw_only=True)
    before: float = field(kw_only=True)
    after: float = field(kw_only=True)
    finished: bool = field(kw_only=True)


def next_labels(
    tree: xr.DataTree,
    data: Annotations,
    quality: Summary | None = None,
    undecided: Bools | None = None,
    *,
    budget: int = NEXT_LABELS,
    by: By = "gold",
    coders: Sequence[Hashable] | None = None,
    per_item: int = PER_ITEM,
    per_coder: int | None = None,
    stop: float = STOP,
    target: float | None = None,
) -> NextLabels:
    """Choose the labels to ask for next by their expected gain.

    The gain of m further labels of an item is the expected number of wrong gold labels that they
    remove (or the bits of uncertainty about the truth), averaged over all possible outcomes and the
    posterior of the parameters.
    Labels go to the items with the largest gain per label, given the labels already planned.
    Each label is then assigned to the coder whose label is most informative about this item, who
    has not labeled it and still has capacity.

    Contested items get no labels, and settled items only with ``stop=0``, see
    :func:`annomodels.Fit.items`.

    A single label often cannot change a gold label, so its gain is zero. So portions of up to
    `per_item` labels are compared by gain per label (Frazier & Powell 2010,
    doi:10.1287/deca.1100.0190). The model assumes that labels are independent given the truth and
    the parameters.
    """
    _check(budget, by, per_item, per_coder, stop)
    p: Floats = tree["truth"].to_dataset()["p_truth"].values
    draws = thinned(tree, data, DRAWS)
    quality = coders_of(tree, data, target) if quality is None else quality
    bits = quality.draws["bits"].values.mean(axis=0)
    worth = bits >= NEXT_WORTH * (bits @ data.per_coder) / data.per_coder.sum()
    willing = worth & ~flagged(quality.table)
    pool = make_pool(data, bits, willing, budget, coders, per_coder, per_item)
    spread = 1 - p.max(axis=1) if by == "gold" else entropy_bits(p)
    if undecided is None:
        undecided = to_decide(data, state_columns(tree, data).get("p_ambiguous"))[1]
    wanted = (data.known < 0) & ~undecided
    if stop:
        wanted &= ~settled(p, data, signal(tree, data))
    # gains cannot exceed the present uncertainty, so most items of a large data set are skipped
    items = np.flatnonzero(wanted & (spread >= max(stop, SMALLEST)))
    most = most_labels(data.n_labels, min(per_item, budget))
    gained = np.empty((len(items), most))
    typical = _typical(draws, data, pool)
    stack = stacked(tree)
    believe = partial(beliefs, draws, data) if stack is None else stack_beliefs(stack, len(draws))
    for some, state in believe(items):
        gained[some] = gains(draws, state, typical, most, by)
    room = np.full(len(items), most) if pool.new else np.minimum(most, _left(data, items, pool))
    portions = steps(gained, room)
    taken = allocate(portions, budget if pool.new else min(budget, int(pool.limit.sum())), stop)
    rest = np.setdiff1d(np.arange(len(portions.item)), taken)
    requests = _requests(draws, believe, data, pool, items, portions, taken)
    table = _table(data, p, requests)
    before = float(spread[data.known < 0].sum())
    after = before - float(table["gain"].sum())
    asked = np.bincount([r.coder for r in requests if r.coder >= 0], minlength=data.n_coders)
    found = NextLabels(
        "Labels to ask for next",
        table,
        _draws(data, items, gained, portions.item[taken]),
        (),
        COLUMNS,
        coders=_whom(quality.table, asked),
        before=before,
        after=after,
        finished=not (portions.gain[rest] >= stop).any(),
    )
    lost = int(portions.size[taken].sum()) - len(table)
    notes = sentences(found, WORDS[by], stop, lost, int(undecided.sum()))
    if stack is None:
        notes[0] += f" {OVERCONFIDENT}"
    if len(table) and tree.attrs.get("engine") == "em":
        notes.append(say("next_em"))
    found = replace(found, notes=tuple(notes))
    return withheld(found) if contradicted(known_truth_finding(tree, data)) else found


def withheld(found: NextLabels) -> NextLabels:
    """Ask for no label if known truth contradicts the probabilities, from which gains follow."""
    return replace(
        found,
        table=found.table.iloc[:0],
        draws=found.draws.isel(item=slice(0)),
        coders=found.coders.assign(asked=0),
        before=float("nan"),
        after=float("nan"),
        finished=False,
        notes=(say("withheld"),),
    )


class LabelRequest(NamedTuple):
    """One label to ask for; coder -1 is a new coder with NaN bits."""

    item: int
    coder: int
    gain: float
    bits: float


def _requests(
    draws: Draws,
    believe: Beliefs,
    data: Annotations,
    pool: Pool,
    items: Ints,
    portions: Steps,
    taken: Ints,
) -> list[LabelRequest]:
    """Assign a coder to every label, by decreasing gain."""
    order, first = np.unique(portions.item[taken], return_index=True)
    order = order[np.argsort(first)]
    wanted = np.bincount(portions.item[taken], portions.size[taken], len(items))[order]
    here = items[order]
    told = np.empty((len(here), len(pool.coders)))
    for some, state in believe(here):
        told[some] = coder_bits(draws, state, pool.coders)
    limit, most = pool.limit, None
    if np.count_nonzero(data.per_coder) >= NEXT_CODERS:
        most = max(1, int(NEXT_SHARE * wanted.sum()))
        limit = np.minimum(limit, most) if pool.new else limit
    chosen = choose_coders(
        wanted.astype(np.int64), told, has_labeled(data, here, pool.coders), limit, most
    )
    row = {int(item): number for number, item in enumerate(order)}
    waiting = [iter(columns) for columns in chosen]
    out = []
    for t in taken:
        number, gain = row[int(portions.item[t])], float(portions.gain[t])
        item = int(items[portions.item[t]])
        for _ in range(int(portions.size[t])):
            column = next(waiting[number], None)
            if column is not None:
                coder = int(pool.coders[column])
                out.append(LabelRequest(item, coder, gain, float(told[number, column])))
            elif pool.new:
                out.append(LabelRequest(item, -1, gain, float("nan")))
    return out


def _whom(table: pd.DataFrame, asked: Ints) -> pd.DataFrame:
    """Tabulate advice per coder, the most informative coder first."""
    columns = ["coder", "n", "bits", "bits_low", "bits_high", "share_right", "kind"]
    out = table[columns].assign(asked=asked, advice=table["advice"])
    return out.sort_values("bits", ascending=False, kind="stable", ignore_index=True)


def _typical(draws: Draws, data: Annotations, pool: Pool) -> Floats:
    """Compute P(label | state) of a random coder of the pool, [sample, state, label]."""
    weight = data.per_coder.astype(np.float64)
    if pool.weight.sum() > 0:
        weight = np.zeros(data.n_coders)
        weight[pool.coders] = pool.weight
    return np.asarray(np.tensordot(weight / weight.sum(), draws.emission, axes=(0, 1)))


def _left(data: Annotations, items: Ints, pool: Pool) -> Ints:
    """Count the coders of the pool who have not labeled each item."""
    inside = np.isin(np.arange(data.n_coders), pool.coders)
    rows = np.unique(np.stack([data.item, data.coder])[:, inside[data.coder]], axis=1)
    done = np.bincount(rows[0], minlength=data.n_items)
    return np.asarray(len(pool.coders) - done[items])


def _table(data: Annotations, p: Floats, requests: list[LabelRequest]) -> pd.DataFrame:
    item = np.array([request.item for request in requests], dtype=np.int64)
    best, gain = p.argmax(axis=1), np.array([request.gain for request in requests])
    return pd.DataFrame(
        {
            "item": pd.Series([data.items[i] for i in item], dtype=object),
            "coder": pd.Series(
                [data.coders[r.coder] if r.coder >= 0 else "" for r in requests], dtype=object
            ),
            "gain": gain,
            "n": np.diff(data.starts)[item],
            "label": pd.Series([data.labels[best[i]] for i in item], dtype=object),
            "probability": p[item, best[item]],
        }
    )


def _draws(data: Annotations, items: Ints, gained: Floats, chosen: Ints) -> xr.Dataset:
    """Return the gain of 1, 2, ... labels for every item in the table."""
    some = np.unique(chosen)
    return xr.Dataset(
        {"gain": (("item", "labels"), gained[some])},
        coords={
            "item": [label_text(data.items[i]) for i in items[some]],
            "labels": np.arange(1, gained.shape[1] + 1),
        },
    )


def _check(budget: int, by: str, per_item: int, per_coder: int | None, stop: float) -> None:
    if by not in get_args(By):
        raise NotApplicable(f"{Option('by', by)} is unknown. Use one of {', '.join(get_args(By))}.")
    smallest = min(budget, per_item, 1 if per_coder is None else per_coder)
    if smallest < 1:
        raise NotApplicable("Give a budget, per_item and per_coder of 1 label or more.")
    if not 0 <= stop < np.inf:
        raise NotApplicable(f"stop={stop:g}: give a gain per label of 0 or more.")


def sentences(found: NextLabels, word: str, stop: float, lost: int, undecided: int) -> list[str]:
    """Describe the expected gain, when to stop, and the labels left out."""
    table, n = found.table, len(found.table)
    open_item = " of an item that is not settled" if stop else ""
    if not n:
        return [say("stop_here", of=open_item, stop=stop, word=word, before=found.before)]
    least = f"removes {stop:g} {word} or more" if stop else f"removes any {word}"
    words = {
        "these": "This label" if n == 1 else f"These {n:,} labels",
        "items": table["item"].nunique(),
        "each": (found.before - found.after) / n,
    }
    ends = {"before": found.before, "after": found.after}
    notes: list[str] = [
        say("these_labels", n=n, word=word, **ends, **words),
        say("finished", of=open_item, least=least)
        if found.finished
        else say("more_pays", gain=table["gain"].iloc[-1], word=word),
    ]
    left_out = {"unnamed": int((table["coder"] == "").sum()), "lost": lost, "contested": undecided}
    return [*notes, *(say(code, n=number) for code, number in left_out.items() if number)]


# -- expected utility of further labels of an item -------------------------------------------------
# Let k be the truth of an item, y the labels it may still get and s a draw of the parameters. The
# joint probability given all labels so far is the mean over the draws
#
#     P(k, y) = mean_s sum_z P(z | labels, s) T[s, z, k] prod_n E[s, coder_n, z, y_n],
#
# where z is the state of the item (the truth itself in models with confusion matrices), T is
# P(truth | state) and E is P(label | state) of a coder. The draws are averaged first, so
# uncertainty about the coders lowers the value of a label.

By = Literal["gold", "bits"]
Beliefs = Callable[[Ints], Iterator[tuple[slice, Floats]]]

MOST_OUTCOMES = 2000
BUDGET = 128 * 2**20


def beliefs(
    draws: Draws, data: Annotations, items: Ints, budget: int = BUDGET
) -> Iterator[tuple[slice, Floats]]:
    """Yield P(state | labels of the item, draw) of some items in blocks."""
    n_samples, n_states = draws.share.shape
    size = max(1, budget // (8 * n_samples * n_states))
    for first in range(0, len(items), size):
        block = only(data, items[first : first + size])
        out = np.empty((block.n_items, n_samples, n_states))
        for step, p in state_probabilities(draws, block):
            out[:, step] = p
        yield slice(first, first + block.n_items), out


def stack_beliefs(stack: Stacked, count: int) -> Beliefs:
    """Return the counterpart of :func:`beliefs` for a stack."""
    some = stack.at(evenly(len(stack), count))

    def believe(items: Ints) -> Iterator[tuple[slice, Floats]]:
        size = max(1, BUDGET // (8 * count * some.log_q.shape[1]))
        for part, p in some.parts(items, size):
            yield (
                slice(part.start, part.start + p.shape[1]),
                np.ascontiguousarray(p.transpose(1, 0, 2)),
            )

    return believe


def outcomes(n_labels: int, m: int) -> tuple[Ints, Floats]:
    """Return all possible counts of m labels, [outcome, label], and log(m! / prod counts!)."""
    chosen = np.array(list(combinations_with_replacement(range(n_labels), m)))
    counts = (chosen[:, :, None] == np.arange(n_labels)).sum(axis=1)
    return counts, gammaln(m + 1) - gammaln(counts + 1).sum(axis=1)


def most_labels(n_labels: int, wanted: int) -> int:
    """Limit the number of labels per item so that all outcomes can be enumerated."""
    ways = 1.0
    for m in range(1, wanted + 1):
        ways *= (n_labels + m - 1) / m
        if ways > MOST_OUTCOMES:
            return max(m - 1, 1)
    return wanted


def gains(draws: Draws, state: Floats, typical: Floats, most: int, by: By = "gold") -> Floats:
    """Compute the expected gain from 1, 2, ..., `most` further labels, [item, number]."""
    # "gold": sum_y max_k P(k, y) - max_k P(k), zero if no outcome changes the label (Howard
    # 1966, doi:10.1109/TSSC.1966.300074). "bits": mutual information of the truth and the labels.
    log_typical = np.log(np.maximum(typical, SMALLEST))
    n_samples = len(log_typical)
    now = np.stack([joint.sum(axis=1) for _, joint in draws.parts(state)], axis=1) / n_samples
    out = np.empty((len(state), most))
    for m in range(1, most + 1):
        counts, log_ways = outcomes(log_typical.shape[2], m)
        # [sample, state, outcome]
        seen = np.exp(log_typical @ counts.T + log_ways) / n_samples
        joint = np.stack(
            [p @ seen[:, some].reshape(-1, len(counts)) for some, p in draws.parts(state)], axis=2
        )
        out[:, m - 1] = _worth(joint, now, by)
    return out


def coder_bits(draws: Draws, state: Floats, coders: Ints) -> Floats:
    """Compute the mutual information of truth and a coder's next label in bits, [item, coder]."""
    n_samples, _, _, n_labels = draws.emission.shape
    some_coders = draws.emission[:, coders]
    step = max(1, BUDGET // (16 * draws.n_truths * n_labels * max(len(coders), 1)))
    out = np.empty((len(state), len(coders)))
    for first in range(0, len(state), step):
        block = state[first : first + step]
        joint = np.empty((len(block), len(coders), n_labels, draws.n_truths))
        now = np.empty((len(block), draws.n_truths))
        for k, (some, p) in enumerate(draws.parts(block)):
            says = some_coders[:, :, some].transpose(0, 2, 1, 3).reshape(p.shape[1], -1)
            joint[..., k] = (p @ says).reshape(len(block), len(coders), n_labels) / n_samples
            now[:, k] = p.sum(axis=1) / n_samples
        out[first : first + step] = _worth(joint, now[:, None], "bits")
    return out


def _worth(joint: Floats, now: Floats, by: By) -> Floats:
    """Compute the gain from P(truth, outcome) [..., outcome, truth] over P(truth) [..., truth]."""
    if by == "gold":
        gained = joint.max(axis=-1).sum(axis=-1) - now.max(axis=-1)
    else:
        after = xlogy(joint, joint).sum(axis=(-2, -1))
        outcome = joint.sum(axis=-1)
        gained = after - xlogy(outcome, outcome).sum(axis=-1) - xlogy(now, now).sum(axis=-1)
        gained /= np.log(2)
    # rounding errors can be negative, about -1e-17
    return np.asarray(np.where(gained > 1e-12, gained, 0.0))


# -- allocation of labels to items and coders --------------------------------------------------


@dataclass(frozen=True, eq=False)
class Steps:
    """Portions of labels, by decreasing gain per label."""

    item: Ints
    size: Ints
    gain: Floats


def steps(gains: Floats, room: Ints) -> Steps:
    """Cut the labels of each item into portions of decreasing gain per label."""
    # Portions are the edges of the concave hull: if 1 label gains 0 and 3 labels gain 0.3, the
    # portion is 3 labels.
    n_items, most = gains.shape
    total = np.concatenate([np.zeros((n_items, 1)), gains], axis=1)
    number = np.arange(most + 1)
    here = np.zeros(n_items, dtype=np.int64)
    found: list[tuple[Ints, Ints, Floats]] = []
    for _ in range(most):
        ahead = number[None] - here[:, None]
        possible = (ahead > 0) & (number[None] <= room[:, None])
        slope = (total - total[np.arange(n_items), here][:, None]) / np.maximum(ahead, 1)
        slope = np.where(possible, slope.round(12), -np.inf)  # rounding errors must not break ties
        best = slope.argmax(axis=1)
        gain = slope[np.arange(n_items), best]
        good = np.flatnonzero(gain > 0)
        if not len(good):
            break
        found.append((good, best[good] - here[good], gain[good]))
        here = np.where(gain > 0, best, most)
    if not found:
        empty = np.empty(0, dtype=np.int64)
        return Steps(empty, empty, np.empty(0))
    item, size, gain = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(-gain, kind="stable")
    return Steps(item[order], size[order], gain[order])


def allocate(portions: Steps, budget: int, stop: float) -> Ints:
    """Choose portions by decreasing gain while they fit the budget."""
    left = budget
    taken = []
    closed: set[int] = set()
    for number, (item, size, gain) in enumerate(
        zip(portions.item.tolist(), portions.size.tolist(), portions.gain.tolist(), strict=True)
    ):
        if left == 0 or gain < stop:
            break
        if item in closed:
            continue
        if size > left:
            closed.add(item)
            continue
        taken.append(number)
        left -= size
    return np.array(taken, dtype=np.int64)


def has_labeled(data: Annotations, items: Ints, coders: Ints) -> Bools:
    """Flag items that a coder has already labeled, shape [item, coder]."""
    row = np.full(data.n_items, -1)
    row[items] = np.arange(len(items))
    column = np.full(data.n_coders, -1)
    column[coders] = np.arange(len(coders))
    at, of = row[data.item], column[data.coder]
    inside = (at >= 0) & (of >= 0)
    out = np.zeros((len(items), len(coders)), dtype=bool)
    out[at[inside], of[inside]] = True
    return out


def choose_coders(
    wanted: Ints, bits: Floats, done: Bools, limit: Ints, most: int | None = None
) -> list[list[int]]:
    """Choose the most informative coders for each item, those below `most` labels first."""
    given = np.zeros_like(limit)
    out = []
    for i, n in enumerate(wanted.tolist()):
        able = ~done[i] & (given < limit)
        fresh = able if most is None else able & (given < most)
        value = np.where(able, bits[i], -np.inf)
        order = np.lexsort((-value, ~fresh))[: min(n, int(able.sum()))]
        given[order] += 1
        out.append([int(j) for j in order])
    return out


@dataclass(frozen=True, eq=False)
class Pool:
    """Coders who may be asked, the most informative first."""

    coders: Ints
    limit: Ints
    weight: Floats
    new: bool


def make_pool(
    data: Annotations,
    bits: Floats,
    willing: Bools,
    budget: int,
    names: Sequence[Hashable] | None,
    per_coder: int | None,
    per_item: int,
) -> Pool:
    """Return the coders to ask: those named, or all willing ones."""
    n = data.per_coder
    if names is None:
        who = np.flatnonzero(willing & (n > 0))
    elif not len(who := np.sort(places_of(data.coders, names, "coder"))):
        raise NotApplicable(
            f"Name some of the {data.n_coders} coders, or leave {Option('coders')} out for all of "
            "these coders and new ones."
        )
    who = who[np.argsort(-bits[who], kind="stable")]
    limit = np.full(len(who), int(n.max()) if per_coder is None else per_coder, dtype=np.int64)
    # labels of one item come from different coders, which limits each coder
    useful = np.minimum(limit, -(-budget // min(per_item, max(len(who), 1))))
    before = np.concatenate([[0], np.cumsum(useful)[:-1]])
    given = np.clip(budget - before, 0, useful)
    return Pool(who, limit, given / max(given.sum(), 1), names is None)
