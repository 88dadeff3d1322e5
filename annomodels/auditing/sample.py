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
    AuditDesign,
    Items,
    allocate,
    calibration_prior,
    of_these_data,
    read_design,
    say,
)
from annomodels.auditing.estimator import forecast_widths, needed
from annomodels.auditing.spans import Documents, is_of_spans, refuse_of_spans
from annomodels.data.names import places_of
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, NotApplicable, Option, Verb, valid_seed

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit
    from annomodels.spans.fit import SpanFit


def audited(fit: Fit | SpanFit) -> Items:
    """Return what can be audited of a fit; refuse fits that have nothing to audit."""
    if is_of_spans(fit):
        return Documents(fit)
    if fit.model.truth != "class":
        raise NotApplicable("Nothing to audit here: the truth of an item is not a class.")
    if reason := fit.unsupported("gold"):
        raise NotApplicable(f"Nothing to audit here: {reason}.")
    return Items(fit)


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
    design: AuditDesign = field(kw_only=True)

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
    of = audited(fit)
    if is_of_spans(fit):
        refuse_of_spans(width=width, among=among)
    word = of.word
    of_size(size, width, word)
    if earlier is None:
        chosen = None
        if among is not None:
            chosen = tuple(of.names[n] for n in places_of(of.names, among, "item"))
        design = AuditDesign(of.mark, of.labels, 0, (), (), (), chosen)
    else:
        if among is not None:
            raise NotApplicable(
                f"Later rounds draw from the items of the first round: leave out {Option('among')}."
            )
        design = designed(earlier, of)
        if design.fingerprint != of.mark:
            what = "The earlier rounds were drawn from another fit of these data."
            remedy = (
                "Use the fit that the earlier rounds were drawn from, or start over "
                f"{Verb('without earlier=', 'with annomodels audit --start-over')}."
            )
            raise AnnotationError(what, "earlier", remedy)
    part, had = of.open(design.among), design.items(of.names)
    room = int(part.sum()) - len(had)
    if room < 1:
        what = f"All {word}s that can be judged have been drawn."
        remedy = f"Estimate from the judged {word}s."
        if not len(had):
            what = f"No {word} can be judged: the truth of each is known, or none was chosen."
            remedy = f"Audit {word}s of unknown truth."
        raise AnnotationError(what, remedy=remedy)
    if size is not None and size > room:
        already = counted(len(had), f"{word} is", f"{word}s are")
        taken = f": {already} already drawn" if len(had) else ""
        what = f"The audit asks for {counted(size, word)}, but only {room:,} can be drawn{taken}."
        raise AnnotationError(what, remedy=f"Ask for at most {room:,}.")
    model = None if is_of_spans(fit) else (of.p, part, calibration_prior(fit))
    forecast = [] if model is None else forecast_widths(*model)
    wanted = size or of.usual
    if width is not None:
        wanted = max(needed(forecast, width, int(part.sum())) - len(had), 1)
    number = min(wanted, room)
    design = design if design.first else replace(design, first=number)
    strata = of.strata(design)
    rng = np.random.default_rng([valid_seed(seed), len(design.rounds)])
    before = strata.count(had).astype(np.int64)
    more = allocate(strata, number, before)
    free = strata.stratum.copy()
    free[had] = -1
    new = np.concatenate(
        [rng.choice(np.flatnonzero(free == s), n, replace=False) for s, n in enumerate(more)]
    )
    new = rng.permutation(new)
    names = tuple(of.names[item] for item in new)
    design = replace(design, seeds=(*design.seeds, seed), rounds=(*design.rounds, names))
    every = design.items(of.names)
    chance = (strata.count(every) / strata.size)[strata.stratum[every]]
    design = replace(design, chances=tuple(chance.tolist()))
    drawn = pd.DataFrame(
        {
            word: [of.names[item] for item in every],
            "round": np.repeat(np.arange(len(design.rounds)) + 1, [len(r) for r in design.rounds]),
            "stratum": strata.stratum[every] + 1,
            "chance": chance,
        }
    )
    table, told = of.to_judge(new)
    table[AUDIT] = design.data
    notes, together = [told], counted(len(every), word)
    if len(every) > number:
        notes.append(say("rounds", together=together))
    for _, each, alone in [] if model is None else forecast_widths(*model, (len(every),)):
        notes.append(say("forecast", together=together, width=100 * each, alone=100 * alone))
    if width is not None:
        notes.append(say("for_width", width=100 * width, together=together))
    if number < wanted:
        notes.append(say("few_left", left=counted(number, word)))
    plan = pd.DataFrame(forecast, columns=["size", "width", "width_audit_alone"])
    title = f"{counted(number, word)} to be judged"
    return Audit(title, table, notes=tuple(notes), plan=plan, drawn=drawn, design=design)


def of_size(size: int | None, width: float | None, word: str) -> None:
    if size is not None and width is not None:
        raise NotApplicable("Give a size or a width, not both.")
    if size is not None and size < 1:
        raise NotApplicable(f"The size is {size}. Give a number of {word}s, such as 60.")
    if width is not None and not 0 < width < 1:
        raise NotApplicable(f"The width is {width}. Give one between 0 and 1, such as 0.1.")


def designed(given: Audit | AuditDesign | str | os.PathLike[str], of: Items) -> AuditDesign:
    """Return the design of an audit, or of its file; it must be of these data."""
    if isinstance(given, Audit):
        given = given.design
    if isinstance(given, AuditDesign):
        of_these_data(given.data, of, "audit")
        return given
    return read_design(given, of)
