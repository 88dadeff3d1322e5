"""Model advice for a data set, as text, and the uses that the data support."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from annomodels.data.annotations import Annotations, as_annotations
from annomodels.data.columns import Column, columns, percent
from annomodels.data.messages import messages_beside, note
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.data.validation import counted, rated, some
from annomodels.errors import AnnotationError, NotApplicable, Note, Verb
from annomodels.fitting.fit import Fit
from annomodels.fitting.run import default_model
from annomodels.limits import (
    CODER_MATRIX,
    CODERS_COMPARED,
    CONTESTED_LABELS,
    ITEM_DIFFICULTY,
    KNOWN_TESTED,
    SHARED_ITEMS,
)
from annomodels.models.catalog import MODELS, OTHERS, class_of, is_stack
from annomodels.models.encoded import require_fittable
from annomodels.summaries.trust.findings import scale_of

say = partial(note, messages_beside(__file__))


@dataclass(frozen=True)
class DataFacts:
    items: int
    coders: int
    labels: int
    annotations: int
    per_item: float
    per_coder: float
    shared: float
    scale: str
    gold: int
    repeats: int
    usual: str = "stack"
    most: int = 0


def facts_of(data: Annotations) -> DataFacts:
    n = np.diff(data.without_repeats().starts)
    busy = np.bincount(data.coder, minlength=data.n_coders)
    return DataFacts(
        items=data.n_items,
        coders=data.n_coders,
        labels=data.n_labels,
        annotations=len(data),
        per_item=float(np.median(n)),
        per_coder=float(np.median(busy[busy > 0])),
        shared=float((n >= 2).mean()),
        scale=data.scale,
        gold=int((data.known >= 0).sum()),
        repeats=data.repeats,
        usual=default_model(data),
        most=int(n.max()),
    )


CROWD = 15


@dataclass(frozen=True)
class Rule:
    model: str
    when: Callable[[DataFacts], bool]
    code: str  # of the reason

    def said(self, facts: DataFacts) -> str:
        return say(self.code, rows=facts.coders * facts.labels, **asdict(facts))


FIRST = (
    Rule("interval", lambda f: f.scale in ("interval", "ratio"), "interval"),
    Rule("stack", lambda f: f.usual == "stack", "stack"),
    Rule("pooled", lambda f: f.usual == "pooled", "pooled"),
    Rule("hierarchical", lambda f: True, "no_stack"),
)

ALSO = (
    Rule(
        "hierarchical",
        lambda f: f.scale in ("nominal", "ordinal") and f.coders < CROWD,
        "few_coders",
    ),
    Rule(
        "hierarchical", lambda f: f.scale in ("nominal", "ordinal") and f.coders >= CROWD, "crowd"
    ),
    Rule("ordinal", lambda f: f.scale == "ordinal" and f.labels >= 3, "ordinal"),
    Rule(
        "class-conditional",
        lambda f: f.per_coder < CODER_MATRIX and f.labels >= 3,
        "class_conditional",
    ),
    Rule(
        "scalar-difficulty",
        lambda f: f.per_item >= ITEM_DIFFICULTY and f.scale in ("nominal", "ordinal"),
        "difficulty",
    ),
    Rule(
        "consensus",
        lambda f: f.gold >= KNOWN_TESTED and f.scale in ("nominal", "ordinal"),
        "consensus",
    ),
    Rule(
        "ambiguous",
        lambda f: f.per_item >= CONTESTED_LABELS and f.labels >= 3 and f.scale == "nominal",
        "ambiguous",
    ),
    Rule("spammers", lambda f: f.coders >= CROWD and f.scale == "nominal", "spammers"),
)


def holding(rules: tuple[Rule, ...], facts: DataFacts) -> list[Rule]:
    """Return the rules that hold and whose model exists."""
    return [
        rule
        for rule in rules
        if (rule.model in MODELS or rule.model in OTHERS) and rule.when(facts)
    ]


@dataclass(frozen=True)
class Use:
    """A use of the labels, and whether the data support it."""

    what: str
    why: str = ""


def supports(data: Annotations) -> tuple[Use, ...]:
    """List the uses that a data set supports, and reasons against the others."""
    facts = facts_of(data)
    coders = facts.coders
    one = counted(coders, "coder")
    pairs = "" if facts.shared > 0 else "no item was labeled by two coders"
    agreed = "there is only one coder" if coders < 2 else pairs
    if facts.labels < 2:
        agreed = agreed or "all labels are the same"
    known = facts.gold >= KNOWN_TESTED
    few = one if coders < CODERS_COMPARED and not known else ""
    thin = (
        ""
        if facts.shared >= SHARED_ITEMS
        else f"{percent(1 - facts.shared, 0)} of the items have one label"
    )
    thinly = "" if facts.per_coder >= CODER_MATRIX else f"{facts.per_coder:g} labels per coder"
    per_item = f"{facts.per_item:g} label{'s' * (facts.per_item != 1)} per item"
    hard = "" if facts.per_item >= ITEM_DIFFICULTY else per_item
    readings = "" if facts.most >= CONTESTED_LABELS else per_item
    tested = f"{facts.gold} of {KNOWN_TESTED} items with known truth"
    found = [
        Use("alpha", agreed),
        Use("gold", agreed or thin),
        Use("coders' accuracy", agreed or few or thinly),
        Use("hard items", agreed or few or hard),
        Use("items with two readings", agreed or readings),
        Use("a test against known truth", "" if known else tested),
    ]
    return tuple(found)


def sentence(uses: Mapping[str, tuple[Use, ...]]) -> str:
    """Summarize the supported uses in one line, by question if there are several."""
    every = list(dict.fromkeys(use.what for said in uses.values() for use in said))
    yes, no = [], []
    for what in every:
        why = {q: use.why for q, said in uses.items() for use in said if use.what == what}
        able = [question for question, reason in why.items() if not reason]
        unable = [question for question, reason in why.items() if reason]
        several = len(uses) > 1
        if able:
            where = f" for {_some(able)}" if unable else " by question" if several else ""
            yes.append(f"{what}{where}")
        if unable:
            where = f" for {_some(unable)}" if able else ""
            reasons = list(dict.fromkeys(why[question] for question in unable))
            no.append(f"{what}{where} ({_some(reasons, '; ')})")
    parts = [f"supports: {', '.join(yes) or 'nothing'}"]
    return "; ".join([*parts, *([f"not yet: {', '.join(no)}"] if no else [])])


def _some(names: list[str], between: str = ", ") -> str:
    more = len(names) - 3
    return between.join(names[:3]) + (f" and {more} more" if more > 0 else "")


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
        As in every summary. The table has one row per suitable model: model, place ("first" or
        "compare"), why; the notes are the reasons.
    model
        Name of the model to fit; empty if no model can be fitted.
    facts
        Facts behind the choice.

    Examples
    --------
    >>> import annomodels as am
    >>> am.advise(am.datasets.load("trains")).call
    'am.fit(data, "stack")'
    """

    model: str = field(kw_only=True)
    facts: DataFacts = field(kw_only=True)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Sentences, those about the model first."""
        return self.notes

    @property
    def call(self) -> str:
        """The Python that fits the model."""
        return self.title if self.model else ""

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain data."""
        return {
            "model": self.model,
            "call": self.call,
            "reasons": self.reasons,
            "models": self.table.to_dict("records"),
            "facts": asdict(self.facts),
        }

    def __repr__(self) -> str:
        return "\n".join([self.title, *self.notes])


