"""Model advice for a data set, as text."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from annomodels.data.annotations import Annotations, as_annotations
from annomodels.data.columns import Column, columns, percent
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.data.validation import counted, rated, some
from annomodels.errors import AnnotationError, NotApplicable, Verb
from annomodels.limits import SHARED_ITEMS
from annomodels.models.catalog import class_of
from annomodels.models.encoded import require_fittable
from annomodels.planning.rules import ALSO, FIRST, Facts, facts_of, holding

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit


FEW_ITEMS = 30
# substrings of the names of language models and of coders called judges
_JUDGE = re.compile(
    r"\b(?:gpt|chatgpt|claude|llama|gemini|gemma|mistral|mixtral|qwen|deepseek|palm|falcon|phi|"
    r"command-r|grok|o[134]|llm|judge|model)(?=\b|[-_:./]?\d)",
    re.IGNORECASE,
)


COLUMNS = columns("model", Column("place", "Use", "tag"), "why")


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Summary):
    """Suggested model, with reasons.

    Parameters
    ----------
    title, table, draws, notes, columns
        As of every summary. The table has one row per model that suits: model, place ("first", or
        "compare"), why; the notes are the reasons.
    model
        Name of the model to fit; empty where nothing can be fitted.
    facts
        Facts behind the choice.
    fit
        The fit that was checked, or None.

    Examples
    --------
    >>> import annomodels as am
    >>> am.advise(am.datasets.load("trains")).call
    'am.fit(data, "stack")'
    """

    model: str = field(kw_only=True)
    facts: Facts = field(kw_only=True)
    fit: Fit | None = field(default=None, kw_only=True)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Sentences, those about the model first."""
        return self.notes

    @property
    def call(self) -> str:
        """The Python that fits the model."""
        return self.title if self.model else ""

    def to_dict(self) -> dict[str, object]:
        """Return everything but the fit as plain data."""
        return {
            "model": self.model,
            "call": self.call,
            "reasons": self.reasons,
            "models": self.table.to_dict("records"),
            "facts": asdict(self.facts),
        }

    def __repr__(self) -> str:
        return "\n".join([self.title, *self.notes])


def advise(
    data: Annotations,
    *,
    fit: Fit | None = None,
    check: bool = False,
    seed: int = 1,
    **options: Any,
) -> Advice:
    """Suggest a model for the data, with reasons.

    By default only counted facts are used: labels per coder and per item, number of labels, their
    scale, known gold. With a fit its posterior predictive checks are used too: when they reject
    the model, the next one to try is named.

    Parameters
    ----------
    data
        The annotations, a data frame, or the path of a file.
    fit
        A fit of these data, to check.
    check
        Whether to fit the model that the facts suggest and check it; takes as long as a fit.
    seed, **options
        Of that fit, as for :func:`annomodels.fit`.

    Raises
    ------
    NotApplicable
        When the fit is of other data, or options are given without ``check=True``.

    Examples
    --------
    >>> import annomodels as am
    >>> found = advise(am.datasets.load("crowd"))
    >>> found.model, found.reasons[0][:60]
    ('stack', 'Coders often err on the same items. The stack measures how m')
    """
    if options and not check:
        raise NotApplicable(f"{', '.join(options)}: options of a fit need check=True.")
    facts = facts_of(data := as_annotations(data))
    try:
        require_fittable(data)
    except AnnotationError as error:
        said = tuple(f"{problem.what} {problem.remedy}" for problem in error.problems)
        return _advice("", _table([]), said, facts, None)
    first = holding(FIRST, facts)[0]
    rows = [(rule.model, rule.said(facts)) for rule in (first, *holding(ALSO, facts))]
    ordered = rated(data.labels, data.scale)
    reasons = [first.said(facts), *([ordered] if ordered else []), *_cautions(facts)]
    if class_of(first.model).truth == "class" and not facts.gold:
        reasons.append(_audit(data))
    if fit is not None:
        if fit.tree.attrs["data_fingerprint"] != data.fingerprint:
            raise NotApplicable("The fit is of other data: give a fit of these data.")
    elif check and class_of(first.model).truth == "class":
        from annomodels.fitting.run import fit as run

        fit = run(data, first.model, seed=seed, **options)
    model = first.model
    if fit is not None:
        model, why = _after_check(fit, first.model)
        reasons.insert(0, why)
        if model != first.model:
            rows = [(model, why), *rows]
    table = _table(rows)
    if len(table) > 1:
        names = ", ".join(table["model"][1:])
        reasons.append(f"Worth comparing with {Verb('am.compare', 'annomodels compare')}: {names}.")
    return _advice(model, table, tuple(reasons), facts, fit)


