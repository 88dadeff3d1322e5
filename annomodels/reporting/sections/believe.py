"""Diagnostics: the run, the assumptions of the model, its fit to the labels, and other models."""

from __future__ import annotations

from annomodels import plots
from annomodels.data.columns import COLUMNS, Column, columns, short
from annomodels.data.summary import Summary
from annomodels.models.catalog import is_stack
from annomodels.reporting.facts import Facts
from annomodels.reporting.head import warning
from annomodels.reporting.methods import folder_of
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
from annomodels.reporting.words import say
from annomodels.summaries.trust.predictive import BY_CHANCE, FITS

CODERS = 10
PREDICTIVE = "Observed values and values expected by the model"
RIVALS = "Models by their predictions for held-out items"

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
    ranked = picture(plots.ranks(facts.fit), "ranks") if several else None
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
            return [*parts, *notes([say("alone", folder=folder_of(facts))])]
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
    if is_stack(facts.fit.model):
        return say("caution_stack")
    states = facts.truth == "class" and "items" in facts.tree.children
    return say("caution_states" if states else f"caution_{facts.truth}")


def _predictive(found: Summary) -> Part:
    off = int((~found.table["verdict"].isin((FITS, BY_CHANCE))).sum())
    return picture(plots.predictive_votes(found), "predictive", off=off, n=len(found.table))


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
