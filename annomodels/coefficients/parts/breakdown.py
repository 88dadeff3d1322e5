"""The verb: agreement by label, item, coder, pair of coders or group."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Literal, get_args

from annomodels.coefficients.agreement import Convention, Resample
from annomodels.coefficients.metrics import DistanceLike
from annomodels.coefficients.parts.coders import by_coder
from annomodels.coefficients.parts.groups import Undefined, by_group_of_items
from annomodels.coefficients.parts.items import by_item
from annomodels.coefficients.parts.labels import by_label
from annomodels.coefficients.parts.pairs import by_pair
from annomodels.coefficients.parts.results import Breakdown
from annomodels.coefficients.parts.setup import set_up
from annomodels.coefficients.rows import Duplicates
from annomodels.data.annotations import Annotations
from annomodels.errors import NotApplicable, valid_seed

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
    r"""Agreement taken apart, with an interval for each part and posteriors of their differences.

    Parameters
    ----------
    data
        Who labelled which item how.
    by
        "label": each label against the rest, so nominal; specific agreement, and the coefficient
        after the other labels are merged (with K the kappa of a category, with alpha the category
        alpha).
        "item": agreement of the item's labels, its share of the observed disagreement, what it
        adds to the coefficient, and the chance that two further coders agree on it. "coder": the
        coefficient of the coder's pairs with all others, and of the data without the coder, with
        the difference. "pair": each two coders on the items both labelled; pairs that share none
        are left out. "group": each document, genre or batch, their mean, the pooled value, and
        the standard deviation between them.
    name
        Name or alias of a coefficient.
    distance, missing, duplicates, labels
        As in :func:`~annomodels.agreement`.
    undefined
        Value for groups where the coefficient is undefined. "label-given" (Kopec & Ogrodniczuk
        2014): 1 where nobody gave the label `positive`, 0 where one coder alone did; a note says
        how many groups a rule decided.
    positive
        The label the rules are about.
    draws, seed
        Number and seed of the draws of the sampling posterior; fewer are made where there are
        thousands of parts, and a note says so.
    resample
        What is exchangeable, as in :func:`~annomodels.agreement`. Within a group it is the items.

    Returns
    -------
    A :class:`~annomodels.coefficients.parts.results.Breakdown`.

    Raises
    ------
    NotApplicable
        When the coefficient cannot be taken apart this way, or the data have no such parts.
    AnnotationError
        When labels are not in the label set, a table is no distance, or repeats are an error.

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
