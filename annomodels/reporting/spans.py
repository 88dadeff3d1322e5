"""Facts about gold spans, the places to decide, and the sections of their page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from annomodels.auditing.spans import fingerprint
from annomodels.data.columns import COLUMNS, Column, clean, percent, short
from annomodels.data.columns import columns as columns_of
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.io.span_builder import GOLD, NONE
from annomodels.limits import AUDIT_DOCUMENTS, RESULT_DRAWS, RESULT_RHAT, SETTLED, STATES
from annomodels.reporting.explorer import assembled, chance_of, follow_up, rows_with_room
from annomodels.reporting.methods import folder_in
from annomodels.reporting.parts import (
    BAR,
    MOST_CARDS,
    Card,
    Head,
    Part,
    Section,
    action,
    cards,
    notes,
    summary,
    table,
)
from annomodels.reporting.words import coders_listed, say, with_interval
from annomodels.spans.groups import overlapping

if TYPE_CHECKING:
    from annomodels.spans.fit import SpanFit


AROUND = 160  # number of characters shown before and after a place
LIKELY = 0.5  # minimum probability at which a span of one coder is probably correct
Mark = tuple[int, int, str]


class Choice(NamedTuple):
    """A possible answer at a place: its spans and its probability."""

    marks: tuple[Mark, ...]
    p: float


class SpanPlace(NamedTuple):
    """A place with marks: its possible answers, and the marks of each coder."""

    document: str
    start: int
    end: int
    choices: tuple[Choice, ...]
    gold: int
    state: int
    reason: str
    votes: tuple[tuple[str, tuple[Mark, ...]], ...]

    @property
    def doubt(self) -> float:
        """Probability that the gold answer is wrong."""
        return 0.0 if self.state == STATES.index("decided") else 1.0 - self.choices[self.gold].p


@dataclass(eq=False)
class SpanFacts:
    fit: SpanFit
    estimate: Summary | None = None
    threshold: float | None = None

    truth = "span"

    def unsupported(self, verb: str) -> str:
        """Return why a table is unavailable; empty if it is available."""
        if verb == "estimate":
            return "" if self.estimate is not None else "no document was audited"
        return ""

    @cached_property
    def gold(self) -> pd.DataFrame:
        return self.fit.gold(self.threshold).table

    @cached_property
    def quality(self) -> dict[str, tuple[float, float, float]]:
        """Precision, recall and F1 with intervals, corrected by an audit if available."""
        found = self.fit.quality(self.threshold) if self.estimate is None else self.estimate
        rows = found.table[["quantity", "value", "low", "high"]].itertuples(index=False)
        return {str(name): (float(v), float(a), float(b)) for name, v, a, b in rows}

    @cached_property
    def coders(self) -> Summary:
        return self.fit.coders()

    @cached_property
    def agreement(self) -> Summary:
        return self.fit.agreement()

    @property
    def sentence(self) -> str:
        words = dict(zip(("f1", "low", "high"), self.quality["f1"], strict=True))
        words |= {name: self.quality[name][0] for name in ("precision", "recall")}
        text = say("spans_f1", n=len(self.gold), **words)
        if self.estimate is not None:
            return f"{text} {self.estimate.notes[0]}"
        if decided := sum(place.state == STATES.index("decided") for place in self.places):
            return f"{text} {counted(decided, 'place is', 'places are')} decided."
        return f"{text} Not yet checked by an expert."

    @property
    def verdict(self) -> tuple[str, str]:
        attrs = self.fit.tree.attrs
        rhat, draws = float(attrs["rhat_max"]), float(attrs["ess_min"])
        if rhat != rhat:
            return "needs review", "One short chain cannot show convergence: fit with more chains."
        if not (rhat <= RESULT_RHAT and draws >= RESULT_DRAWS):
            return "needs review", say("spans_apart", rhat=rhat, draws=draws)
        audited = "" if self.estimate else " The gold spans have not been tested by an audit."
        return "no problem found", say("spans_mixed", rhat=rhat, draws=draws, audited=audited)

    @property
    def to_do(self) -> list[str]:
        """Next steps as lines for the terminal."""
        states = self.states
        lines = []
        if n := states["contested"]:
            lines.append(f"{counted(n, 'place')} contested: decide on the page.")
        if n := states["needs labels"]:
            lines.append(f"{counted(n, 'place needs', 'places need')} more coders or a decision.")
        return [f"  {line}" for line in lines]

    @property
    def states(self) -> dict[str, int]:
        return {
            name: sum(place.state == k for place in self.places) for k, name in enumerate(STATES)
        }

    @cached_property
    def alone(self) -> pd.DataFrame:
        """Probable spans at places where only one of several coders marked anything."""
        rows: list[tuple[str, int, int, str, str, str, float]] = []
        for place in self.places:
            (who, *others), answer = [w for w, marks in place.votes if marks] or [""], place.gold
            p, marks = place.choices[answer].p, place.choices[answer].marks
            if others or len(place.votes) < 2 or p < LIKELY:
                continue
            text = self.fit.spans.texts.get(place.document, "")
            rows += [(place.document, *m, short(text[m[0] : m[1]], 60), who, p) for m in marks]
        names = ["document", "start", "end", "label", "text", "coders", "p_exact"]
        found = pd.DataFrame(rows, columns=names)
        return found.sort_values("p_exact", ascending=False, kind="stable")

    @cached_property
    def places(self) -> list[SpanPlace]:
        """All places with marks, the least certain first and decided places last."""
        return sorted(self._places(), key=lambda place: -place.doubt)

    @cached_property
    def _told(self) -> dict[tuple[str, int, int, str], tuple[int, str]]:
        """State and reason of each gold span."""
        names = ["document", "start", "end", "label", "state", "reason"]
        rows = self.gold[names].itertuples(index=False, name=None)
        return {tuple(key): (STATES.index(state), reason) for *key, state, reason in rows}

    def _places(self) -> Iterator[SpanPlace]:
        names = ["document", "start", "end", "label", "p_exact"]
        rows = self.fit.candidates()[names].itertuples(index=False, name=None)
        # marks at places that were decided as "no span" are no candidates
        p = {tuple(key): chance for *key, chance in rows}
        every: dict[str, list[tuple[int, int, str, str]]] = {}
        for document, start, end, label in p:
            every.setdefault(document, []).append((start, end, "", label))
        for span in self.fit.spans.spans:
            if span.coder != GOLD:
                mark = span.start, span.end, span.coder, span.label
                every.setdefault(span.document, []).append(mark)
        for document, found in every.items():
            for part in overlapping(found):
                marks: dict[str, list[Mark]] = {}
                for start, end, who, label in part:
                    marks.setdefault(who, []).append((start, end, label))
                several = sorted({mark for own in marks.values() for mark in own})
                group = {mark: p.get((document, *mark), 0.0) for mark in several}
                yield self._place(document, group, marks)

    def _place(
        self, document: str, group: Mapping[Mark, float], marks: Mapping[str, list[Mark]]
    ) -> SpanPlace:
        start, end = min(mark[0] for mark in group), max(mark[1] for mark in group)
        gold = tuple(mark for mark in group if (document, *mark) in self._told)
        single = sorted(group.items(), key=lambda one: -one[1])
        choices = [Choice((mark,), p) for mark, p in single]
        # the remaining probability is that of no span, or of borders that no coder marked
        choices.append(Choice((), max(0.0, 1.0 - sum(group.values()))))
        if len(gold) > 1:
            choices.insert(0, Choice(gold, min(group[mark] for mark in gold)))
        at = next(n for n, choice in enumerate(choices) if choice.marks == gold)
        told = [self._told[document, *mark] for mark in gold]
        decided = STATES.index("decided")
        if told:
            state = max((state for state, _ in told), key=lambda k: (k == decided, k))
        elif any(d == document and a < end and start < b for d, a, b, _ in self.fit.decisions):
            state = decided
        else:
            state = 0 if choices[-1].p >= SETTLED else STATES.index("needs labels")
        seen = [who for who in self.fit.spans.seen[document] if who != GOLD]
        votes = tuple((who, tuple(marks.get(who, ()))) for who in seen)
        reason = next((reason for _, reason in told if reason), "")
        return SpanPlace(document, start, end, tuple(choices), at, state, reason, votes)

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.fit)


def written(marks: tuple[Mark, ...], text: str, *, places: bool) -> str:
    """Format an answer: labels with the marked text, and with positions if `places`."""
    parts = []
    for start, end, label in marks:
        words = short(text[start:end], 60)
        where = f" {start}–{end}" if places or not words else ""
        parts.append(f"{label}{f' “{words}”' if words else ''}{where}")
    return " + ".join(parts) or "no span"


def payload(facts: SpanFacts, command: str) -> str:
    """Return the places as JSON for a script element, the least certain first."""
    coders = list(facts.fit.spans.coders)
    labels: list[str] = []
    names: list[str] = []

    def entry(place: SpanPlace) -> list[object]:
        text = facts.fit.spans.texts.get(place.document, "")
        first, codes = len(labels), dict[frozenset[Mark], int]()
        words = [text[a:b] for c in place.choices for a, b, _ in c.marks[:1]]
        same = len(set(words)) < len(words)

        def add(marks: tuple[Mark, ...]) -> None:
            codes[frozenset(marks)] = len(labels)
            labels.append(written(marks, text, places=same or not text))
            names.append(json.dumps(marks))

        for choice in place.choices:
            add(choice.marks)
        votes: list[int] = []
        for who, marks in place.votes:
            if frozenset(marks) not in codes:
                add(marks)
            votes += [coders.index(who), codes[frozenset(marks)], 0]
        likely = [x for k, c in enumerate(place.choices) for x in (first + k, *chance_of(c.p))]
        before, last = max(0, place.start - AROUND), place.end + AROUND
        context = [
            "… " * (before > 0) + _cleaned(text[before : place.start]),
            _cleaned(text[place.start : place.end]),
            _cleaned(text[place.end : last]) + " …" * (last < len(text)),
        ]
        return [
            f"{place.document} {place.start}–{place.end}", first + place.gold, place.state,
            likely, votes, place.reason and f"In doubt: {place.reason}.",
            context if text else "", [place.document, place.start, place.end],
        ]  # fmt: skip

    rows = rows_with_room(map(entry, facts.places))
    doubt = sum(place.doubt for place in facts.places)
    decided: dict[str, list[Mark]] = {}
    for document, start, end, label in facts.fit.decisions:
        for place in facts.places:
            if place.document == document and place.start < end and start < place.end:
                marks_ = decided.setdefault(f"{document} {place.start}–{place.end}", [])
                marks_ += [(start, end, label)] if label not in ("", NONE) else []
    about = {
        "fit": facts.fingerprint, "spans": True, "labels": labels, "names": names,
        "coders": [short(name, 40) for name in coders], "columns": [], "wrong": doubt,
        "doubt": round(doubt, 4), "left": len(facts.places) - len(rows),
        "states": list(facts.states.values()), "bar": list(BAR.values()),
        "decided": [[name, {"label": json.dumps(marks)}] for name, marks in decided.items()],
        "command": follow_up(command),
    }  # fmt: skip
    return assembled(about, rows)


def _cleaned(text: str) -> str:
    """Clean part of a text; a space at either end stays."""
    return clean(f"|{text}|")[1:-1]


_KEYS = 9  # number of answers with a keyboard shortcut
WHERE = Column("where", "Place", "name", of=lambda row: f"{row.document} {row.start}–{row.end}")
SPAN = (WHERE, Column("text", "Text", "text", width=120), "label")
GOLD_COLUMNS = columns_of(
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
    rows = facts.coders.table
    asked = rows["coder"][~rows["advice"].str.startswith("ask")]
    actions = [
        action("decide_places", facts.states["contested"] or facts.states["needs labels"]),
        action("check_alone", len(facts.alone)),
        action("coders_of_spans", len(asked), names=coders_listed(asked)),
        action("audit_documents", facts.estimate is None),
    ]
    verdict, why = facts.verdict
    doubt = why if verdict == "needs review" else ""
    return Head.of(facts.sentence, facts.states.values(), actions, doubt)


@Section("decide", "Decide", printed=False)
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


@Section("alone-section", "Found by one coder")
def alone(facts: SpanFacts) -> list[Part]:
    title = "Spans that only one coder found, most probable first"
    none = "No span of a single coder is probably right."
    return table("alone", title, ALONE, facts.alone, "gold.csv", otherwise=none)


@Section("coders-section", "Coders")
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
        *table("coders", title, columns_of(*shown), order, "coders.csv", paper="flagged"),
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


@Section("quality-section", "Quality")
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


@Section(
    "agreement-section",
    "Agreement",
    "F1 of one coder against another, alpha for units, and alpha of tokens. Intervals resample "
    "documents.",
    printed=False,
)
def agreement(facts: SpanFacts) -> list[Part]:
    found = facts.agreement
    rows = found.table[found.table["value"].notna()]
    title = "Agreement of the coders with 95 % intervals"
    shown = summary("agreement", title, found, rows, "agreement.csv", "title value")
    return [*shown, *notes(found.notes)]


@Section("gold-section", "Gold spans", details=True)
def gold(facts: SpanFacts) -> list[Part]:
    rows = facts.gold.sort_values("p_exact", kind="stable")
    return table("gold", "Gold spans, least certain first", GOLD_COLUMNS, rows, "gold.csv")


@Section("methods", "Methods", details=True)
def methods(facts: SpanFacts) -> list[Part]:
    texts = [say(f"spans_{part}") for part in ("groups", "model", "exact")]
    return [*notes(texts), *notes(facts.fit.spans.notes, 400)]
