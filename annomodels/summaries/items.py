"""Uncertainty of items, its reasons and remedies, and P(contested)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import digamma, gammaln

from annomodels.coefficients.tables import over
from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import columns, percent
from annomodels.data.copying import without_copies
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.limits import (
    CONTESTED_APART,
    CONTESTED_LABELS,
    CONTESTED_SIDES,
    DISSENT,
    SETTLED,
    STATES,
)
from annomodels.models.mixtures.state_model import layout_of
from annomodels.summaries import skills
from annomodels.summaries.coders import effect_sentences
from annomodels.summaries.draws import Draws, model_of, per_item, thinned, told_by, two_readings
from annomodels.summaries.notes import items_by_state, say
from annomodels.summaries.trust.known_truth import contradicted, known_truth_finding
from annomodels.types import Bools, Floats, Ints

WORK = 4_000_000  # replicated labels
FEWEST_DRAWS, MOST_DRAWS = 100, 500
WORTH_NAMING = 0.15
TWO_READINGS = "An expert decided that it has two readings."
CARELESS = 0.1  # loss of accuracy from which dissenting coders are called less reliable

_P_CONTESTED: WeakKeyDictionary[Annotations, Floats] = WeakKeyDictionary()

COLUMNS = columns(
    "item n label probability state disagreement doubt difficulty p_ambiguous p_easy reason"
)


def items(tree: xr.DataTree, data: Annotations) -> Summary:
    """Tabulate the uncertainty of every item, its parts, and reasons to check items."""
    # irreducible is E[entropy of P(truth | labels, parameters)]: only further labels of the item
    # lower it
    truth = tree["truth"].to_dataset()
    table = states(tree, data)
    doubt = table["doubt"].to_numpy()
    irreducible = np.minimum(truth["conditional_entropy"].values / np.log(2), doubt)
    parts = {
        "reducible": doubt - irreducible,
        "irreducible": irreducible,
        "disagreement": disagreement(data),
    }
    table = table.assign(**parts, state=table.pop("state"), reason=table.pop("reason"))
    notes = [items_by_state(table["state"]), *told_by(tree)]
    notes += [] if "p_ambiguous" in table else _sides_note(table["p_contested"].to_numpy(), data)
    if any(each.effect for each in model_of(tree).parameters(data.n_labels)):
        notes += effect_sentences(tree, data, "item")
    if tree.attrs.get("engine") == "em":
        notes.append(say("items_em"))
    return Summary("Items", table, truth[["p_truth"]], tuple(notes), COLUMNS)


def states(tree: xr.DataTree, data: Annotations, threshold: float = SETTLED) -> pd.DataFrame:
    """Tabulate the state of every item, its uncertainty, and the reason to check it."""
    # p_contested comes from the labels alone; with two classes labels cannot tell a hard item from
    # a contested one
    p = tree["truth"].to_dataset()["p_truth"].values
    best = p.argmax(axis=1)
    own = state_columns(tree, data)
    p_contested, undecided = to_decide(data, own.get("p_ambiguous"))
    two = two_readings(tree, data)
    # no item counts as settled if known truth contradicts the probabilities
    wrong = contradicted(known_truth_finding(tree, data))
    open_items = ~settled(p, data, skills.signal(tree, data), threshold) | wrong
    rules = [(data.known >= 0) | two, undecided, open_items]
    table = pd.DataFrame(
        {
            "item": list(data.items),
            "n": np.diff(data.starts),
            "label": [data.labels[k] for k in best],
            "probability": p[np.arange(len(p)), best],
            "doubt": skills.entropy_bits(p),
            "p_contested": p_contested,
            **own,
            "state": np.select(rules, STATES[:0:-1], default=STATES[0]).astype(object),
        }
    )
    told = reasons(table, data, best, _draws(tree, data), threshold)
    table["reason"] = pd.Series(told, index=table.index, dtype=object).where(~two, TWO_READINGS)
    return table


def _draws(tree: xr.DataTree, data: Annotations) -> Draws:
    return thinned(tree, data, int(np.clip(WORK // len(data), FEWEST_DRAWS, MOST_DRAWS)))


def to_decide(data: Annotations, p_ambiguous: object = None) -> tuple[Floats, Bools]:
    """Return P(contested) of each item, and flag items for an expert to decide."""
    p = p_contested_of(data)
    if p_ambiguous is None:
        chosen, groups = _divided(p, data)
        chosen &= not groups or data.n_labels == 2
    else:
        chosen = np.asarray(p_ambiguous) > 0.5
    return p, chosen & (data.known < 0)


def p_contested_of(data: Annotations) -> Floats:
    """Return the cached P(contested) of each item."""
    # depends on the labels only, so all fits of the same data share it
    if data not in _P_CONTESTED:
        p = contested(without_copies(data))
        p.setflags(write=False)
        _P_CONTESTED[data] = p
    return _P_CONTESTED[data]


def _divided(p: Floats, data: Annotations) -> tuple[Bools, bool]:
    """Flag items that divide the coders; also return whether groups of coders side together."""
    n = data.votes.sum(axis=1)
    able = (n >= CONTESTED_LABELS) & (n - data.votes.max(axis=1) >= CONTESTED_APART)
    chosen = listed(p, able)
    return chosen, sides(without_copies(data), chosen) > CONTESTED_SIDES


def _sides_note(p: Floats, data: Annotations) -> list[str]:
    """Note that groups of coders divide items, and the consequence for contested items."""
    chosen, groups = _divided(p, data)
    if not groups:
        return []
    then = say("sides_two_labels" if data.n_labels == 2 else "sides_more_labels")
    return [say("sides", n=chosen.sum(), then=then)]


def settled(p: Floats, data: Annotations, strength: Floats, threshold: float = SETTLED) -> Bools:
    """Flag items whose label needs no more work."""
    # If the labels carry no signal, a prevalence near 1 is not evidence about an item.
    return np.asarray(
        (p.max(axis=1) >= threshold) & ((data.known >= 0) | (not skills.doubtful(strength)))
    )


def disagreement(data: Annotations) -> Floats:
    """Return the proportion of label pairs that differ, [item]; NaN with fewer than two labels."""
    n = np.diff(data.starts).astype(float)
    pairs = n * (n - 1)
    agreeing = (data.votes * (data.votes - 1)).sum(axis=1)
    share: Floats = np.divide(agreeing, pairs, out=np.full(len(n), np.nan), where=pairs > 0)
    return 1 - share


def state_columns(tree: xr.DataTree, data: Annotations) -> dict[str, Floats | list[str]]:
    """Return the item columns of models with states; empty for other models."""
    if "items" not in tree.children:
        return {}
    found = {str(name): each.values for name, each in tree["items"].to_dataset().items()}
    layout = layout_of(model_of(tree), data.n_labels)
    chances = frozenset() if layout is None else layout.yes_or_no
    columns: dict[str, Floats | list[str]] = {
        name: values
        for name, values in found.items()
        if name != "p_state" and name.removesuffix("_sd") not in chances
    }
    columns |= {f"p_{name}": found[name] for name in sorted(chances) if name in found}
    shares = readings(tree, data)
    if shares is not None:
        names = [label_text(label) for label in data.labels]
        columns["readings"] = [_in_words(row, names) for row in shares]
    return columns


def readings(tree: xr.DataTree, data: Annotations) -> Floats | None:
    """Return P(reading | several readings), [item, truth]; None without such states."""
    layout = layout_of(model_of(tree), data.n_labels)
    found = tree["items"].to_dataset()
    if layout is None or "p_state" not in found:
        return None
    several = layout.truth.max(axis=1) < 1.0
    if not several.any():
        return None
    joint = found["p_state"].values[:, several] @ layout.truth[several]
    shares: Floats = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
    return shares


def _in_words(row: Floats, names: list[str]) -> str:
    order = np.argsort(-row, kind="stable")
    return ", ".join(f"{names[k]} {percent(row[k], 0)}" for k in order if row[k] >= WORTH_NAMING)


def reasons(
    table: pd.DataFrame, data: Annotations, best: Ints, draws: Draws, threshold: float = SETTLED
) -> list[str]:
    """Write one sentence with numbers for each item that is open or divides its coders."""
    prevalence, confusion = draws.prevalence.mean(axis=0), draws.confusion.mean(axis=0)
    n, dissents = np.diff(data.starts), data.label != best[data.item]
    against = per_item(dissents.astype(float), data.starts)
    divided = (against >= DISSENT * n) & (n >= 2)
    of_coder = skills.accuracy(prevalence, confusion)[data.coder]
    right = over(per_item(of_coder, data.starts), n)
    right_against = over(per_item(of_coder * dissents, data.starts), against)
    right_for = over(per_item(of_coder * ~dissents, data.starts), n - against)
    out, rows = [], cast("Iterator[Any]", table.itertuples())
    for i, row in enumerate(rows):
        verb = "is" if against[i] == 1 else "are"
        dissent = f"{against[i]:.0f} of {n[i]} labels {verb} not {label_text(row.label)!r}"
        if row.state == "contested":
            out.append(_contested(row, f"{dissent}, {_whose(n[i], right[i])}"))
        elif row.state == "needs labels":
            what = dissent if against[i] else _agreed(row.n, row.label)
            out.append(_needs_more(row, what, _whose(n[i], right[i]), threshold))
        elif divided[i]:
            known = data.known[i] >= 0
            sure = "is known" if known else f"has probability {_chance(row.probability)}"
            why = "coder errors explain that"
            if right_for[i] - right_against[i] > CARELESS:
                shares = f"{percent(right_against[i], 0)} right against {percent(right_for[i], 0)}"
                why = f"from less reliable coders ({shares})"
            out.append(f"{dissent}, which {sure}; {why}.")
        else:
            out.append("")
    return out


def _chance(p: float) -> str:
    return ALL["probability"].written(p).text


def _whose(n: int, right: float) -> str:
    coders = "a coder who is" if n == 1 else "coders who are"
    return f"from {coders} right {percent(right, 0)} of the time"


def _contested(row: Any, what: str) -> str:
    if hasattr(row, "p_ambiguous"):
        read = f", read as {row.readings}" if hasattr(row, "readings") else ""
        return f"Ambiguous with probability {_chance(row.p_ambiguous)}{read}: {what}."
    return f"{what}; P(contested) {_chance(row.p_contested)}."


def _agreed(n: int, label: Any) -> str:
    one = "The only label is" if n == 1 else f"All {n} labels are"
    return f"{one} {label_text(label)!r}"


def _needs_more(row: Any, what: str, whose: str, threshold: float) -> str:
    if row.probability >= threshold:
        return say("contradicted")
    if row.n == 0:
        return "It has no label."
    return f"{what}, which has probability {_chance(row.probability)}; {whose}."


# -- P(contested): nothing is random, so every fit of the same labels gives the same items ---------

# proportions of contested items, and their prior probabilities
GRID = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45)
PRIOR = np.array([0.5, *[0.5 / 7] * 7])
# proportions of coders who perceive the first of two readings
SHARES = np.array([0.3, 0.5, 0.7])
# probability that a label of a hard item is replaced by a wrong one, and weights of these levels
LEVELS, LEVEL_SHARES = np.array([0.25, 0.5]), np.array([2 / 3, 1 / 3])
# Beta prior of easy and hard items: few or no hard items, unless the labels need them
HARD = np.array([3.0, 0.25])
# classes per item considered for hard items and pairs of readings: those with most support
CANDIDATES = 3
# pseudo-counts of a uniform spread of wrong labels over the other classes
EVEN = 2.0
# gap between bound and evidence, see contested(), and the expected false discovery rate of a list
SLACK, FALSE = 0.14, 0.3
# most labels and confusion-matrix cells to fit; items are thinned beyond these
MOST_LABELS, MOST_CELLS = 50_000, 100_000
ROUNDS, CLOSE = 60, 1e-3
NEGLIGIBLE = 12.0  # nats below the best log evidence at which larger proportions are skipped
STEP, LEAST, MOST = math.sqrt(2.0), 1.0, 64.0
# busiest coders whose sides are compared; variance too small to use
MOST_SIDED, TINY = 400, 1e-9


def contested(data: Annotations) -> Floats:
    r"""Return P(an item has two readings), shape [item]; with two classes, P(hard or two readings).

    .. math::

        y_n &\sim Cat(\theta_{j_n, k_i}) & \text{all coders read the item alike} \\
        y_n &\sim (1 - d_i) Cat(\theta_{j_n, k_i}) + d_i Cat(w_{k_i}) & \text{it is hard} \\
        y_n &\sim u_i Cat(\theta_{j_n, a_i}) + (1 - u_i) Cat(\theta_{j_n, b_i})
        & \text{each coder perceives one of two classes}

    where :math:`\theta_{j,k} \sim Dir(c\, m_k)`, and :math:`w_k` is the distribution of the wrong
    labels of class k over all items. So a second reading must concentrate the wrong labels of an
    item more than difficulty does. With two classes the distributions are the same, so hard items
    count as items with two readings.

    Rows of the confusion matrices get variational posteriors (Beal & Ghahramani 2003) for each
    proportion of contested items on a grid; the proportion of hard items has a sparse prior. Grid
    points are weighted by the bound on the evidence plus :math:`\kappa D h`: the bound omits the
    loss from uncertain states of items. This loss grows with D, the effective number of free
    parameters of the rows, and h, the mean entropy of a state in nats.
    """
    # SLACK was tuned on 120 simulated crowds (2 to 5 classes, 120 to 700 items, 6 to 20 labels
    # per item, 0 to 30 % of items with two readings) and the bundled crowd; levels and weights of
    # hard items on 340 other crowds. docs/research/ambiguity.md has more.
    if not len(data) or data.n_labels < 2:
        return np.zeros(data.n_items)
    whole = _readers(data)
    part = whole.thinned(data)
    label_of = _expected_votes(data)[part.number]
    fits: list[_Climbed] = []
    evidence: list[float] = []
    for share, prior in zip(GRID, PRIOR, strict=True):
        fits.append(_climb(part, share, fits[-1].expected if fits else label_of))
        slack = SLACK * fits[0].degrees * fits[-1].entropy
        evidence.append(fits[-1].bound + slack + math.log(prior))
        if evidence[-1] < max(evidence) - NEGLIGIBLE:
            break
    weight = np.exp(np.array(evidence) - max(evidence))
    weight /= weight.sum()
    out = np.zeros(data.n_items)
    for begin, end in whole.blocks():
        block = whole.cut(begin, end)
        for share, fit, w in zip(GRID[: len(fits)], fits, weight, strict=True):
            if share and w > 1e-6:
                joint = _joint(block, share, fit.rows)
                two = joint.split(_states(joint)[0])[2]
                out[begin:end] += w * two.sum(axis=(1, 2))
    return out


def listed(p: Floats, able: Bools | None = None, false: float = FALSE) -> Bools:
    """Flag the longest list by P with an expected false discovery rate of at most `false`."""
    # P. Mueller, G. Parmigiani and K. Rice (2006), Bayesian Statistics 8, 349-370.
    order = np.arange(len(p)) if able is None else np.flatnonzero(able)
    order = order[np.argsort(-p[order], kind="stable")]
    mean = np.cumsum(1.0 - p[order]) / np.arange(1, len(order) + 1)
    out = np.zeros(len(p), bool)
    out[order[: int((mean <= false).sum())]] = True
    return out


def sides(data: Annotations, items: Bools) -> float:
    """Measure how often the same coders side together on divided items, relative to chance."""
    # Mean of z_jk^2 over pairs of coders, where z is the standardized sum of c_ij c_ik and c is
    # the side of a coder minus the mean of its item: 1 if sides are permuted within items, 0 with
    # fewer than two items.
    votes = data.votes
    order = np.argsort(-votes, axis=1, kind="stable")
    place = np.cumsum(items) - 1
    rows = np.flatnonzero(items[data.item])
    first, second = order[data.item[rows], 0], order[data.item[rows], 1]
    kept = (data.label[rows] == first) | (data.label[rows] == second)
    rows, n_items = rows[kept], int(items.sum())
    busy = np.argsort(-np.bincount(data.coder[rows], minlength=data.n_coders), kind="stable")
    column = np.full(data.n_coders, -1)
    column[busy[:MOST_SIDED]] = np.arange(min(MOST_SIDED, data.n_coders))
    side = np.zeros((n_items, int(column.max()) + 1))
    rows = rows[column[data.coder[rows]] >= 0]
    top = data.label[rows] == order[data.item[rows], 0]
    side[place[data.item[rows]], column[data.coder[rows]]] = np.where(top, 1.0, -1.0)
    here = (side != 0).astype(float)
    n = np.maximum(here.sum(axis=1), 2.0)
    centred = here * (side - (side.sum(axis=1) / n)[:, None])
    square, fourth = (centred**2).sum(axis=1), (centred**4).sum(axis=1)
    mean = -square / (n * (n - 1.0))
    variance = (square**2 - fourth) / (n * (n - 1.0)) - mean**2
    upper = np.triu_indices(side.shape[1], 1)
    moments = [(here.T @ (each[:, None] * here))[upper] for each in (mean, variance)]
    told = moments[1] > TINY
    if n_items < 2 or not told.any():
        return 0.0
    product = (centred.T @ centred)[upper]
    return float(((product - moments[0])[told] ** 2 / moments[1][told]).mean())


# -- labels and coders ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Readers:
    """Labels grouped by item; `number` is the index of each label in the data."""

    number: Ints
    coder: Ints
    label: Ints
    starts: Ints
    likely: Ints  # [item, candidate]
    n_labels: int
    n_coders: int

    @property
    def pairs(self) -> Ints:
        """Pairs of the likely classes, shape [item, pair, 2]."""
        sides = np.triu_indices(self.likely.shape[1], 1)
        return np.stack([self.likely[:, side] for side in sides], axis=2)

    @property
    def item(self) -> Ints:
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def cut(self, begin: int, end: int, step: int = 1) -> _Readers:
        """Return the items ``begin:end:step``."""
        chosen = np.arange(begin, end, step)
        n = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(n)])
        at = np.repeat(self.starts[chosen] - starts[:-1], n) + np.arange(starts[-1])
        return _Readers(
            self.number[at], self.coder[at], self.label[at], starts,
            self.likely[chosen], self.n_labels, self.n_coders,
        )  # fmt: skip

    def thinned(self, data: Annotations) -> _Readers:
        """Return every m-th item, to limit labels and cells of the rows."""
        cells = data.n_coders * data.n_labels**2
        step = math.ceil(max(len(data) / MOST_LABELS, cells / MOST_CELLS))
        return self.cut(0, data.n_items, max(1, min(step, data.n_items)))

    def blocks(self) -> list[tuple[int, int]]:
        """Return ranges of items with up to MOST_LABELS labels each."""
        n_items = len(self.starts) - 1
        edges = [0]
        while edges[-1] < n_items:
            reached = self.starts[edges[-1]] + MOST_LABELS
            end = int(np.searchsorted(self.starts, reached, side="right")) - 1
            edges.append(min(n_items, max(end, edges[-1] + 1)))
        return list(pairwise(edges))


def _expected_votes(data: Annotations) -> Floats:
    """Return P(truth) for each label from the votes of its item, [annotation, truth]."""
    votes = data.votes + 0.5
    return np.asarray((votes / votes.sum(axis=1, keepdims=True))[data.item])


def _readers(data: Annotations) -> _Readers:
    k = data.n_labels
    coder, label = data.coder.astype(np.int64), data.label.astype(np.int64)
    counts = _counts(coder, label, _expected_votes(data), data.n_coders)
    mean = counts.sum(axis=0) + 1.0 / k
    rows = counts + 4.0 * mean / mean.sum(axis=1, keepdims=True)
    rows /= rows.sum(axis=2, keepdims=True)
    spoken = rows[coder, :, label]
    support = per_item(spoken / spoken.sum(axis=1, keepdims=True), data.starts)
    likely = np.argsort(-support, axis=1, kind="stable")[:, :CANDIDATES]
    number = np.arange(len(data))
    return _Readers(number, coder, label, data.starts, likely, k, data.n_coders)


def _counts(coder: Ints, label: Ints, expected: Floats, n_coders: int) -> Floats:
    """Compute expected counts of labels, shape [coder, truth, label]."""
    k = expected.shape[1]
    cell = (coder[:, None] * k + np.arange(k)) * k + label[:, None]
    return np.bincount(cell.ravel(), expected.ravel(), n_coders * k * k).reshape(-1, k, k)


# -- variational posteriors given a proportion of contested items ---------------------------------


@dataclass(frozen=True, eq=False)
class _Rows:
    """Expected log rows [coder, truth, label], and log prevalence of classes and of pairs.

    `log_hard` is the log proportion of easy and of hard items, None with two classes. `wrong` is
    the distribution of wrong labels [truth, label].
    """

    log_rows: Floats
    log_class: Floats
    log_pair: Floats
    log_hard: Floats | None
    wrong: Floats


@dataclass(frozen=True, eq=False)
class _Climbed:
    """Rows, P(class perceived) of each label, bound on the log evidence, mean entropy of a state.

    `degrees` is the effective number of free parameters of the rows.
    """

    rows: _Rows
    expected: Floats
    bound: float
    entropy: float
    degrees: float


@dataclass(frozen=True, eq=False)
class _Joint:
    """Log joint of states and labels [item, state].

    States are plain classes, then class and level of hard items, then pair and proportion. `kept`
    is the probability that a label of a hard item came from the coder's row. `first` is the
    probability that a label came from the first reading, [annotation, class or pair, level or
    proportion].
    """

    log: Floats
    n_labels: int
    kept: Floats | None
    first: Floats | None

    def split(self, states: Floats) -> tuple[Floats, Floats, Floats]:
        """Split P(state) into plain classes, classes and levels, pairs and shares."""
        at, n = self.n_labels, len(states)
        shapes = [(0, 1) if x is None else x.shape[1:] for x in (self.kept, self.first)]
        end = at + math.prod(shapes[0])
        hard = states[:, at:end].reshape(n, *shapes[0])
        return states[:, :at], hard, states[:, end:].reshape(n, *shapes[1])


def _joint(z: _Readers, share: float, rows: _Rows) -> _Joint:
    spoken = rows.log_rows[z.coder, :, z.label]
    prior = rows.log_class + math.log1p(-share)
    p, at = np.exp(spoken), np.arange(len(spoken))[:, None]
    logs, kept, first = [per_item(spoken, z.starts) + prior], None, None
    if rows.log_hard is not None:
        logs[0] += rows.log_hard[0]
        likely = z.likely[z.item]
        kept = p[at, likely][:, :, None] * (1.0 - LEVELS)
        both = kept + rows.wrong[likely, z.label[:, None]][:, :, None] * LEVELS
        kept /= both
        of_class = prior[z.likely][:, :, None]
        of_level = rows.log_hard[1] + np.log(LEVEL_SHARES)
        logs.append(per_item(np.log(both), z.starts) + of_class + of_level)
    if share:
        pairs, of_item = z.pairs, z.pairs[z.item]
        first = p[at, of_item[:, :, 0]][:, :, None] * SHARES
        both = first + p[at, of_item[:, :, 1]][:, :, None] * (1.0 - SHARES)
        first /= both
        of_pair = rows.log_pair[pairs[:, :, 0], pairs[:, :, 1]] + math.log(share / len(SHARES))
        logs.append(per_item(np.log(both), z.starts) + of_pair[:, :, None])
    log = np.concatenate([each.reshape(len(z.starts) - 1, -1) for each in logs], axis=1)
    return _Joint(log, z.n_labels, kept, first)


def _states(joint: _Joint) -> tuple[Floats, float]:
    """Return P(state | labels) [item, state], and the log probability of all labels."""
    top = joint.log.max(axis=1, keepdims=True)
    p = np.exp(joint.log - top)
    total = p.sum(axis=1, keepdims=True)
    return p / total, float((top + np.log(total)).sum())


def _climb(z: _Readers, share: float, expected: Floats) -> _Climbed:
    """Fit the rows given a proportion of contested items, from P(truth) of each label."""
    k, item = z.n_labels, z.item
    one = per_item(expected, z.starts) + 1.0 / k
    one /= one.sum(axis=1, keepdims=True)
    pair, pairs, at = np.zeros((len(one), z.pairs.shape[1])), z.pairs[item], np.arange(len(item))
    hardness = np.array([1.0, 0.0])
    mean, strength = None, 4.0
    for _ in range(ROUNDS):
        counts = _counts(z.coder, z.label, expected, z.n_coders)
        mean, strength = _population(counts, mean, strength)
        own = counts + strength * mean
        log_rows = digamma(own) - digamma(own.sum(axis=2, keepdims=True))
        log_hard, lost = _hard(hardness) if k > 2 else (None, 0.0)
        rows = _Rows(log_rows, *_shares(z, one, pair), log_hard, _wrong(own))
        joint = _joint(z, share, rows)
        states, log_labels = _states(joint)
        bound = log_labels - _divergence(counts, own, strength * mean, log_rows) - lost
        before = one
        plain, hard, two = joint.split(states)
        one, expected = plain.copy(), plain[item]
        np.add.at(one, (np.arange(len(one))[:, None], z.likely[:, : hard.shape[1]]), hard.sum(2))
        hardness = np.array([plain.sum(), hard.sum()])
        if joint.kept is not None:
            kept = (hard[item] * joint.kept).sum(axis=2)
            for n in range(kept.shape[1]):
                expected[at, z.likely[item, n]] += kept[:, n]
        if joint.first is not None:
            pair = two.sum(axis=2)
            first = (two[item] * joint.first).sum(axis=2)
            for n in range(pair.shape[1]):
                expected[at, pairs[:, n, 0]] += first[:, n]
                expected[at, pairs[:, n, 1]] += pair[item, n] - first[:, n]
        if np.abs(one - before).max() < CLOSE:
            break
    entropy = -float((states * np.log(np.maximum(states, 1e-300))).sum()) / len(states)
    total = counts.sum(axis=2)
    degrees = (k - 1) * float((total / (total + strength)).sum())
    return _Climbed(rows, expected, bound, entropy, degrees)


def _hard(n: Floats) -> tuple[Floats, float]:
    """Compute expected log proportions of easy and hard items; divergence from the prior."""
    own = n + HARD
    log = digamma(own) - digamma(own.sum())
    return log, _divergence(n[None, None], own[None, None], HARD[None], log[None, None])


def _wrong(own: Floats) -> Floats:
    """Return the distribution of labels other than each coder's usual one, [truth, label]."""
    k = own.shape[2]
    usual = own == own.max(axis=2, keepdims=True)
    off = np.where(usual, 0.0, own).sum(axis=0) + EVEN * (1.0 - np.eye(k)) / max(k - 1, 1)
    return np.asarray(off / off.sum(axis=1, keepdims=True))


