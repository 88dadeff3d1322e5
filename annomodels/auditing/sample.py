"""Random samples of items for an expert to judge, allocated for narrow intervals."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from annomodels.auditing.design import (
    Design,
    allocate,
    beliefs,
    calibration_prior,
    fingerprint,
    labels_mark,
    names_of,
    of_these_data,
    open_items,
    read_design,
)
from annomodels.auditing.estimator import forecast_widths, needed
from annomodels.auditing.spans import is_of_spans, refuse_of_spans, to_judge
from annomodels.data.names import places_of
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, NotApplicable, Option, Problem, Verb, valid_seed
from annomodels.limits import AUDIT_DOCUMENTS

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit
    from annomodels.spans.fit import SpanFit

DEFAULT_SIZE = 60

AUDIT = "audit"
"""Column of the items to judge that tells their table from other true labels: a mark of the data.

The chances of the items are in the design; without it the judged items show nothing of the others.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Summary):
    """Items for an expert to judge, and their sampling design.

    Parameters
    ----------
    title, draws, notes, columns
        As in every summary; there are no draws.
    table
        One row per item of the last round, in random order: item, text if the data have texts, and
        label, which is empty. It does not show the model's estimates.
    plan
        One row per audit size: the expected width of the 95 % interval of the accuracy of the gold
        labels, and its width by an audit alone.
    drawn
        One row per item of all rounds: item, round, stratum, and the selection probability in its
        stratum.
    design
        The rounds, for saving.
    """

    plan: pd.DataFrame = field(kw_only=True)
    drawn: pd.DataFrame = field(kw_only=True)
    design: Design = field(kw_only=True)

    def __len__(self) -> int:
        return len(self.drawn)

    def __repr__(self) -> str:
        return "\n".join([self.title, *self.notes])

    def save(self, path: str | os.PathLike[str], force: bool = False) -> Path:
        """Save the sampling design, which :func:`annomodels.estimate` needs.

        Parameters
        ----------
        path
            Path of the JSON file.
        force
            Whether to replace an existing file.

        Raises
        ------
        OutputError
            If the file exists, or cannot be written.
        """
        return self.design.save(path, force)


