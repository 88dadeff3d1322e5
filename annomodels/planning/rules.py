"""Rules for model choice and supported uses, on facts counted without a fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.columns import percent
from annomodels.data.validation import counted
from annomodels.fitting.run import default_model
from annomodels.limits import (
    CODER_MATRIX,
    CODERS_COMPARED,
    CONTESTED_LABELS,
    ITEM_DIFFICULTY,
    KNOWN_TESTED,
    SHARED_ITEMS,
)
from annomodels.models.catalog import MODELS, OTHERS


@dataclass(frozen=True)
class Facts:
    """Counts of a data set."""

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
    agreement: float
    usual: str = "stack"
    most: int = 0


def facts_of(data: Annotations) -> Facts:
    """Count the facts behind the choice of a model."""
    once = data.without_repeats()
    n = np.diff(once.starts)
    busy = np.bincount(data.coder, minlength=data.n_coders)
    pairs = float((n * (n - 1)).sum())
    cell = once.item.astype(np.int64) * once.n_labels + once.label
    votes = np.unique(cell, return_counts=True)[1]
    same = float((votes * (votes - 1)).sum())
    return Facts(
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
        agreement=same / pairs if pairs else float("nan"),
        usual=default_model(data),
        most=int(n.max()),
    )


CROWD = 15


@dataclass(frozen=True)
class Rule:
    """A model and the condition for its use."""

    model: str
    when: Callable[[Facts], bool]
    sentence: str

    def said(self, facts: Facts) -> str:
        """Return the sentence with the numbers in it."""
        return self.sentence.format(rows=facts.coders * facts.labels, **asdict(facts))


FIRST = (
    Rule(
        "interval",
        lambda f: f.scale in ("interval", "ratio"),
        "The labels are numbers: the interval model gives every item a true value and every coder "
        "a bias, a scale and a noise.",
    ),
    Rule(
        "stack",
        lambda f: f.usual == "stack",
        "Coders often err on the same items. The stack measures how much, and weights the votes "
        "accordingly. It is calibrated on public data sets with known truth. These data have "
        "{coders:,} coders and a median of {per_item:g} labels per item.",
    ),
    Rule(
        "pooled",
        lambda f: f.usual == "pooled",
        "Confusion matrices of {coders:,} coders and {labels:,} labels have {rows:,} rows, too "
        "many for {annotations:,} labels: the model treats all coders alike. Merge labels that "
        "mean nearly the same to estimate single coders.",
    ),
    Rule(
        "hierarchical",
        lambda f: True,
        "The stack does not suit these data: it ignores answers of coders who do not know, and "
        "takes very long for millions of labels or hundreds of classes. The hierarchical model "
        "pools coders as far as the data support.",
    ),
)

ALSO = (
    Rule(
        "hierarchical",
        lambda f: f.scale in ("nominal", "ordinal") and f.coders < CROWD,
        "It is sharper, and calibrated if coders err independently, as a few trained coders may.",
    ),
    Rule(
        "hierarchical",
        lambda f: f.scale in ("nominal", "ordinal") and f.coders >= CROWD,
        "It is more confident, and calibrated if its checks pass: if coders err independently.",
    ),
    Rule(
        "ordinal",
        lambda f: f.scale == "ordinal" and f.labels >= 3,
        "The {labels} labels are ordered: this model gives every coder cut-points on one line, so "
        "near misses count as small errors.",
    ),
    Rule(
        "class-conditional",
        lambda f: f.per_coder < CODER_MATRIX and f.labels >= 3,
        "It has {labels} numbers for each coder instead of a full matrix, which suits few labels "
        "per coder ({per_coder:g} for the median coder).",
    ),
    Rule(
        "scalar-difficulty",
        lambda f: f.per_item >= ITEM_DIFFICULTY and f.scale in ("nominal", "ordinal"),
        "A median of {per_item:g} labels per item can show whether some items are harder than "
        "others, so that coders err together.",
    ),
    Rule(
        "consensus",
        lambda f: f.gold >= KNOWN_TESTED and f.scale in ("nominal", "ordinal"),
        "The {gold:,} known labels show how often the whole crowd is wrong; other labels cannot.",
    ),
    Rule(
        "ambiguous",
        lambda f: f.per_item >= CONTESTED_LABELS and f.labels >= 3 and f.scale == "nominal",
        "A median of {per_item:g} labels per item can separate items with two readings from "
        "careless coders.",
    ),
    Rule(
        "spammers",
        lambda f: f.coders >= CROWD and f.scale == "nominal",
        "Some of {coders:,} coders may not look at the items: this model estimates that "
        "probability for each coder.",
    ),
)


def holding(rules: tuple[Rule, ...], facts: Facts) -> list[Rule]:
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