def _population(counts: Floats, mean: Floats | None, strength: float) -> tuple[Floats, float]:
    """Update the mean rows [truth, label] and concentration of coders from expected counts."""
    if mean is None:
        mean = counts.sum(axis=0) + 1.0 / counts.shape[2]
    else:
        prior = strength * mean
        mean = (digamma(counts + prior) - digamma(prior)).sum(axis=0) * mean + 0.05
    mean = mean / mean.sum(axis=1, keepdims=True)
    total = counts.sum(axis=2)

    def evidence(c: float) -> float:
        of_labels = (gammaln(counts + c * mean) - gammaln(c * mean)).sum()
        return float(of_labels - (gammaln(total + c) - gammaln(c)).sum())

    near = [min(MOST, max(LEAST, strength * by)) for by in (1.0 / STEP, 1.0, STEP)]
    return mean, max(near, key=evidence)


def _shares(z: _Readers, plain: Floats, pair: Floats) -> tuple[Floats, Floats]:
    """Return the log prevalence of classes [truth] and of pairs [truth, truth]."""
    k = z.n_labels
    of_class = (plain.sum(axis=0) + 1.0) / (plain.sum() + k)
    cell = (z.pairs[:, :, 0] * k + z.pairs[:, :, 1]).ravel()
    of_pair = np.bincount(cell, pair.ravel(), k * k).reshape(k, k)
    of_pair = of_pair + of_pair.T + 1.0
    return np.log(of_class), np.log(of_pair / (pair.sum() + k * (k - 1) / 2))


def _divergence(counts: Floats, own: Floats, prior: Floats, log_rows: Floats) -> float:
    """Return the Kullback-Leibler divergence of the posteriors of all rows from their prior."""
    constant = (gammaln(prior.sum(axis=1)) - gammaln(prior).sum(axis=1)).sum()
    of_rows = gammaln(own.sum(axis=2)).sum() - gammaln(own).sum() + (counts * log_rows).sum()
    return float(of_rows - len(counts) * constant)
