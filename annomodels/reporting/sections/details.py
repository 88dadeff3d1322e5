"""Details for the statistician: data, gold labels, audit, diagnostics, methods and glossary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels import plots
from annomodels.auditing.columns import SHOWN
from annomodels.data.columns import COLUMNS, Column, columns, decimal, percent, short
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.data.validation import APART, counted
from annomodels.limits import CODER_THIN
from annomodels.models.catalog import is_stack
from annomodels.plots.trust import audited
from annomodels.reporting.facts import Facts
from annomodels.reporting.head import warning
from annomodels.reporting.methods import (
    audit_drawing,
    audit_errors,
    audit_way,
    audited_part,
    estimate_of,
    folder_of,
    judged_items,
    model_error,
    panel_sentences,
    paragraphs,
    references,
)
from annomodels.reporting.parts import (
    Badge,
    Part,
    Rows,
    Section,
    badge_of,
    box,
    drawn,
    notes,
    pair,
    picture,
    summary,
    table,
)
from annomodels.reporting.sections.results import pictures
from annomodels.reporting.words import MESSAGES, as_markdown, say, unescaped
from annomodels.summaries.gold import mixture_note
from annomodels.summaries.notes import listed
from annomodels.summaries.trust.predictive import BY_CHANCE, FITS

if TYPE_CHECKING:
    from annomodels.auditing.estimate import Estimate


MOST_NOTES = 12  # notes on the data


@Section("data", "Data", "The data and their limits.", details=True)
def about_data(facts: Facts) -> list[Part]:
    parts = [Part("tiles", sizes(facts)), *notes(health_notes(facts))]
    if facts.truth != "class":
        return parts
    said = [*facts.coders.notes]
    for verb in ("labels", "agreement"):
        said += getattr(facts.fit, verb)().notes if facts.has(verb) else ()
    said += facts.fit.items().notes[1:] if facts.has("items") else ()  # the bar shows the first
    return [*parts, pictures(facts), *notes(list(dict.fromkeys(said)), 600)]


def sizes(facts: Facts) -> Rows:
    data, counts = facts.data, facts.health
    if facts.truth == "number":
        ends = f"from {data.values.min():g} to {data.values.max():g}"
        labels = "Different numbers", f"{data.n_labels:,}", ends
    else:
        labels = "Label set", f"{data.n_labels:,}", _names(data.labels, 4)
    return [
        ("Items", f"{data.n_items:,}", f"{counts.per_item.told()} labels per item"),
        ("Coders", f"{data.n_coders:,}", f"{counts.per_coder.told()} labels per coder"),
        labels,
        (
            "Labels given",
            f"{len(data):,}",
            f"{counted(data.repeats, 'repeat')}, {counted(data.skips, 'skipped cell')}",
        ),
    ]


def _names(names: Any, most: int = 6) -> str:
    return listed([short(label_text(name), 24) for name in names], most)


def health_notes(facts: Facts) -> list[str]:
    data, counts, on_disk = facts.data, facts.health, facts.on_disk
    out = [f"Read from {short(data.source, 80)}, and streamed from disk."] * (
        on_disk and bool(data.source)
    )
    if not on_disk and data.is_complete:
        out.append("The data are complete: every coder labeled every item.")
    n_parts, parts = counts.n_parts, counts.parts
    if n_parts > 1:
        rest = f" (of {', '.join(f'{n:,}' for n in parts[:6])}{' …' * (n_parts > 6)} items)"
        out.append(say("groups_apart", n=n_parts, sizes=rest * bool(parts)))
    if counts.few:
        few = len(counts.few)
        out.append(say("few_labels", n=few, least=CODER_THIN, names=_names(counts.few)))
    if counts.single:
        out.append(f"{counted(counts.single, 'item has', 'items have')} only one label.")
    if counts.constant:
        names = _names(counts.constant)
        out.append(f"Always the same label, with {CODER_THIN} labels or more: {names}.")
    if counts.unused:
        out.append(f"In the label set, but given by no coder: {_names(counts.unused)}.")
    if on_disk and data.dont_know:
        kinds = short("/".join(data.dont_know), 60)
        out.append(
            f"Set aside, because it is not a class: {kinds}, {int(data.unanswered.sum()):,} times."
        )
    if facts.told_items:
        out.append(f"True labels of {counted(facts.told_items, 'item')} were given and used.")
    unlabeled = 0 if on_disk else int((np.diff(data.starts) == 0).sum())
    said = APART.format(n_parts - unlabeled)  # already stated above in other words
    noted = [short(note, 300) for note in data.notes if note != said]
    left = len(noted) - MOST_NOTES
    more = [f"{counted(left, 'more note')} on the data, as the command printed them."] * (left > 0)
    return [*out, *noted[:MOST_NOTES], *more]


@Section(
    "gold",
    "Gold labels",
    "Expected accuracy above each threshold, and how to check it.",
    needs=("prevalence",),  # for classes only
    parts=(
        ("items", "Items to decide, and intervals of expected errors"),
        ("next", "Labels to buy"),
    ),
    details=True,
)
def gold(facts: Facts) -> list[Part]:
    made = summary("thresholds", "What a threshold keeps", facts.coverage)
    if facts.on_disk:
        return made
    several = int(facts.coverage.table["kept"].iloc[0]) > 1
    title, tested = "Gold labels against the true labels that were held back", facts.calibration
    return [
        pair(*drawn(_coverage(facts) if several else None), box(*made)),
        *notes(
            [
                *facts.fit.gold().notes[1:],
                *filter(None, [mixture_note(facts.tree), distance(facts)]),
            ],
            600,
        ),
        *([] if tested is None else [*notes(tested.notes), *summary("calibration", title, tested)]),
        *_how_to_check(facts),
    ]


def distance(facts: Facts) -> str:
    """State the part of the interval's width due to the distance of crowd and expert."""
    if facts.as_coders_read is None or not facts.distance:
        return ""
    low, high = facts.as_coders_read
    return say("crowd_and_expert", share=percent(facts.distance, 0), low=low, high=high)


