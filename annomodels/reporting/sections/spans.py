"""Gold spans: places to decide in context, spans of one coder, coders, agreement."""

from __future__ import annotations

from typing import Any

from annomodels.data.columns import COLUMNS, Column, percent, short
from annomodels.data.columns import columns as columns_of
from annomodels.data.validation import counted
from annomodels.limits import AUDIT_DOCUMENTS, STATES
from annomodels.reporting.audited import folder_in
from annomodels.reporting.parts import (
    MOST_CARDS,
    Action,
    Card,
    Head,
    Part,
    Section,
    cards,
    notes,
    summary,
    table,
)
from annomodels.reporting.spans import SpanFacts
from annomodels.reporting.words import coders_listed, say, with_interval

_KEYS = 9  # number of answers with a keyboard shortcut
WHERE = Column("where", "Place", "name", of=lambda row: f"{row.document} {row.start}–{row.end}")
SPAN = (WHERE, Column("text", "Text", "text", width=120), "label")
GOLD = columns_of(
    *SPAN, Column("p_exact", "P(exact)", "chance"), Column("p_span", "P(span)", "chance"),
    Column("runner_up", "Otherwise", "name", width=40), "votes state",
)  # fmt: skip
ALONE = columns_of(*SPAN, COLUMNS["coder"].called("Only", of=lambda row: row.coders),
                   Column("p_exact", "P(exact)", "chance"))  # fmt: skip
_SHARES = {
    "misses": "Misses", "false_alarms": "False alarms", "borders": "Borders right",
    "labels": "Labels right", "f1": "F1",
}  # fmt: skip


def head(facts: SpanFacts) -> Head:
    actions = []
    doubtful = facts.states["contested"] or facts.states["needs labels"]
    if doubtful:
        about = "coders differ on the border, on the label, or on whether there is a span"
        actions.append(Action("#decide", f"Decide {counted(doubtful, 'place')}", about))
    if len(facts.alone):
        about = "found by one coder and probably right"
        title = f"Check {counted(len(facts.alone), 'span')}"
        actions.append(Action("#alone-section", title, about))
    rows = facts.coders.table
    asked = rows[~rows["advice"].str.startswith("ask")]
    if len(asked):
        title = f"Talk to {coders_listed(asked['coder'])}"
        actions.append(Action("#coders-section", title, "their spans differ most from the others"))
    if facts.estimate is None:
        about = "a random sample shows errors that all coders share"
        actions.append(Action("#quality-section", "Audit documents", about))
    verdict, why = facts.verdict
    doubt = why if verdict == "needs review" else ""
    return Head.of(facts.sentence, facts.states.values(), actions, doubt)


@Section.of("decide", "Decide")
def decide(facts: SpanFacts) -> list[Part]:
    lead = "Choose the right answer at each place; the most doubtful places come first."
    if not facts.fit.spans.texts:
        lead += " The texts are not known, so places are characters."
    return [
        Part("text", lead, "lead"),
        Part("decide", {"keys": _KEYS, "contested": "contested"}),
        Part("heading", "All places"),
        Part(
            "explorer",
            {
                "thing": "Place",
                "states": [(str(code), name) for code, name in enumerate(STATES)],
                "labels": [],
                "coders": [short(name, 40) for name in facts.fit.spans.coders],
            },
        ),
    ]


@Section.of("alone-section", "Found by one coder")
def alone(facts: SpanFacts) -> list[Part]:
    title = "Spans that only one coder found, most probable first"
    none = "No span of a single coder is probably right."
    return table("alone", title, ALONE, facts.alone, "gold.csv", otherwise=none)


@Section.of("coders-section", "Coders")
def coders(facts: SpanFacts) -> list[Part]:
    rows = facts.coders.table
    order = rows.sort_values("f1", kind="stable")
    shown: list[str | Column] = [
        "coder", COLUMNS["n"].called("Spans"),
        *(Column(name, title, interval=(f"{name}_low", f"{name}_high"), bar=name == "f1")
          for name, title in _SHARES.items()),
        "advice",
    ]  # fmt: skip
    made = [_card(row) for row in order.head(MOST_CARDS).itertuples()]
    title = "All coders, those with the largest differences first"
    return [
        Part("text", say("spans_shares"), "lead"),
        *cards(made),
        *table("coders", title, columns_of(*shown), order, "coders.csv"),
    ]


def _card(row: Any) -> Card:
    facts = tuple(
        (title, f"{percent(getattr(row, name), 0)} ({percent(getattr(row, f'{name}_low'), 0)} to "
                f"{percent(getattr(row, f'{name}_high'), 0)})")
        for name, title in _SHARES.items() if name not in ("f1", "labels")
    )  # fmt: skip
    worst = max(
        (("misses", row.misses, "you overlook {} of the spans: please read once more"),
         ("false_alarms", row.false_alarms, "{} of your spans mark nothing: please mark less"),
         ("borders", 1 - row.borders, "{} of your borders are off: please check them")),
        key=lambda one: one[1] if one[1] == one[1] else -1.0,
    )  # fmt: skip
    feedback = worst[2].format(percent(worst[1], 0)) if worst[1] > 0.1 else "please go on like this"
    about = f"{counted(int(row.n), 'span')}, F1 {with_interval(row.f1, row.f1_low, row.f1_high)}"
    return Card(
        short(row.coder, 40), str(row.advice), about, facts,
        f"{feedback[0].upper()}{feedback[1:]}.",
    )  # fmt: skip


@Section.of("quality-section", "Quality")
def quality(facts: SpanFacts) -> list[Part]:
    tiles = [
        ("Precision", with_interval(*facts.quality["precision"]), "gold spans that are right"),
        ("Recall", with_interval(*facts.quality["recall"]), "true spans that were found"),
        ("F1", with_interval(*facts.quality["f1"]), "both together; exact place and label"),
    ]
    parts = [Part("tiles", tiles)]
    if facts.estimate is not None:
        title = "Estimates from audit and model, from the audit alone, from the model alone"
        rows = summary("estimate", title, facts.estimate)
        return [*parts, *rows, *notes(facts.estimate.notes)]
    if facts.states["decided"]:
        told = "Decided places count as right. They do not change the other places."
        parts.append(Part("text", told))
    folder = folder_in(str(facts.fit.tree.attrs.get("command", "")))
    return [
        *parts,
        Part("text", "No model sees an error that all coders share. Draw documents for an expert:"),
        Part("copy", f"annomodels audit {folder} --size {AUDIT_DOCUMENTS} -o audit.csv"),
    ]


@Section.of(
    "agreement-section",
    "Agreement",
    "F1 of one coder against another, alpha for units, and alpha of tokens. Intervals resample "
    "documents.",
)
def agreement(facts: SpanFacts) -> list[Part]:
    found = facts.agreement
    rows = found.table[found.table["value"].notna()]
    title = "Agreement of the coders with 95 % intervals"
    shown = summary("agreement", title, found, rows, "agreement.csv", "title value")
    return [*shown, *notes(found.notes)]


@Section.of("gold-section", "Gold spans", details=True)
def gold(facts: SpanFacts) -> list[Part]:
    rows = facts.gold.sort_values("p_exact", kind="stable")
    return table("gold", "Gold spans, least certain first", GOLD, rows, "gold.csv")


@Section.of("methods", "Methods", details=True)
def methods(facts: SpanFacts) -> list[Part]:
    texts = [say(f"spans_{part}") for part in ("groups", "model", "exact")]
    return [*notes(texts), *notes(facts.fit.spans.notes, 400)]