def advise(data: Annotations, *, fit: Fit | None = None) -> Advice:
    """Suggest a model for the data, with reasons.

    By default, the suggestion uses counts only: labels per coder and per item, number of labels,
    their scale, known gold. With a fit, it also uses posterior predictive checks: if they reject
    the model, it names the next one to try.

    Parameters
    ----------
    data
        The annotations, a data frame, or the path of a file.
    fit
        A fit of these data.

    Raises
    ------
    NotApplicable
        If the fit is of other data.

    Examples
    --------
    >>> import annomodels as am
    >>> found = advise(am.datasets.load("crowd"))
    >>> found.model, found.reasons[0][:60]
    ('stack', 'Coders often err on the same items. The stack measures how m')
    """
    facts = facts_of(data := as_annotations(data))
    try:
        require_fittable(data)
    except AnnotationError as error:
        said = tuple(f"{problem.what} {problem.remedy}" for problem in error.problems)
        return _advice("", _table([]), said, facts)
    first = holding(FIRST, facts)[0]
    rows = [(rule.model, rule.said(facts)) for rule in (first, *holding(ALSO, facts))]
    ordered = rated(data.labels, data.scale)
    reasons = [first.said(facts), *([ordered] if ordered else []), *_cautions(facts)]
    kind = class_of(first.model)
    if is_stack(kind) and (scale := scale_of(data)).severity:
        reasons.append(scale.said)
    if kind.truth == "class" and not facts.gold:
        reasons.append(_audit(data))
    model = first.model
    if fit is not None:
        if fit.tree.attrs["data_fingerprint"] != data.fingerprint:
            raise NotApplicable("The fit is of other data: give a fit of these data.")
        model, why = _after_check(fit, first.model)
        reasons.insert(0, why)
        if model != first.model:
            rows = [(model, why), *rows]
    table = _table(rows)
    if len(table) > 1:
        names = ", ".join(table["model"][1:])
        reasons.append(
            say("compare", compare=Verb("am.compare", "annomodels compare"), names=names)
        )
    return _advice(model, table, tuple(reasons), facts)


