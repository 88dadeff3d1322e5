"""Expert answers on audited items: reading, and checks against the fit and the sample."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.auditing.design import AuditDesign, Strata, places, say
from annomodels.auditing.estimator import Observed
from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text, plain_mapping
from annomodels.data.validation import counted, is_blank, number_or_nan, some
from annomodels.errors import AnnotationError, Option, Problem, Verb
from annomodels.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

# maximum factor between the sum of the sampling weights and the number of items
MOST_OFF = 1.5


@dataclass(frozen=True, eq=False)
class Answers:
    """Truth of audited items by code, and notes on omitted items."""

    item: Ints  # sampled items
    truth: Ints
    extra: Ints  # judged items outside the sample
    extra_truth: Ints
    notes: tuple[str, ...]

    def as_extra(self) -> Answers:
        """Return a copy whose items are all outside the sample."""
        items = np.concatenate([self.item, self.extra])
        truth = np.concatenate([self.truth, self.extra_truth])
        none = np.empty(0, dtype=np.int64)
        return replace(self, item=none, truth=none, extra=items, extra_truth=truth)


def answers_of(
    fit: Fit,
    given: Mapping[Any, Any] | str | os.PathLike[str],
    design: AuditDesign | None,
) -> Answers:
    """Read answers, check them against the fit and the sample, and code them."""
    found = read_answers(fit.data, given)
    items, labels = places(fit.data.items), places(fit.data.labels)
    known: dict[int, int] = {}
    # 1 and "1" can be the same item
    twice = [i for i, x in found.items() if known.setdefault(items[i], labels[x]) != labels[x]]
    if twice:
        names = some([*dict.fromkeys(fit.data.items[items[item]] for item in twice)])
        what = f"{counted(len(twice), 'item')} with more than one truth: {names}."
        raise AnnotationError(what, _source(given), "Give one answer per item.")
    codes, truth = (np.array(list(part), dtype=np.int64) for part in (known, known.values()))
    notes: list[str] = []
    is_open = fit.data.known[codes] < 0
    if not is_open.all():
        notes.append(say("known", n=int((~is_open).sum())))
    codes, truth = codes[is_open], truth[is_open]
    drawn = np.ones(len(codes), dtype=bool)
    if design is not None:
        drawn = np.isin(codes, design.items(fit.data.items))
        notes += _of_draw(fit, design, codes, drawn)
    if not drawn.any():
        what = "None of the judged items is among those that were drawn."
        if not is_open.any():
            what = "The fit already used the true labels of all these items, so they test nothing."
        remedy = f"Judge the items that {Verb('am.audit', 'annomodels audit')} drew from this fit."
        raise AnnotationError(what, _source(given), remedy)
    if len(set(truth[drawn].tolist())) == 1 and fit.data.n_labels > 1:
        only = label_text(fit.data.labels[int(truth[drawn][0])])
        notes.append(say("one_label", n=int(drawn.sum()), only=only))
    return Answers(codes[drawn], truth[drawn], codes[~drawn], truth[~drawn], tuple(notes))


def read_answers(
    data: Annotations, given: Mapping[Any, Any] | str | os.PathLike[str]
) -> Mapping[Any, Any]:
    """Read the truth of judged items; items and labels must be those of the data."""
    from annomodels.io.mappings import truths_from

    found: Mapping[Any, Any]
    if isinstance(given, Mapping):
        found = plain_mapping(given, "item", "label")
    else:
        found = truths_from(given, data.items)
    found = {item: truth for item, truth in found.items() if not is_blank(truth)}
    if not found:
        what = "No answers: no item has a label."
        raise AnnotationError(what, _source(given), "Fill in the column label for each item.")
    items, labels = places(data.items), places(data.labels)
    problems = []
    unknown = [item for item in found if item not in items]
    if unknown:
        what = f"{counted(len(unknown), 'judged item')} not in the data: {some(unknown)}."
        remedy = f"Use the item names of the data, such as {some(list(data.items)[:3])}."
        problems.append(Problem(what, _source(given), remedy))
    strange = {truth: item for item, truth in found.items() if truth not in labels}
    if strange:
        what = f"{counted(len(strange), 'unknown label')}: {some(list(strange))}."
        where = f"{_source(given)}, item {label_text(next(iter(strange.values())))}"
        remedy = (
            f"Write one of {some(list(data.labels))}; if another label is right, read the data "
            f"with {Option('labels', [...])} and fit again; if it cannot be decided, leave the "
            "cell empty."
        )
        problems.append(Problem(what, where, remedy))
    if problems:
        raise AnnotationError(problems)
    return found


def _source(given: object) -> str:
    from annomodels.io.border import name_of

    return name_of(given) if isinstance(given, (str, os.PathLike)) else "audit"


def _of_draw(fit: Fit, design: AuditDesign, codes: Ints, drawn: Bools) -> list[str]:
    """Return notes on drawn items without an answer, and on judged items that were not drawn."""
    notes: list[str] = []
    rounds = np.repeat(np.arange(len(design.rounds)), [len(part) for part in design.rounds])
    judged = np.bincount(rounds, np.isin(design.items(fit.data.items), codes), len(design.rounds))
    if judged.any() and not judged.all():
        at = int(np.flatnonzero(judged == 0)[0])
        what = f"Round {at + 1} of the audit is empty: 0 of {len(design.rounds[at])} judged."
        anew = Verb("without earlier=", "with annomodels audit --start-over")
        remedy = f"Give its answers too, or draw new items {anew}."
        raise AnnotationError(what, "audit", remedy)
    missing = [fit.data.items[n] for n in np.setdiff1d(design.items(fit.data.items), codes)]
    if missing:
        notes.append(say("not_judged", n=len(missing), names=some(missing, label_text)))
    if not drawn.all():
        extra = [fit.data.items[n] for n in codes[~drawn]]
        notes.append(say("not_drawn", n=len(extra), names=some(extra, label_text)))
    return notes


def counts_of(
    answers: Answers,
    strata: Strata,
    weights: Floats | None,
    cluster: Ints | None,
    alike: bool,
) -> tuple[Observed, Floats]:
    """Return the count of each audited item with a model, and its weight without one."""
    # The counts of a stratum sum to its effective sample size, given weights and clusters (Kish
    # 1965); within a stratum they are proportional to the weights.
    n, stratum = len(answers.item), strata.stratum[answers.item]
    if weights is not None:
        alone = weights
    elif alike:
        alone = np.ones(n)
    else:
        alone = (strata.size / np.maximum(strata.count(answers.item), 1.0))[stratum]
    each = np.ones(n) if weights is None else weights
    mine = np.arange(n) if cluster is None else apart(cluster[answers.item])
    _, piece = np.unique(stratum * (n + 1) + mine, return_inverse=True)
    of_piece = np.bincount(piece, each)
    sums = np.bincount(stratum, each, len(strata))
    squares = np.bincount(stratum, each * of_piece[piece], len(strata))
    count = each * (sums / np.maximum(squares, 1e-300))[stratum]
    if n:
        # reduces the counts for clusters in several strata
        count *= (np.bincount(piece, alone) ** 2).sum() / (np.bincount(mine, alone) ** 2).sum()
    return Observed(answers.item, answers.truth, count), alone


def apart(cluster: Ints) -> Ints:
    """Code clusters from 0; an item without one (-1) is a separate cluster."""
    own = cluster.max(initial=-1) + 1 + np.arange(len(cluster))
    return np.unique(np.where(cluster >= 0, cluster, own), return_inverse=True)[1]


def weights_of(fit: Fit, answers: Answers, given: Mapping[Any, Any], total: int) -> Floats:
    """Return the sampling weight of each audited item, shape [audited]."""
    place = places(fit.data.items)
    by_code = {place[item]: value for item, value in given.items() if item in place}
    names = [fit.data.items[n] for n in answers.item]
    lacking = [name for name, n in zip(names, answers.item, strict=True) if n not in by_code]
    if lacking:
        what = f"{counted(len(lacking), 'audited item')} without a weight: {some(lacking)}."
        remedy = "Give the inverse of each item's probability of being drawn."
        raise AnnotationError(what, "weights", remedy)
    values = [by_code[int(n)] for n in answers.item]
    wrong = [
        name
        for name, value in zip(names, values, strict=True)
        if not 0 < number_or_nan(value) < np.inf
    ]
    if wrong:
        what = f"{counted(len(wrong), 'weight')} that {'is' if len(wrong) == 1 else 'are'} not a "
        what += f"number above 0: for {some(wrong)}."
        raise AnnotationError(what, "weights", "Give 1 / probability of being drawn.")
    weights = np.array([float(value) for value in values])
    if not 1 / MOST_OFF <= weights.sum() / total <= MOST_OFF:
        what = (
            f"The weights do not match the data: they add up to {weights.sum():,.6g}, but there "
            f"are {total:,} items."
        )
        remedy = (
            "A weight is the inverse of the probability of being drawn: if 60 of 600 items are "
            "drawn with equal chances, each has the weight 10."
        )
        raise AnnotationError(what, "weights", remedy)
    return weights
