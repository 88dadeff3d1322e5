"""Labels to ask for next: which items, by which coders, and when to stop."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, get_args

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import columns
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.errors import NotApplicable, Option
from annomodels.limits import NEXT_CODERS, NEXT_LABELS, NEXT_SHARE, NEXT_WORTH
from annomodels.summaries.coders.coders import coders as coders_of
from annomodels.summaries.coders.coders import flagged
from annomodels.summaries.draws import SMALLEST, Draws, thinned
from annomodels.summaries.gold.coverage import expected_errors
from annomodels.summaries.gold.gold import OVERCONFIDENT
from annomodels.summaries.items.items import settled, state_columns, to_decide
from annomodels.summaries.next.allocation import (
    Pool,
    Steps,
    allocate,
    choose_coders,
    has_labeled,
    make_pool,
    steps,
)
from annomodels.summaries.next.expected_utility import (
    Beliefs,
    By,
    beliefs,
    coder_bits,
    gains,
    most_labels,
    stack_beliefs,
)
from annomodels.summaries.notes import say
from annomodels.summaries.skills import entropy_bits, signal
from annomodels.summaries.stacked import stacked
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
        Expected wrong gold labels (or bits of uncertainty) now, and with these labels. If coder
        errors are correlated, further labels by the same coders remove fewer. So use `after` to
        rank requests. It has no interval; fit again after the labels, or audit. NaN if known truth
        contradicts the probabilities: then no gain is known, and no label is asked for.
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
    before = expected_errors(p, data)[0] if by == "gold" else float(spread[data.known < 0].sum())
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


class Request(NamedTuple):
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
) -> list[Request]:
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
                out.append(Request(item, coder, gain, float(told[number, column])))
            elif pool.new:
                out.append(Request(item, -1, gain, float("nan")))
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


def _table(data: Annotations, p: Floats, requests: list[Request]) -> pd.DataFrame:
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