def audit(
    fit: Fit | SpanFit,
    size: int | None = None,
    *,
    width: float | None = None,
    seed: int = 0,
    among: Iterable[Hashable] | None = None,
    earlier: Any = None,
) -> Any:
    r"""Draw items for an expert to judge, so that the numbers of a fit can be corrected.

    Strata combine the predicted label and the probability that it is wrong. Their sample sizes are

    .. math:: n_s \propto \sum_{i \in s} \sqrt{q_i (1 - q_i)},

    where q is the probability that the label of the item is wrong. Items of a stratum have equal
    probabilities. So :func:`annomodels.estimate` can allow for errors of the model.

    Parameters
    ----------
    fit
        A fit of classes in memory, or of spans; for spans, documents are drawn.
    size
        Number of items, by default 60, or of documents, by default 20.
    width
        Instead of a size: the target width of the 95 % interval of the accuracy of the gold
        labels, between 0 and 1.
    seed
        Seed of the draw.
    among
        Items that can be judged; by default all items of unknown truth.
    earlier
        An earlier audit, or its file: the new round draws other items.

    Returns
    -------
    Audit
        Of spans it has a row for each document, without a plan.

    Raises
    ------
    NotApplicable
        If the fit has no classes in memory, or the size or width is out of range.
    AnnotationError
        If no item is left to draw, or the earlier rounds are of another fit.

    References
    ----------
    J. Neyman (1934). On the two different aspects of the representative method. Journal of the
    Royal Statistical Society 97(4), 558-625, doi:10.2307/2342192.

    Examples
    --------
    >>> import annomodels as am
    >>> made = am.simulate(items=300, coders=12, seed=1)
    >>> fit = am.fit(made.annotations, draws=100, warmup=100, chains=2, seed=1)
    >>> drawn = am.audit(fit, 40, seed=1)
    >>> len(drawn), list(drawn.table.columns), set(drawn.table["label"])
    (40, ['item', 'label', 'audit'], {''})
    """
    word = "document" if is_of_spans(fit) else "item"
    if is_of_spans(fit):
        refuse_of_spans(width=width, among=among)
    else:
        auditable(fit)
    of_size(size, width, word)
    units = names_of(fit)
    if earlier is None:
        chosen = None if among is None else tuple(units[n] for n in places_of(units, among, "item"))
        design = Design(fingerprint(fit), labels_mark(fit), 0, (), (), (), chosen)
    else:
        if among is not None:
            raise NotApplicable(
                f"Later rounds draw from the items of the first round: leave out {Option('among')}."
            )
        design = designed(earlier, fit)
        if design.fingerprint != fingerprint(fit):
            what = "The earlier rounds were drawn from another fit of these data."
            remedy = (
                "Use the fit that the earlier rounds were drawn from, or start over "
                f"{Verb('without earlier=', 'with annomodels audit --start-over')}."
            )
            raise AnnotationError(Problem(what, "earlier", remedy))
    part, had = open_items(fit, design.among), design.items(fit)
    room = int(part.sum()) - len(had)
    if room < 1:
        what = f"All {word}s that can be judged have been drawn."
        raise AnnotationError(Problem(what, remedy=f"Estimate from the judged {word}s."))
    if size is not None and size > room:
        already = counted(len(had), f"{word} is", f"{word}s are")
        taken = f": {already} already drawn" if len(had) else ""
        what = f"The audit asks for {counted(size, word)}, but only {room:,} can be drawn{taken}."
        raise AnnotationError(Problem(what, remedy=f"Ask for at most {room:,}."))
    forecast, wanted = [], size or AUDIT_DOCUMENTS
    if not is_of_spans(fit):
        forecast = forecast_widths(beliefs(fit), part, calibration_prior(fit))
        wanted = size or DEFAULT_SIZE
    if width is not None:
        wanted = max(needed(forecast, width, int(part.sum())) - len(had), 1)
    number = min(wanted, room)
    design = design if design.first else replace(design, first=number)
    strata = design.strata(fit)
    rng = np.random.default_rng([valid_seed(seed), len(design.rounds)])
    before = strata.count(had).astype(np.int64)
    more = allocate(strata, number, before)
    free = strata.stratum.copy()
    free[had] = -1
    new = np.concatenate(
        [rng.choice(np.flatnonzero(free == s), n, replace=False) for s, n in enumerate(more)]
    )
    new = rng.permutation(new)
    names = tuple(units[item] for item in new)
    design = replace(design, seeds=(*design.seeds, seed), rounds=(*design.rounds, names))
    every = design.items(fit)
    chance = (strata.count(every) / strata.size)[strata.stratum[every]]
    design = replace(design, chances=tuple(chance.tolist()))
    drawn = pd.DataFrame(
        {
            word: [units[item] for item in every],
            "round": np.repeat(np.arange(len(design.rounds)) + 1, [len(r) for r in design.rounds]),
            "stratum": strata.stratum[every] + 1,
            "chance": chance,
        }
    )
    plan = pd.DataFrame(forecast, columns=["size", "width", "width_audit_alone"])
    title = counted(number, word) + " to be judged"
    if is_of_spans(fit):
        table, told = to_judge(fit, [str(name) for name in names])
        table[AUDIT] = design.data
        return Audit(title, table, notes=(told,), plan=plan, drawn=drawn, design=design)
    table = pd.DataFrame({"item": names})
    if fit.data.texts:
        table["text"] = [fit.data.texts[item] for item in new]
    table["label"] = ""
    table[AUDIT] = design.data
    expected = forecast_widths(beliefs(fit), part, calibration_prior(fit), (len(every),))
    total = int(open_items(fit).sum())
    notes = [
        f"{counted(number, 'item')} of {total:,} to be judged, drawn at random with known chances; "
        "the model's estimates are not shown. Judge all of them, and leave a label empty only if "
        "it cannot be decided."
    ]
    together = counted(len(every), "item")
    if len(every) > number:
        notes.append(f"With earlier rounds, {together} in all.")
    if expected:
        (_, each, alone), *_ = expected
        notes.append(
            f"With {together} the 95 % interval of the accuracy of the gold labels should be about "
            f"{100 * each:.0f} percentage points wide; with the audit alone {100 * alone:.0f}."
        )
    if width is not None:
        notes.append(f"For a width of {100 * width:g} points: about {together}.")
    if number < wanted:
        notes.append(f"Only {counted(number, 'item')} left to draw.")
    return Audit(title, table, notes=tuple(notes), plan=plan, drawn=drawn, design=design)


def auditable(fit: Fit) -> None:
    """Refuse fits that have nothing to audit."""
    if fit.model.truth != "class":
        raise NotApplicable("Nothing to audit here: the truth of an item is not a class.")
    if reason := fit.unsupported("gold"):
        raise NotApplicable(f"Nothing to audit here: {reason}.")


def of_size(size: int | None, width: float | None, word: str) -> None:
    """Refuse sizes out of range."""
    if size is not None and width is not None:
        raise NotApplicable("Give a size or a width, not both.")
    if size is not None and size < 1:
        raise NotApplicable(f"The size is {size}. Give a number of {word}s, such as 60.")
    if width is not None and not 0 < width < 1:
        raise NotApplicable(f"The width is {width}. Give one between 0 and 1, such as 0.1.")


def designed(given: Audit | Design | str | os.PathLike[str], fit: Fit | SpanFit) -> Design:
    """Return the design of an audit, or of its file; it must be of these data."""
    if isinstance(given, Audit):
        given = given.design
    if isinstance(given, Design):
        of_these_data(given.data, fit, "audit")
        return given
    return read_design(given, fit)
