"""Diagnostics: the run, the assumptions of the model, its fit to the labels, and other models."""

from __future__ import annotations

from annomodels import plots
from annomodels.data.columns import COLUMNS, Column, columns, short
from annomodels.data.summary import Summary
from annomodels.reporting.facts import Facts
from annomodels.reporting.head import warning
from annomodels.reporting.parts import (
    Badge,
    Part,
    Section,
    badge_of,
    drawn,
    notes,
    pair,
    picture,
    summary,
    table,
)

CODERS = 10
PREDICTIVE = "Observed values and values expected by the model"
RIVALS = "Models by their predictions for held-out items"
ALONE = (
    "One model was fitted. To compare another one, fit it to the same labels and add it to the "
    "page: annomodels report FIT --compare OTHER, or am.report(fit, path, others=[other])."
)

ALIKE = (
    "A caution: the model treats the labels of an item as independent given its true label. If "
    "items differ in difficulty, or coders make the same errors, gold labels are less certain than "
    "their probabilities, and more of them are wrong than expected."
)
NUMBERS = (
    "A caution: the model treats errors on an item as independent given its true value. If coders "
    "share errors, for example by a guideline that all misread, the intervals are too narrow."
)
_STACK = (
    "A caution: the stack is calibrated on public data sets with known truth, and its interval for "
    "wrong labels allows for how much these differ. Labels cannot show an error that nearly the "
    "whole crowd shares."
)
_STATES = (
    "A caution: the model lets items of one class differ, and treats their labels as independent "
    "given this difference. It cannot see errors that coders share for other reasons: a crowd that "
    "is unanimously wrong looks like a crowd that is right."
)

CHECKS = columns(
    COLUMNS["name"].called("Check"),
    COLUMNS["value"].called(kind="quantity", interval=None),
    "limit",
    Column("ok", "Passed", "tag"),
    "sentence",
)


@Section.of(
    "believe",
    "Diagnostics",
    "Convergence of the sampler, fit of the model to the labels, and comparison with other models.",
    needs=("check",),
    parts=(
        ("predictive", "Whether the model reproduces the labels"),
        ("prior_sensitivity", "Other priors"),
        ("compare", "Other models"),
    ),
    details=True,
)
def section(facts: Facts) -> list[Part]:
    several = facts.has("plot.ranks") and facts.tree["sample_stats"].sizes["draw"] >= 20
    ranked = _ranks(facts) if several else None
    parts = [
        Part("badge", _badge(facts)),
        Part("text", honest(facts)),
        *notes(facts.check.details, 600),
        *table("checks", "Diagnostics of the run", CHECKS, facts.check.table),
    ]
    if facts.unsupported("predictive"):
        parts += drawn(ranked)
    else:
        found, told = facts.fit.predictive(), (*facts.check.sentences, *facts.check.details)
        new = [note for note in found.notes if not any(note in text for text in told)]
        parts += [
            pair(*drawn(_predictive(found) if len(found.table) else None), *drawn(ranked)),
            *summary("predictive", PREDICTIVE, found),
            *notes(new, 400),
        ]
    if facts.has("prior_sensitivity"):
        parts.append(Part("heading", "Other priors"))
        parts += priors(facts.fit.prior_sensitivity())
    if facts.has("compare"):
        parts.append(Part("heading", "Other models"))
        if facts.comparison is None:
            return [*parts, *notes([ALONE])]
        own, rivals = f"This page shows the model {facts.fit.model.name}.", facts.comparison
        parts += [*notes([own, *rivals.notes], 400), *summary("comparison", RIVALS, rivals)]
    return parts


def _badge(facts: Facts) -> Badge:
    """Return the badge without findings that the page shows elsewhere."""
    made = badge_of(facts.check)
    below = {short(note, 600) for note in facts.fit.gold().notes} if facts.has("gold") else set()
    first = warning(facts.check)
    below |= {short(text, 400) for text in facts.check.of_coders}
    said = {text: text.partition(" Fix: ")[0] for text in made.sentences}
    new = (text for text, own in said.items() if own not in below and not first.endswith(own))
    return made._replace(sentences=tuple(new))


def honest(facts: Facts) -> str:
    """Return the main assumption of the model."""
    if facts.fit.model.stacks:
        return _STACK
    if facts.truth == "number":
        return NUMBERS
    return _STATES if "items" in facts.tree.children else ALIKE


def _predictive(found: Summary) -> Part:
    off = int((found.table["verdict"] != "fits").sum())
    return picture(
        plots.predictive_votes(found),
        "predictive",
        "Posterior predictive checks",
        f"{off} of {len(found.table)} checks are far from what the model expects.",
        "Mark: observed value. Band: 95 % of data that the model would produce, drawn equally wide "
        "in all rows.",
    )


def _ranks(facts: Facts) -> Part:
    return picture(
        plots.ranks(facts.fit),
        "ranks",
        "Rank plots of the chains",
        "When chains agree, all lines stay near one. The table of checks holds the numbers.",
        "Ranks of the draws, one line per chain: lines in the band mean that chains agree.",
    )


def priors(found: Summary) -> list[Part]:
    """Show prevalence, and the most sensitive coders, under weaker and stronger priors."""
    rows = found.table
    away = rows[["weaker", "stronger"]].sub(rows["mean"], axis=0).abs().max(axis=1)
    coders = away[rows["what"] == "accuracy"].nlargest(CODERS).index
    shown = rows[(rows["what"] == "prevalence") | rows.index.isin(coders)]
    n, most = int((rows["what"] == "accuracy").sum()), len(coders)
    which = f"the {most} of {n:,} coders that change most" if most < n else "the coders"
    title = f"If the priors counted less or more: labels, and {which}"
    return [*notes(found.notes, 600), *summary("priors", title, found, shown)]
