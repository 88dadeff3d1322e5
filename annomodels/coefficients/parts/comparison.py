"""Difference of a coefficient between two data sets: two studies, or two rounds of one."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence

import numpy as np

from annomodels.coefficients.agreement import Convention, Resample, by_group
from annomodels.coefficients.distances import DistanceLike
from annomodels.coefficients.parts.results import Difference
from annomodels.coefficients.parts.setup import Setup, collect, refuse_unfit, set_up
from annomodels.coefficients.reasons import before, diagnose, explain, say, unit_notes
from annomodels.coefficients.rows import Duplicates, ItemRows, make_sample, restrict
from annomodels.coefficients.sums import Statistics, draw_values, point_values
from annomodels.coefficients.tables import Evaluated
from annomodels.data.annotations import Annotations
from annomodels.errors import NotApplicable
from annomodels.types import Floats


def compare_agreement(
    first: Annotations,
    second: Annotations,
    name: str = "alpha",
    *,
    same_items: bool = False,
    distance: DistanceLike | None = None,
    missing: Convention | None = None,
    duplicates: Duplicates = "first",
    draws: int = 2000,
    seed: int = 0,
    resample: Resample = "auto",
    labels: Sequence[Hashable] | None = None,
) -> Difference:
    r"""Compute the difference of a coefficient between two data sets, first minus second.

    Parameters
    ----------
    first, second
        Two studies, or two rounds of the same study: before and after the guidelines changed.
    name
        Name or alias of a coefficient.
    same_items
        Whether items with the same name are the same items. Then they share their weights in every
        draw, so item difficulty common to both rounds cancels, and the interval is shorter if
        the rounds are correlated. Items of only one round are allowed.
    distance, missing, duplicates, labels
        As in :func:`~annomodels.agreement`, for both.
    draws, seed
        Number and seed of the draws.
    resample
        As in :func:`~annomodels.agreement`; "auto" draws groups if both data sets have them.

    Returns
    -------
    A :class:`~annomodels.coefficients.parts.results.Difference`: value, interval,
    P(difference > 0).

    Raises
    ------
    NotApplicable
        If the coefficient is unknown or undefined for one of the data sets, or no item has the
        same name although `same_items` is True.

    Examples
    --------
    The same 45 patients judged by the first two and the last two anesthetists:

    >>> import annomodels as am
    >>> data = am.datasets.load("anesthesia")
    >>> one, two = data.select(coders=data.coders[:2]), data.select(coders=data.coders[3:])
    >>> am.coefficients.compare_agreement(one, two, "kappa", same_items=True, draws=500)
    Cohen's kappa, first - second = -0.02... (-0... to 0...) · P(> 0) = ...
    """
    if resample == "auto":
        grouped = all(by_group(data, "auto") for data in (first, second))
        resample = "groups" if grouped else "items"
    both = [
        set_up(data, name, distance, missing, duplicates, resample, labels, whole=True)
        for data in (first, second)
    ]
    points: list[Evaluated] = []
    notes: list[str] = []
    drawn: list[Floats] = []
    for which, setup in zip(("first", "second"), both, strict=True):
        refuse_unfit(setup)
        asked = setup.request.coefficient, setup.rows, setup.request.convention
        reason = before(*asked)
        if reason:
            why = explain(reason, asked[0], setup.rows.n_coders)
            raise NotApplicable(
                f"{setup.request.title} of the {which} data set is undefined. {why}"
            )
        points += point_values(setup.sample, [setup.request])
        if diagnose(*asked, points[-1]) == "few_shared_items":
            draws, notes = 0, [explain("few_shared_items", asked[0], setup.rows.n_coders)]
    common = len(set(first.items) & set(second.items))
    if same_items:
        if not common:
            raise NotApplicable(
                "same_items=True, but no item has the same name in both data sets. "
                "Leave it out if they are different items."
            )
        drawn = _together(both, draws, seed)
        notes.append(say("common_items", n=common))
    else:
        for n, setup in enumerate(both):
            own = int(np.random.SeedSequence([seed, n]).generate_state(1)[0])
            drawn += draw_values(setup.sample, [setup.request], draws, own)
        if common:
            notes.append(say("same_names", n=common))
    if draws:
        notes += dict.fromkeys(text for one in both for text in unit_notes(one.data, one.rows))
    if both[0].data.n_labels != both[1].data.n_labels:
        sizes = " and ".join(str(setup.data.n_labels) for setup in both)
        notes.append(say("label_sets", sizes=sizes))
    return Difference(
        f"{both[0].request.title}, first - second",
        float(points[0].value - points[1].value),
        drawn[0] - drawn[1],
        tuple(notes),
    )


def _together(both: list[Setup], draws: int, seed: int) -> list[Floats]:
    """Draw both data sets from one set of items, with separate coders."""
    one, two = both
    sample = make_sample(_joint(one, two))
    border = one.rows.n_coders
    parts = []
    for setup, mine in ((one, sample.rows.coder < border), (two, sample.rows.coder >= border)):
        rows = restrict(sample.rows, mine)
        # Chance items take their labels from the larger label set.
        k = setup.rows.n_labels
        rows = dataclasses.replace(rows, label=rows.label % k, n_labels=k)
        parts.append(Statistics(rows, [setup.request]))

    def measure(weights: Floats) -> dict[str, Evaluated]:
        return {str(n): part.evaluate(weights)[0] for n, part in enumerate(parts)}

    width = sum(part.width for part in parts)
    return list(collect(sample, measure, draws, seed, width).values())


def _joint(one: Setup, two: Setup) -> ItemRows:
    """Join the rows of both data sets; items with the same name are one item."""
    names = dict.fromkeys((*one.data.items, *two.data.items))
    code = {name: place for place, name in enumerate(names)}
    places = [np.array([code[name] for name in setup.data.items]) for setup in (one, two)]
    item = np.concatenate([places[0][one.rows.item], places[1][two.rows.item]])
    coder = np.concatenate([one.rows.coder, two.rows.coder + one.rows.n_coders])
    label = np.concatenate([one.rows.label, two.rows.label])
    order = np.lexsort((coder, item))
    unit = None
    if one.rows.unit is not None and two.rows.unit is not None:
        group = _groups(two.data) | _groups(one.data)
        number = {name: n for n, name in enumerate(dict.fromkeys(group[name] for name in names))}
        unit = np.array([number[group[name]] for name in names], dtype=np.int64)
    return dataclasses.replace(
        one.rows,
        item=item[order],
        coder=coder[order],
        label=label[order],
        n_items=len(code),
        n_coders=one.rows.n_coders + two.rows.n_coders,
        n_labels=max(one.rows.n_labels, two.rows.n_labels),
        times=np.ones(len(code)),
        unit=unit,
    )


def _groups(data: Annotations) -> dict[Hashable, Hashable]:
    codes = np.asarray(data.group).tolist()
    return {item: data.groups[code] for item, code in zip(data.items, codes, strict=True)}