def _coverage(facts: Facts) -> Part:
    rows = facts.coverage.table.set_index("threshold")
    everything: Any = rows.loc[0.0]
    sure: Any = rows.loc[0.95]
    return picture(
        plots.coverage(facts.coverage),
        "coverage",
        every=decimal(float(everything["accuracy"]), 3),
        accuracy=decimal(float(sure["accuracy"]), 3),
        share=percent(float(sure["share"])),
    )


def _how_to_check(facts: Facts) -> list[Part]:
    """Return the steps of an audit, unless there was one."""
    if facts.estimate is not None and facts.estimate.by_design:
        return []
    rest = facts.data.n_items - facts.known_items
    if facts.unsupported("gold") or not rest:
        return []
    folder = folder_of(facts)
    draw = f"annomodels audit {folder} --size {facts.to_audit[0]} -o audit.csv"
    use = f"annomodels estimate {folder} --truth audit.csv"
    return [
        Part("heading", "Check random items", "check-items"),
        Part("text", "Draw the items, fill in the column “label” of the file, then estimate:"),
        Part("copy", draw),
        Part("copy", use),
        Part("text", "If you know true labels already, hold them back and test with them:"),
        Part(
            "copy",
            f"annomodels report {folder} -o report.html --truth truth.csv --use test --force",
        ),
    ]


_QUANTITIES = {
    "accuracy": "gold labels that are right",
    "wrong": "wrong gold labels, before the audited ones were corrected",
    "still_wrong": "wrong gold labels, now",
}

CLASS = COLUMNS["what"].called(of=lambda row: _quantity(row))
FIRST: dict[str, tuple[Column, ...]] = {
    "slices": columns("slice", COLUMNS["by"].called("of"), CLASS),
    "differences": columns(
        COLUMNS["first"].called("Slice"),
        COLUMNS["second"].called("less slice"),
        COLUMNS["by"].called("of"),
        CLASS,
    ),
}
"""First columns on the page of tables in which several columns identify a row."""


@Section(
    "audit-section",
    "Audit",
    "How items judged by an expert change these numbers. If the items were drawn at random, the "
    "intervals allow for errors of the model.",
    details=True,
)
def audit(facts: Facts) -> list[Part]:
    found, shown, part = estimate_of(facts), tables(estimate_of(facts)), audited_part(facts)
    about = [f"All numbers of the audit are for {part}."] * bool(part)
    parts = [
        Part("text", audit_drawing(found)),
        *notes([audit_errors(facts), *([model_error(found)] if found.by_design else [])]),
        *notes([*found.notes, *about, *_taught(found)], 600),
        *shown["overall"],
        pair(_figure(found), box(*shown["thresholds"])),
    ]
    if found.n_audited:
        parts.append(Part("heading", "Audited coders"))
        parts += [*notes(panel_sentences(found), 400), *shown["coders"]]
    if len(found.systems):
        parts += [Part("heading", "Systems"), *shown["systems"]]
    if len(found.slices):
        parts += [Part("heading", "Slices"), *shown["slices"], *shown["differences"]]
    if len(found.needs):
        parts.append(Part("heading", "Audits for a narrower interval"))
        parts += [*notes([_further(found, folder_of(facts))]), *shown["needs"]]
    return parts