def _advice(
    model: str, table: pd.DataFrame, reasons: tuple[str, ...], facts: Facts, fit: Fit | None
) -> Advice:
    title = f'am.fit(data, "{model}")' if model else "No model can be fitted."
    return Advice(title, table, notes=reasons, columns=COLUMNS, model=model, facts=facts, fit=fit)


def _after_check(fit: Fit, suggested: str) -> tuple[str, str]:
    """Return the next model after the checks of a fit, and the reason."""
    from annomodels.summaries.trust.predictive import aspects, next_model

    name, data = fit.model.name, fit.data
    rejected = [seen.name for seen in aspects(fit.tree, data)[1] if seen.state != "fine"]
    if not rejected:
        if suggested != name:
            return name, f"The model {name} reproduces the labels; {suggested} may suit as well."
        return name, f"The model {name} reproduces the labels: its checks reject nothing."
    missed = f"Not reproduced: {'; '.join(rejected)}."
    if fit.model.stacks:
        return name, f"P(truth) of the stack allows for what its coders leave unexplained. {missed}"
    other = next_model(name, rejected, data.n_labels, data.scale)
    if other is None:
        return name, (
            f"The model {name} does not reproduce the data, and no other model of this package is "
            f"known to fix that. Look at the checks. {missed}"
        )
    return other.values["other"], f"{other.sentence} {missed}"


def _audit(data: Annotations) -> str:
    """State the need for an expert, especially if coders are language models."""
    judges = [coder for coder in data.coders if _JUDGE.search(label_text(coder))]
    draw = Verb("am.audit(fit, 60)", "annomodels audit FIT --size 60")
    estimate = Verb("am.estimate", "annomodels estimate")
    if 2 * len(judges) > data.n_coders:
        return (
            f"The coders look like language models ({some(judges, label_text)}): such judges make "
            f"the same errors, which no model can detect. Let people judge some items: {draw} "
            f"draws them. {estimate} then gives reliable pass rates and the effective number of "
            "independent judges."
        )
    return (
        f"No true labels are known: an error that all coders share cannot be detected. {draw} "
        f"draws items for an expert, and {estimate} then estimates how many labels are wrong."
    )


def _cautions(facts: Facts) -> list[str]:
    """Describe data with little information for any model."""
    said = []
    if facts.shared < SHARED_ITEMS:
        said.append(
            f"Only {percent(facts.shared, 0)} of the items have labels of two coders, and "
            "estimates of coder quality rest on these items."
        )
    if facts.items < FEW_ITEMS:
        said.append(
            f"Few items ({facts.items}): every model leaves wide intervals, and the prior matters."
        )
    if facts.repeats:
        said.append(
            f"{counted(facts.repeats, 'label repeats', 'labels repeat')} an item for the same "
            "coder; all models treat repeats as independent evidence."
        )
    return said


def _table(rows: list[tuple[str, str]]) -> pd.DataFrame:
    """Tabulate one row per model, each once, the first one first."""
    once = dict(reversed(rows))
    names = dict.fromkeys(name for name, _ in rows)
    return pd.DataFrame(
        [(m, "compare" if n else "first", once[m]) for n, m in enumerate(names)],
        columns=["model", "place", "why"],
    )