def _advice(model: str, table: pd.DataFrame, reasons: tuple[str, ...], facts: DataFacts) -> Advice:
    title = f'am.fit(data, "{model}")' if model else "No model can be fitted."
    return Advice(title, table, notes=reasons, columns=COLUMNS, model=model, facts=facts)


def _after_check(fit: Fit, suggested: str) -> tuple[str, str]:
    """Return the next model after the checks of a fit, and the reason."""
    from annomodels.summaries.trust.predictive import aspects, next_model

    name, data = fit.model.name, fit.data
    rejected = [seen.name for seen in aspects(fit.tree, data)[1] if seen.state != "fine"]
    if not rejected:
        code = "suits_as_well" if suggested != name else "reproduces"
        return name, say(code, name=name, suggested=suggested)
    missed = f"Not reproduced: {'; '.join(rejected)}."
    if is_stack(fit.model):
        return name, say("stack_allows", missed=missed)
    other = next_model(name, rejected, data.n_labels, data.scale)
    if other is None:
        return name, say("no_other", name=name, missed=missed)
    return other.values["other"], f"{other.sentence} {missed}"


def _audit(data: Annotations) -> str:
    """State the need for an expert, especially if coders are language models."""
    judges = [coder for coder in data.coders if _JUDGE.search(label_text(coder))]
    draw = Verb("am.audit(fit, 60)", "annomodels audit FIT --size 60")
    estimate = Verb("am.estimate", "annomodels estimate")
    code = "judges" if 2 * len(judges) > data.n_coders else "no_truth"
    return say(code, judges=some(judges, label_text), draw=draw, estimate=estimate)


def _cautions(facts: DataFacts) -> list[Note]:
    """Describe data with little information for any model."""
    said = []
    if facts.shared < SHARED_ITEMS:
        said.append(say("few_shared", shared=facts.shared))
    if facts.items < FEW_ITEMS:
        said.append(say("few_items", items=facts.items))
    if facts.repeats:
        repeats = counted(facts.repeats, "label repeats", "labels repeat")
        said.append(say("repeats", n=repeats))
    return said


def _table(rows: list[tuple[str, str]]) -> pd.DataFrame:
    """Tabulate one row per model, each once, the first one first."""
    once = dict(reversed(rows))
    names = dict.fromkeys(name for name, _ in rows)
    return pd.DataFrame(
        [(m, "compare" if n else "first", once[m]) for n, m in enumerate(names)],
        columns=["model", "place", "why"],
    )