def _taught(found: Estimate) -> list[str]:
    lesson = found.lesson
    if not np.isfinite(lesson.after):
        return []
    code = "p_updated" if lesson.used else "p_unchanged"
    return [say(code, before=lesson.before, after=lesson.after)]


def _figure(found: Estimate) -> Part:
    row, way = found.row("accuracy"), audit_way(found)
    shares = {name: percent(row[name]) for name in ("value", "audit", "model")}
    so = say("audit_follows" if found.by_design else "audit_conservative")
    return picture(audited(found), "audit", way=way, so=so, **shares)


def _quantity(row: Any) -> str:
    if row.quantity == "prevalence":
        return f"share of {label_text(row.label)}"
    return _QUANTITIES[str(row.quantity)]


def tables(found: Estimate) -> dict[str, list[Part]]:
    """Return the tables of an audit; coders with most labels and certain differences first."""
    way = audit_way(found)
    _, _, value, *rest = SHOWN["overall"]
    quantity = Column("quantity", "What", "name", of=_quantity)
    overall = quantity, value.called(way.removeprefix("the ").capitalize()), *rest
    titles = {
        "thresholds": f"Gold labels above a probability, by {way}",
        "coders": "Share of each coder's labels that are right, by audit and model",
        "systems": "Share of its comparisons that each system won; a tie counts one half",
        "slices": f"Slices, by {way}",
        "differences": "Differences between slices, most certain first",
        "needs": "Expected width of the 95 % interval of the share of gold labels that are right",
    }
    rows = {key: getattr(found, key) for key in titles}
    rows["coders"] = found.coders.sort_values("n", ascending=False, kind="stable")
    if len(found.differences):
        doubt = -(found.differences["p_higher"] - 0.5).abs().to_numpy()
        rows["differences"] = found.differences.iloc[np.argsort(doubt, kind="stable")]
    shown = {key: SHOWN[key] for key in titles}
    for key, first in FIRST.items():
        shown[key] = (*first, *(column for column in SHOWN[key] if column.numeric))
    made = {
        key: table(f"audited-{key}", title, shown[key], rows[key]) for key, title in titles.items()
    }
    title = "Estimates of the audit and of the model"
    return {"overall": table("audited-overall", title, overall, found.table), **made}


def _further(found: Estimate, folder: str) -> str:
    from annomodels.auditing.estimator import needed

    row = found.row("accuracy")
    width = float(row["high"] - row["low"])
    now = f"The interval of the share of right gold labels is {100 * width:.1f} percentage points"
    rest = found.n_items - judged_items(found)
    plan = list(found.needs.itertuples(index=False, name=None))
    if len(plan) < 2 or width <= 0:
        return f"{now} wide."
    more = min(needed(plan, width / 2, rest), rest)
    if more >= rest:
        return say("audit_nearly_all", now=now, rest=rest)
    return (
        f"{now} wide. Halving it takes about {more:,} more of the {rest:,} items that are left: "
        f"annomodels audit {folder} --size {more} -o more.csv draws them."
    )


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


@Section(
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
def diagnostics(facts: Facts) -> list[Part]:
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


@Section("methods", "Methods and glossary", details=True)
def methods(facts: Facts) -> list[Part]:
    sources = references(facts)
    # glossary entries of sections that this page lacks
    silent = {word for verb, words in _ABOUT.items() if facts.unsupported(verb) for word in words}
    return [
        Part("heading", "Methods paragraph"),
        *(Part("text", unescaped(as_markdown(text))) for text in paragraphs(facts)),
        Part("heading", "References"),
        Part("notes", [source.text for source in sources]),
        Part("heading", "Glossary"),
        Part("words", [pair for pair in GLOSSARY if pair[0] not in silent]),
    ]


GLOSSARY = tuple(MESSAGES["glossary"].items())
_ABOUT = {
    "items": ("Contested",),
    "agreement": ("Agreement coefficient",),
    "prior_sensitivity": ("Prior sensitivity",),
}
