r"""Agreement by label, item, coder, pair of coders or group.

The pairs of a coder combine each of the coder's labels with every other label of the item, weighted
as the convention weights the item. So the observed disagreement of all coders, weighted by their
labels, is that of the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy import sparse

from annomodels.coefficients import sums
from annomodels.coefficients.agreement import Convention, Resample
from annomodels.coefficients.distances import DistanceLike
from annomodels.coefficients.formulas import evaluate_with
from annomodels.coefficients.intervals import share_above, spans
from annomodels.coefficients.parts.results import Breakdown
from annomodels.coefficients.parts.setup import (
    Row,
    Setup,
    drawn,
    draws_note,
    finish,
    measured,
    planned,
    refuse_unfit,
    set_up,
)
from annomodels.coefficients.reasons import (
    RARE,
    REASONS,
    WITH_VALUE,
    before,
    diagnose,
    explain,
    repeats_note,
    say,
    used_items,
)
from annomodels.coefficients.rows import (
    CONVENTIONS,
    Duplicates,
    collapse,
    constant_labels,
    label_counts,
    make_sample,
    prepare,
    restrict,
    within_items,
)
from annomodels.coefficients.sums import Statistics, draw_values, point_values, without_coders
from annomodels.coefficients.tables import Evaluated, PairTables, over
from annomodels.data.annotations import Annotations
from annomodels.data.names import plain_names, quoted
from annomodels.errors import NotApplicable, Option, valid_seed
from annomodels.limits import GROUPS_RESAMPLED
from annomodels.types import Floats, Ints

FEW = 10  # items, below which a coder is not compared with others
MOST_CELLS = 1_000_000
MOST_PAIRS, MOST_DRAWN = 200_000, 20_000

Undefined = float | str
By = Literal["label", "item", "coder", "pair", "group"]


def breakdown(
    data: Annotations,
    by: By,
    name: str = "alpha",
    *,
    distance: DistanceLike | None = None,
    missing: Convention | None = None,
    duplicates: Duplicates = "first",
    undefined: Undefined = math.nan,
    positive: Hashable | None = None,
    draws: int = 2000,
    seed: int = 0,
    resample: Resample = "auto",
    labels: Sequence[Hashable] | None = None,
) -> Breakdown:
    r"""Compute agreement by part, with intervals and posteriors of the differences.

    Parameters
    ----------
    data
        Labels to compare.
    by
        "label": each label against the rest (nominal); specific agreement, and the coefficient
        after the other labels are merged (with K the kappa of a category, with alpha the category
        alpha). "item": agreement of the item's labels, its share of the observed disagreement, what
        it adds to the coefficient, and the probability that two new coders agree on it. "coder":
        the coefficient of the coder's pairs with all others, and of the data without the coder,
        with the difference. "pair": two coders on the items that both labeled; pairs without such
        items are omitted. "group": each document, genre or batch, their mean, the pooled value, and
        the standard deviation between them.
    name
        Name or alias of a coefficient.
    distance, missing, duplicates, labels
        As in :func:`~annomodels.agreement`.
    undefined
        Value for groups where the coefficient is undefined. "label-given" (Kopec & Ogrodniczuk
        2014): 1 if nobody gave the label `positive`, 0 if only one coder did; a note counts
        the groups that a rule decided.
    positive
        The label that the rules use.
    draws, seed
        Number and seed of the draws of the sampling posterior; with thousands of parts, fewer draws
        are made, with a note.
    resample
        Unit of resampling, as in :func:`~annomodels.agreement`; within a group, items.

    Returns
    -------
    A :class:`~annomodels.coefficients.parts.results.Breakdown`.

    Raises
    ------
    NotApplicable
        If the coefficient does not support this breakdown, or the data lack such parts.
    AnnotationError
        If labels are not in the label set, a table is not a distance, or repeats are an error.

    References
    ----------
    Fleiss 1971, doi:10.1037/h0031619 (items and categories); Cicchetti & Feinstein 1990,
    doi:10.1016/0895-4356(90)90159-M (specific agreement).

    Examples
    --------
    Which label of the tutorial's dialogue data do coders agree on?

    >>> import annomodels as am
    >>> found = am.breakdown(am.datasets.load("trains"), "label", draws=500)
    >>> found.table[["label", "n", "specific", "value"]].round(3)
      label   n  specific  value
    0   Box  46     0.913  0.841
    1  Tank  20     0.800  0.752
    2   E-1  23     0.870  0.832
    3   E-2  11     0.909  0.899
    """
    chosen = "group" if str(by) == "document" else by
    if chosen not in get_args(By):
        raise NotApplicable(f"by={by!r} is unknown. Use one of {', '.join(get_args(By))}.")
    if chosen != "group" and (positive is not None or isinstance(undefined, str)):
        raise NotApplicable('undefined="label-given" and positive= belong to by="group".')
    if draws < 0:
        raise NotApplicable(f"draws={draws} is not a number of draws. Use 0 for none.")
    whole = chosen == "group"
    if chosen == "label" and distance is None:
        distance = "nominal"
    setup = set_up(data, name, distance, missing, duplicates, resample, labels, whole)
    if whole:
        return by_group_of_items(setup, draws, valid_seed(seed), undefined, positive)
    way = {"label": by_label, "item": by_item, "coder": by_coder, "pair": by_pair}[chosen]
    return way(setup, draws, valid_seed(seed))


def one_against_rest(tables: PairTables) -> PairTables:
    """Return tables of two labels (rest, label) for every label, shape [..., label, ...]."""
    k, p = tables.n_labels, np.arange(len(tables.first))
    equal = tables.first == tables.second
    other = p[~equal]

    def gathered(row: Ints, place: Ints) -> Floats:
        matrix = sparse.csr_array((np.ones(len(row)), (row, place)), (k, len(p)))
        batch = tables.together.shape[:-1]
        flat = tables.together.reshape(math.prod(batch), len(p))
        return np.asarray(matrix @ flat.T).T.reshape(*batch, k)

    both = gathered(tables.first[equal], p[equal])
    ends = np.concatenate([tables.first[other], tables.second[other]])
    mixed = gathered(ends, np.concatenate([other, other]))
    rest = tables.together.sum(-1, keepdims=True) - both - mixed

    def halves(weights: Floats) -> Floats:
        return np.stack([weights.sum(-1, keepdims=True) - weights, weights], axis=-1)

    return PairTables(
        first=np.array([0, 0, 1]),
        second=np.array([0, 1, 1]),
        together=np.stack([np.maximum(rest, 0.0), mixed, both], axis=-1),
        pooled=halves(tables.pooled),
        left=np.moveaxis(halves(tables.left), -2, -3),
        right=np.moveaxis(halves(tables.right), -2, -3),
        sign=tables.sign,
        n=np.asarray(tables.n)[..., None],
    )


def by_label(setup: Setup, draws: int, seed: int) -> Breakdown:
    refuse_unfit(setup)
    entry = setup.request.coefficient
    if entry.each_pair or not setup.request.nominal:
        raise NotApplicable(
            f"{setup.request.title} cannot be split by label: a label against the rest is "
            "nominal and pools all coders. Use alpha, k, multi_kappa, s or ac1 with "
            'distance="nominal".'
        )

    def measure(weights: Floats) -> dict[str, Floats | Evaluated]:
        tables = setup.sums.tables(weights, entry.by_coder)
        two = one_against_rest(tables)
        each, whole = (evaluate_with(entry.expectation, x) for x in (two, tables))
        # the proportion of a label's partners that are the same label
        both, mixed = two.together[..., 2], two.together[..., 1]
        return {"value": each, "specific": over(both, both + mixed / 2), "whole": whole.value}

    rows, k = setup.rows, setup.rows.n_labels
    some = setup.sums.tables(setup.sample.point, entry.by_coder)
    width = (8 * k + len(some.first)) * (1 + some.left.shape[-2])
    work = 4 * len(setup.sample.rows.item)
    point, found, notes = drawn(setup, measure, draws, seed, 2 * k, work, width)
    used = used_items(rows, setup.request.convention)
    n_items = int(used.sum())
    given: Ints = np.bincount(rows.label[used[rows.item]], minlength=k)
    each = Evaluated(*np.broadcast_arrays(*point["value"]))
    columns, values = measured(setup, each, np.full(k, n_items), found["value"])
    specific = found["specific"] if n_items > 1 else found["specific"][:0]
    before = {
        "n": given,
        "share": given / max(int(given.sum()), 1),
        **spans("specific", point["specific"], specific),
    }
    why = []
    for note, n in zip(columns.pop("note"), given.tolist(), strict=True):
        if n == 0:
            note = say("unused_label")
        elif not note and n < RARE:
            note = say("rare_against_rest", n=n, least=RARE)
        why.append(note)
    return finish(
        setup,
        "each label against the rest",
        {"label": list(setup.data.labels)},
        {**before, **columns, "note": why},
        {"value": values, "specific": found["specific"], "whole": found["whole"]},
        [("all labels", float(point["whole"]), found["whole"], n_items)],
        notes,
    )


def by_item(setup: Setup, draws: int, seed: int) -> Breakdown:
    refuse_unfit(setup)
    rows, request = setup.rows, setup.request
    ones = np.ones(rows.n_items)
    every = sums.of_items(rows, setup.convention)
    apart = every.apart(request.distance, setup.pooled).toarray()[0]
    d = over(apart, every.total.toarray()[0])
    whole = float("nan")
    if not before(request.coefficient, rows, request.convention):
        whole = float(Statistics(rows, [request]).evaluate(ones)[0].value)
    made = planned(draws, rows.n_items, 8 * len(rows.item))
    further = np.empty((0, rows.n_items))
    if made and len(rows.item) <= MOST_CELLS:
        further = np.where(np.isnan(d), np.nan, _further(setup, made, seed))
    mean = further.mean(0) if len(further) else np.full(len(d), np.nan)
    left = sums.without_each_item(request, every, ones)
    columns = {
        "n": rows.per_item,
        "value": 1 - d if setup.request.nominal else d,
        "share": apart / (apart.sum() or 1.0),
        "influence": whole - left,
        **spans("further", mean, further),
        "note": np.select(
            [rows.per_item < 2, np.isnan(left)],
            [say("one_label_of_item"), REASONS["no_variation"]],
            "",
        ),
    }
    word = "agreement" if setup.request.nominal else "disagreement"
    notes = [repeats_note(setup.data, setup.duplicates)] if setup.data.repeats else []
    notes.append(say("value_of_items", word=word, title=request.title))
    if len(further):
        notes.append(say("further", word=word))
    return finish(
        setup,
        "each item",
        {"item": list(setup.data.items)},
        columns,
        {"further": further},
        [("all items", whole, np.empty(0), int((rows.per_item >= 2).sum()))],
        notes + draws_note(draws, made),
        "further",
    )


def _further(setup: Setup, draws: int, seed: int) -> Floats:
    """Draw the agreement (or disagreement) of two new coders, shape [draw, item]."""
    # An item's r labels are a sample from its label distribution, whose prior is the
    # distribution over all items with the weight of one label (Ferguson 1973,
    # doi:10.1214/aos/1176342360).
    rows, distance = setup.rows, setup.request.distance
    item, label, times, starts = label_counts(rows)
    pooled = setup.pooled
    share = pooled / (pooled.sum() or 1.0)
    a, b = within_items(item, rows.n_items)
    a, b = a[a < b], b[a < b]
    between = distance.pairs(label[a], label[b], pooled)
    # distance.reach gives the mean distance of each label to the labels of all items
    to_all = distance.reach(share, pooled)
    typical = float(distance.form(share, share, pooled))
    rng = np.random.default_rng(seed)
    r = rows.per_item.astype(float)
    out = np.empty((draws, rows.n_items))
    for draw in range(draws):
        own = rng.standard_gamma(times)
        own /= np.add.reduceat(own, starts[:-1])[item]
        new = rng.beta(1.0, r)
        inside = 2 * np.bincount(item[a], own[a] * own[b] * between, minlength=rows.n_items)
        across = np.bincount(item, own * to_all[label], minlength=rows.n_items)
        out[draw] = (1 - new) ** 2 * inside + 2 * new * (1 - new) * across + new**2 * typical
    return 1 - out if setup.request.nominal else out


def by_coder(setup: Setup, draws: int, seed: int) -> Breakdown:
    entry, rows = setup.request.coefficient, setup.rows
    if entry.each_pair:
        raise NotApplicable(
            f"{entry.title} is a mean over pairs of coders. Take {Option('by', 'pair')}, or "
            "multi_kappa."
        )
    request, sides = setup.request, sums.by_coder(setup.sample.rows, setup.convention)
    without = without_each_coder(setup)
    whole = Statistics(setup.sample.rows, [setup.request])
    fits = before(entry, rows, setup.request.convention) in ("", "no_complete_items")

    def measure(weights: Floats) -> dict[str, Floats | Evaluated]:
        found: dict[str, Floats | Evaluated] = {"value": sides.evaluate(weights, request)}
        if fits:
            found["whole"] = all_data = whole.evaluate(weights)[0].value
            if without is not None:
                found["difference"] = without.evaluate(weights) - all_data[..., None]
        return found

    more = (0, 0) if without is None else (without.work, without.width)
    work = sides.work(request.distance) + more[0]
    width = sides.width(request.distance, True) + whole.width + more[1]
    point, found, notes = drawn(setup, measure, draws, seed, 2 * rows.n_coders, work, width)
    used = used_items(rows, setup.request.convention)
    n = np.bincount(rows.coder[used[rows.item]], minlength=rows.n_coders)
    columns, values = measured(setup, point["value"], n, found["value"])
    nan = np.full(rows.n_coders, np.nan)
    left_out = nan if without is None else without.evaluate(setup.sample.point)
    all_value = float(point.get("whole", np.nan))
    difference, change = point.get("difference", nan), np.empty((0, rows.n_coders))
    if "difference" in found:
        change = np.where(np.isnan(left_out), np.nan, found["difference"])
    draws_of_all = found.get("whole", np.empty(0))
    if without is None and rows.n_coders < 3:
        notes.append(say("two_coders"))
    elif without is None:
        notes.append(say("many_coders", title=setup.request.title, n=rows.n_coders))
    constant = constant_labels(setup.rows.coder, setup.rows.label, rows.n_coders)
    why = []
    for note, label, count in zip(columns.pop("note"), constant, n.tolist(), strict=True):
        if count == 0:
            note = say("coder_alone")
        elif not note and label >= 0:
            note = say("coder_of_one_label", label=setup.data.labels[label])
        why.append(note or (say("coder_of_few_items", n=count) if count < FEW else ""))
    after = {
        "without": left_out,
        **spans("difference", difference, change),
        "p_better_without": share_above(change, 0.0),
        "note": why,
    }
    return finish(
        setup,
        "each coder against the others, and the data without the coder",
        {"coder": list(setup.data.coders)},
        {"n": n, **columns, **after},
        {"value": values, "difference": change, "whole": draws_of_all},
        [("all coders", all_value, draws_of_all, int(used.sum()))],
        notes,
    )


def by_pair(setup: Setup, draws: int, seed: int) -> Breakdown:
    rows, names = setup.sample.rows, setup.data.coders
    request = setup.request
    pairs, known = sums.by_coder_pair(rows, request.convention == "listwise")
    n = (pairs.total @ setup.sample.point).round().astype(np.int64)
    sharing = int((n > 0).sum())
    if not sharing:
        raise NotApplicable("No two coders labeled the same item, so there is no pair to show.")
    order = np.lexsort((known, -n))[: min(sharing, MOST_PAIRS)]
    place = np.full(len(known), -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    size, n = len(order), n[order]
    n_drawn = min(size, MOST_DRAWN)
    every, top = (sums.chosen(pairs, place, m) for m in (size, n_drawn))
    _, found, notes = drawn(
        setup,
        lambda weights: {"value": top.evaluate(weights, request)},
        draws,
        seed,
        n_drawn,
        top.work(request.distance),
        top.width(request.distance, True),
    )
    # pairs that share few items have no draws
    shape = (len(found["value"]), size - n_drawn)
    values = np.concatenate([found["value"], np.full(shape, np.nan)], axis=1)
    point = every.evaluate(setup.sample.point, request)
    columns, values = measured(setup, point, n, values)
    if sharing > size:
        notes.append(say("most_pairs", n=sharing, shown=size))
    if len(values) and n_drawn < size:
        notes.append(say("drawn_pairs", n=n_drawn))
    if alone := setup.rows.n_coders * (setup.rows.n_coders - 1) // 2 - sharing:
        notes.append(say("pairs_alone", n=alone))
    whole = np.empty(0)
    if n_drawn == size:
        whole = over(np.nansum(values, axis=1), (~np.isnan(values)).sum(1))
    mean = over(np.nansum(point.value), (~np.isnan(point.value)).sum())
    one, other = np.divmod(known[order], rows.n_coders)
    return finish(
        setup,
        "each pair of coders",
        {"coder_a": [names[j] for j in one], "coder_b": [names[j] for j in other]},
        {"n": n, **columns},
        {"value": values[:, :n_drawn], "whole": whole},
        [("mean over the pairs", float(mean), whole, size)],
        notes,
    )


MOST_ROWS = 20_000_000


class WithoutCoders(NamedTuple):
    evaluate: Callable[
        [Floats], Floats
    ]  # coefficient without each coder [..., item] -> [..., coder]
    work: int
    width: int


def without_each_coder(setup: Setup) -> WithoutCoders | None:
    """Compute the coefficient without each coder; None if undefined or too slow."""
    # Removing a coder changes only the items that the coder labeled. If the coefficient is a
    # function of pooled counts, the counts without the coder are those of the data minus a linear
    # statistic (quick); otherwise the data are counted for each coder.
    request, rows = setup.request, setup.sample.rows
    entry, convention = request.coefficient, request.convention
    reason = before(entry, setup.rows, convention)
    if rows.n_coders < 3 or reason not in ("", "no_complete_items"):
        return None
    plain = convention in CONVENTIONS and convention != "listwise"
    if plain and not entry.by_coder and not rows.repeated:
        rest = without_coders(rows, setup.convention, setup.sums)
        work, width = rest.work(request.distance), rest.width(request.distance, False)
        return WithoutCoders(lambda w: rest.evaluate(w, request).value, work, width)
    if rows.n_coders * len(rows.item) > MOST_ROWS:
        return None
    others = (restrict(rows, rows.coder != coder) for coder in range(rows.n_coders))
    each = [Statistics(other, [request]) for other in others]
    return WithoutCoders(
        lambda w: np.stack([one.evaluate(w)[0].value for one in each], axis=-1),
        work=4 * len(rows.item) * rows.n_coders,
        width=max(one.width for one in each),
    )


GRID = 2001
FEWEST_GROUPS = 3
SMALLEST_ERROR = 1e-3
RULED = ("nobody_gave", "one_coder_gave")


def between_groups(values: Floats, errors: Floats) -> tuple[float, float, float]:
    """Return the posterior median and 95 % interval of the SD between groups."""
    # Random effects (Higgins, Thompson & Spiegelhalter 2009, doi:10.1111/j.1467-985X.2008.00552.x):
    # values are normal around true values with the errors of their draws, these normal around a
    # mean, which is integrated out; the SD is uniform between 0 and 1. NaN below three groups.
    known = np.isfinite(values) & np.isfinite(errors)
    y, s = values[known], np.maximum(errors[known], SMALLEST_ERROR)
    if len(y) < FEWEST_GROUPS:
        return float("nan"), float("nan"), float("nan")
    tau = np.linspace(0, 1, GRID)
    precision = 1 / (s**2 + tau[:, None] ** 2)
    total = precision.sum(1)
    mean = (precision * y).sum(1) / total
    fit = (precision * (y - mean[:, None]) ** 2).sum(1)
    log_p = 0.5 * (np.log(precision).sum(1) - np.log(total) - fit)
    p = np.exp(log_p - log_p.max())
    below = np.cumsum((p[1:] + p[:-1]) / 2)
    below = np.concatenate([[0.0], below / below[-1]])
    low, median, high = np.interp([0.025, 0.5, 0.975], below, tau)
    return float(median), float(low), float(high)


def by_group_of_items(
    setup: Setup, draws: int, seed: int, undefined: Undefined, positive: Hashable | None
) -> Breakdown:
    data = setup.data
    if data.group is None:
        raise NotApplicable(
            "The data have no groups. Name the column of the documents or batches when they are "
            f"read: {Option('group', 'document')}."
        )
    marked = _positive(setup, undefined, positive)
    made = planned(draws, len(data.groups), 4 * len(data))
    rows = [_one_group(setup, g, made, seed, undefined, marked) for g in range(len(data.groups))]
    n, coders, why, points, each_drawn = (list(column) for column in zip(*rows, strict=True))
    point = Evaluated(*(np.array(x) for x in zip(*points, strict=True)))
    columns, drawn = measured(setup, point, np.array(n), np.stack(each_drawn, axis=1))
    columns["note"] = why
    value = point.value
    ruled = np.array([getattr(note, "code", "") in RULED for note in why])
    known = value[np.isfinite(value)]
    mean, mean_draws = float(known.mean()) if len(known) else math.nan, np.empty(0)
    many = len(known) >= GROUPS_RESAMPLED
    if made and many:  # draws of the mean are a Bayesian bootstrap over the groups
        rng = np.random.default_rng([seed, len(value)])
        weights = rng.standard_exponential((made, len(known)))
        mean_draws = weights @ known / weights.sum(1)
    overall: list[Row | dict[str, Any]] = [("mean over groups", mean, mean_draws, len(known))]
    request = setup.request
    if not before(request.coefficient, setup.rows, request.convention):
        # all items together; groups are resampled if there are enough
        sample = make_sample(prepare(data, setup.duplicates, groups=many))
        pooled = float(point_values(sample, [request])[0].value)
        pooled_draws = draw_values(sample, [request], made if sample.n_units > 1 else 0, seed)[0]
        used = int(used_items(setup.rows, request.convention).sum())
        overall.append(("pooled", pooled, pooled_draws, used))
    whole = np.empty(0)
    if len(drawn):
        free = np.where(ruled, np.nan, value)
        n_drawn = np.isfinite(drawn).sum(0)
        apart = np.nansum((drawn - over(np.nansum(drawn, axis=0), n_drawn, 0.0)) ** 2, axis=0)
        errors = np.sqrt(over(apart, np.where(n_drawn > 1, n_drawn, 0)))
        value_of, low, high = between_groups(free, errors)
        spread = {"value": value_of, "low": low, "high": high}
        overall.append({"what": "SD between groups", **spread, "n": int(np.isfinite(free).sum())})
        if len(known):
            # mean over these groups with draws of their items, as the reference for each group
            filled = np.where(ruled, value, drawn)
            whole = over(np.nansum(filled, axis=1), np.isfinite(filled).sum(1))
            if not many:
                overall[0] = ("mean over groups", mean, whole, len(known))
    notes = [repeats_note(data, setup.duplicates)] if data.repeats else []
    if undefined == "label-given":
        decided, ones = int(ruled.sum()), int((value[ruled] == 1).sum())
        notes.append(say("rules", n=decided, of=len(value), ones=ones, zeros=decided - ones))
    if lost := int(np.isnan(value).sum()):
        notes.append(say("groups_without_value", n=lost, of=len(value)))
    if len(drawn):
        notes.append(say("whole_groups_drawn" if many else "items_drawn", known=len(known)))
        notes += [] if many else [say("rough_groups", n=len(value))]
    return finish(
        setup,
        "each group",
        {"group": list(data.groups)},
        {"n": n, "coders": coders, **columns},
        {"value": drawn, "whole": whole},
        overall,
        notes,
    )


def _positive(setup: Setup, undefined: Undefined, positive: Hashable | None) -> int | None:
    """Return the code of the label that the rules use, or None without rules."""
    if undefined != "label-given":
        if not isinstance(undefined, (int, float)):
            raise NotApplicable(
                f'undefined={undefined!r} is unknown. Give a number, or "label-given".'
            )
        if positive is not None:
            raise NotApplicable('positive= belongs to undefined="label-given". Give both.')
        return None
    names = ", ".join(map(quoted, setup.data.labels[:6]))
    if positive is None:
        raise NotApplicable(
            'undefined="label-given" asks whether a label was given at all, so name the label: '
            f"positive= one of {names}."
        )
    (positive,) = plain_names([positive], "label")
    if positive not in setup.data.labels:
        raise NotApplicable(f"positive={positive!r} is not a label. Use one of {names}.")
    return setup.data.labels.index(positive)


def _one_group(
    setup: Setup, code: int, draws: int, seed: int, undefined: Undefined, marked: int | None
) -> tuple[int, int, str, tuple[float, ...], Floats]:
    """Return item and coder counts, note, value with both sides, and draws of one group."""
    assert setup.data.group is not None
    rows = restrict(setup.rows, setup.data.group[setup.rows.item] == code, items=True)
    request = setup.request
    entry = request.coefficient
    point = Evaluated(*np.full(3, np.nan))
    drawn = np.full(draws, np.nan)
    used = used_items(rows, request.convention)
    reason = before(entry, rows, request.convention)
    if not reason:
        sample = make_sample(collapse(rows))
        point = point_values(sample, [request])[0]
        reason = diagnose(entry, rows, request.convention, point)
        if draws and reason in ("", "constant_coder"):
            own = int(np.random.SeedSequence([seed, code]).generate_state(1)[0])
            drawn = draw_values(sample, [request], draws, own)[0]
    note = explain(reason, entry, rows.n_coders, rows.n_labels)
    value = float(point.value)
    who = np.unique(rows.coder[used[rows.item] & (rows.label == marked)])
    if marked is not None and used.any() and len(who) < 2:
        value, drawn = float(not len(who)), np.full(draws, np.nan)
        note = say("one_coder_gave" if len(who) else "nobody_gave", label=setup.data.labels[marked])
    elif reason and reason not in WITH_VALUE and not isinstance(undefined, str):
        value = undefined
    sides = float(point.observed), float(point.expected)
    return int(used.sum()), rows.n_coders, note, (value, *sides), drawn
