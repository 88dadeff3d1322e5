"""Facts about texts with coreference chains, and the sections of their page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from annomodels.coref import links as chains
from annomodels.coref.agreements import By, Which
from annomodels.coref.conditions import CONDITIONS, condition_named
from annomodels.coref.overview import agreement_table, coder_table
from annomodels.coref.posteriors import PairPosterior, pair_posterior
from annomodels.coref.readings import ambiguous_places, position, reading_table, words_of
from annomodels.data.columns import COLUMNS, Column, clean, decimal, percent, short
from annomodels.data.columns import columns as columns_of
from annomodels.data.document import Document
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import NotApplicable
from annomodels.plots import style
from annomodels.reporting.head import warning
from annomodels.reporting.parts import (
    MOST_CARDS,
    Card,
    Head,
    Part,
    Section,
    action,
    drawn,
    notes,
    picture,
    summary,
    table,
)
from annomodels.reporting.parts import cards as carded
from annomodels.reporting.words import MESSAGES, coders_listed, say, with_interval
from annomodels.summaries.notes import listed

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit


MOST_PLACES = 500
CODER_DRAWS = 400


@dataclass(eq=False)
class LinkFacts:
    documents: Sequence[Document]
    chains: Sequence[str] = ("incl-",)
    distances: Sequence[str] = ("passonneau",)
    coefficient: Which = "alpha"
    fit: Fit | None = None
    at_least: float = 0.5
    draws: int = 1000
    seed: int = 0
    prob: float = 0.95

    truth, estimate = "link", None

    def unsupported(self, verb: str) -> str:
        """Return why a table is unavailable; empty if it is available."""
        if verb == "texts":
            return "" if self.documents else "a fit does not contain the texts: give texts="
        return "no model was fitted" if self.fit is None else self.fit.unsupported(verb)

    @property
    def chain(self) -> str:
        """Name of the condition used for the places."""
        return condition_named(self.chains[0] if self.chains else "incl-").name

    @property
    def condition(self) -> str:
        """Title of the condition used for the places."""
        return CONDITIONS[self.chain].title

    @cached_property
    def agreement(self) -> Summary:
        return self.agreement_by(None)

    @cached_property
    def by_kappa(self) -> pd.DataFrame:
        """Pair kappa of each text, the lowest first."""
        assert self.posterior is not None
        return self.posterior.table.sort_values("kappa", kind="stable")

    def agreement_by(self, by: By | None) -> Summary:
        """Return the table of :func:`annomodels.coref.agreement_table`."""
        return agreement_table(
            self.documents, self.chains, self.distances,
            coefficient=self.coefficient, by=by, draws=self.draws, seed=self.seed, prob=self.prob,
        )  # fmt: skip

    @cached_property
    def posterior(self) -> PairPosterior | None:
        """Draws of pair kappa; None if no two coders share mentions."""
        try:
            return pair_posterior(self.documents, self.draws, self.seed, self.prob)
        except NotApplicable:
            return None

    @cached_property
    def places(self) -> pd.DataFrame:
        """Every expression with its kind, from :func:`annomodels.coref.ambiguous_places`."""
        return ambiguous_places(self.documents, self.chain).table

    @cached_property
    def readings(self) -> pd.DataFrame:
        """The most contested places in context, from :func:`annomodels.coref.reading_table`."""
        return reading_table(self.documents, self.chain, most=MOST_PLACES).table

    @cached_property
    def coders(self) -> Summary:
        return coder_table(
            self.documents, self.chain, draws=CODER_DRAWS, seed=self.seed, prob=self.prob
        )

    @property
    def n_coders(self) -> int:
        return len({coder for document in self.documents for coder in document.layers})

    def kinds(self) -> dict[str, int]:
        if not len(self.places):
            return {}
        return {str(kind): int(n) for kind, n in self.places["kind"].value_counts().items()}


Row = tuple[str, str, int, float]
TWO = ("implicit", "explicit", "explicit and implicit")
DIFFERS = 0.95  # probability from which a coder counts as different from the others
KINDS = {
    "agreement": "one reading",
    "outlier": "one coder differs",
    "scattered": "scattered readings",
    **dict.fromkeys(TWO, "two readings"),
}
"""Names of the kinds of `places.csv` on the page."""
ABOUT = {
    "one reading": "All coders with one reading chose the same reading.",
    "one coder differs": "One coder deviates from the choice of all others.",
    "scattered readings": "Coders differ, but no two coders share a second reading.",
    "two readings": "Two readings have at least two coders each, or a coder gave several readings.",
}


@dataclass(frozen=True)
class Place:
    """Expression in context, with readings: text, coders and number of coders."""

    where: str
    kind: str
    before: str
    text: str
    after: str
    readings: tuple[tuple[str, str, int], ...]
    of: int

    @property
    def second(self) -> int:
        """Number of coders with the second reading."""
        return self.readings[1][2] if len(self.readings) > 1 else 0


@Section("places", "Places to read", needs=("texts",))
def places(facts: LinkFacts) -> list[Part]:
    kinds = states(facts)
    counted = [(name, f"{n:,}", ABOUT[name]) for name, n in kinds.items() if n]
    # two readings first, then by number of coders with the second reading
    shown = sorted(
        _in_context(facts), key=lambda place: (place.kind != "two readings", -place.second)
    )
    if not shown:
        return [Part("kinds", counted, "kinds"), Part("text", "The coders do not differ anywhere.")]
    differ = sum(kinds.values()) - kinds["one reading"]
    more = f"; {differ - len(shown):,} more are in places.csv" if differ > len(shown) else ""
    lead = say("place_lead", more=more, condition=facts.condition)
    offered = dict.fromkeys(place.kind for place in shown)
    return [
        Part("text", lead, "lead"),
        Part("kinds", counted, "kinds"),
        Part("places", (shown, list(offered))),
    ]


def states(facts: LinkFacts) -> dict[str, int]:
    """Count the expressions of each state, by the names on the page."""
    kinds = facts.kinds()
    return {
        name: sum(kinds.get(kind, 0) for kind, called in KINDS.items() if called == name)
        for name in ABOUT
    }


@Section(
    "coders-section",
    "Coders",
    "Kappa with the others, next to that of the others on the same texts, and places where only "
    "this coder deviates from the reading of all others. Each card ends with a sentence that you "
    "can send.",
    parts=(("texts", "Coders against each other"),),
)
def coders(facts: LinkFacts) -> list[Part]:
    of_model = rates(facts.fit, facts.prob) if facts.fit is not None else []
    if facts.unsupported("texts"):
        return of_model
    two = ["With two coders, the data cannot show which of them differs."] * (facts.n_coders < 3)
    return [
        *notes(two),
        *carded([] if two else cards(facts)),
        *summary("coders", facts.coders.title, facts.coders, full="coders.csv"),
        *[Part("more", ("As the model of silver chains sees them", of_model))] * bool(of_model),
    ]


def cards(facts: LinkFacts) -> list[Card]:
    """Return a card per coder, the most different coder first."""
    alone: dict[str, list[str]] = {}
    for place in _in_context(facts):
        for _, who, n in place.readings:
            if place.kind == "one coder differs" and n == 1:
                known = place.text in place.where  # there are no words to quote
                name = place.where if known else f"“{short(place.text, 30)}” ({place.where})"
                alone.setdefault(who, []).append(name)
    rows = facts.coders.table.head(MOST_CARDS).itertuples()
    return [_card(row, alone.get(short(str(row.coder), 200), [])) for row in rows]


def _card(row: Any, alone: list[str]) -> Card:
    kappa = with_interval(row.with_others, row.low, row.high)
    apart = f"{decimal(row.others)} among themselves" if math.isfinite(row.others) else "–"
    kind = "differs" if row.p_below > DIFFERS else "as the others"
    kind = kind if math.isfinite(row.p_below) else "not enough evidence"
    left = f"at {row.alone:,} of {counted(int(row.places), 'place')}" if row.alone else "nowhere"
    about = f"{counted(int(row.texts), 'text')}, {counted(int(row.mentions), 'mention')}"
    return Card(
        short(row.coder, 40), kind, about,
        (("With the others", kappa), ("The others", apart), ("Alone", left)),
        _feedback(kind, alone),
    )  # fmt: skip


def _feedback(kind: str, alone: list[str]) -> str:
    """Return one sentence to send to a coder."""
    places = f": {listed(alone, 2)}" if alone else ""
    if kind == "differs":
        return f"Your chains differ most; please reread the guideline{places}."
    if alone:
        return f"Please look again where you alone chose another chain{places}."
    if kind == "as the others":
        return "Your chains are like those of the others: please go on like this."
    return "You share too few mentions with two others to compare your chains."


def _in_context(facts: LinkFacts) -> Iterator[Place]:
    """Yield places in table order, with all readings of each."""
    for (document, span), rows in facts.readings.groupby(["document", "span"], sort=False):
        listed: list[Any] = list(rows.itertuples())
        first = listed[0]
        readings = tuple((short(r.reading, 200), short(r.coders, 200), int(r.n)) for r in listed)
        many = len(facts.documents) > 1
        yield Place(
            f"{short(document, 50)}, {position(str(span))}" if many else position(str(span)),
            KINDS[str(first.kind)],
            clean(first.before),
            short(first.text, 200),
            clean(first.after),
            readings,
            int(first.of),
        )


def rates(fit: Fit, prob: float) -> list[Part]:
    """Tabulate the model's sensitivity and specificity, or accuracy, of each coder."""
    frame = fit.coders(prob=prob).table.sort_values("mean", kind="stable")
    columns = columns_of(
        "coder",
        Column("kind", "Class", "name"),
        COLUMNS["quantity"].called(kind="text"),
        "mean judgments",
    )
    title = "Coders as estimated by the model, lowest first"
    return table("rates", title, columns, frame.rename(columns={"class": "kind"}), "rates.csv")


@Section("silver-section", "Silver chains", needs=("chains",), printed=False)
def silver(facts: LinkFacts) -> list[Part]:
    assert facts.fit is not None
    frame = pd.DataFrame(
        _chains(facts, facts.fit), columns=["document", "chain", "mentions", "weakest"]
    )
    columns = columns_of(
        COLUMNS["document"].called("Text"),
        Column("chain", "Chain; in brackets, P(next reader makes the link)", "text", width=400),
        "mentions weakest",
    )
    lead = say("silver_lead", least=facts.at_least)
    frame = frame.sort_values("weakest", kind="stable")
    title, none = "Silver chains, weakest link first", "No link is probable enough."
    shown = table("silver", title, columns, frame, "links.csv", otherwise=none)
    return [Part("text", lead, "lead"), *shown]


def _chains(facts: LinkFacts, fit: Fit) -> list[Row]:
    """Return text, mentions, size and weakest link of each chain; in words if there are texts."""
    links = fit.links().table
    p_next = dict(zip(links["item"], links["p_next"], strict=True))
    words = {
        name: words_of(document, key[1])
        for document in facts.documents
        for name, key in chains.named(document)
    }
    place = {name: n for n, name in enumerate(words)}
    rows: list[Row] = []
    for chain, group in fit.chains(facts.at_least).table.groupby("chain"):
        linked = set(group["item"][group["p_link"].notna()])
        parts = [
            words.get(item, item) + (f" ({p_next[item]:.2f})" if item in linked else "")
            for item in sorted(group["item"], key=lambda name: place.get(name, 0))
        ]
        weakest = min(p_next[item] for item in linked)
        rows.append((str(chain).rpartition("#")[0], " – ".join(parts), len(parts), weakest))
    return rows


MOST_TEXTS, NAME_WIDTH = 40, 22
GLOSSARY = tuple(MESSAGES["glossary_of_links"].items())


@Section(
    "agreement-section",
    "Agreement",
    "What counts as the label of an expression (the condition, in brackets) moves alpha more than "
    "most coders do.",
    needs=("texts",),
    printed=False,
)
def agreement(facts: LinkFacts) -> list[Part]:
    found = facts.agreement
    columns = (*found.columns, COLUMNS["note"])
    shown = table("agreement", found.title, columns, found.table, "agreement.csv")
    if facts.posterior is None:
        return [*shown, Part("text", "No text has two mentions that two coders share.")]
    genre = [GENRE] * any(facts.posterior.table["genre"])
    columns = columns_of(COLUMNS["document"].called("Text"), *genre, "kappa")
    title = "Kappa on coreferent pairs, lowest text first"
    return [*shown, *table("texts", title, columns, facts.by_kappa, "texts.csv")]


@Section("methods", "Methods and glossary", details=True)
def words(facts: LinkFacts) -> list[Part]:
    return [
        Part("heading", "Methods paragraph"),
        *(Part("text", text) for text in methods(facts)),
        Part("heading", "Glossary"),
        Part("words", GLOSSARY),
    ]


def head(facts: LinkFacts) -> Head:
    if facts.unsupported("texts"):
        return _head_of_fit(facts)
    kinds = states(facts)
    rows: Any = facts.agreement.table.set_index("coefficient")
    kappa = rows.loc["pair_kappa"]
    looks = ("settled", "decided", "open", "contested")
    total = sum(kinds.values())
    if not math.isfinite(kappa.value):
        sentence = "No text has two mentions that two coders share, so there is nothing to compare."
    else:
        n, ends = total - kinds["one reading"], with_interval(kappa.value, kappa.low, kappa.high)
        sentence = str(say("coders_differ", n=n, of=total, kappa=ends))
    doubt = _warning(facts, rows["value"]["mention_f1"])
    below = facts.coders.table.query(f"p_below > {DIFFERS}")["coder"]
    actions = [
        action("read_places", kinds["two readings"]),
        action("coders_of_chains", len(below), names=coders_listed(below)),
        action("check_places", kinds["one coder differs"]),
        action("check_chains", facts.fit is not None),
    ]
    return Head.of(sentence, kinds.values(), actions, doubt, dict(zip(looks, kinds, strict=True)))


def _warning(facts: LinkFacts, mention_f1: float) -> str:
    if facts.fit is not None and not facts.fit.check():
        return warning(facts.fit.check())
    if mention_f1 < 0.5:
        return say("few_shared")
    return ""


def _head_of_fit(facts: LinkFacts) -> Head:
    assert facts.fit is not None
    counts = facts.fit.mentions().table["readings"].value_counts()
    states = [int(counts.get(kind, 0)) for kind in ("one", "several", "none")]
    bar = {"settled": "one reading", "contested": "several readings", "open": "none of those given"}
    sentence = say("several_readings", several=states[1], n=facts.fit.data.n_items)
    actions = [action("check_chains", 1)]
    return Head.of(sentence, states, actions, warning(facts.fit.check()), bar)


@Section("data", "Texts", needs=("texts",), details=True)
def texts(facts: LinkFacts) -> list[Part]:
    found = [f"{short(d.id, 60)}: {short(n, 240)}" for d in facts.documents for n in d.notes]
    more = len(found) - 12
    found = found[:12] + ([f"{counted(more, 'more note')} of this kind."] if more > 0 else [])
    check = facts.fit.check().sentences if facts.fit is not None else ()
    several = facts.posterior is not None and len(set(facts.posterior.table["genre"])) > 1
    return [
        *notes([*check, *found], 400),
        Part("text", say("not_this_text")),
        *(genres(facts) if several else []),
        *drawn(forest(facts)),
    ]


GENRE = Column("genre", "Text type", "name", of=lambda row: row.genre or "")


def genres(facts: LinkFacts) -> list[Part]:
    assert facts.posterior is not None
    columns = columns_of(
        GENRE,
        "texts",
        *(
            Column(name, title, interval=("low", "high"), of=_ends(name))
            for name, title in (
                ("these_texts", "These texts"),
                ("mean_over_texts", "Texts like these"),
                ("new_text", "One further text"),
            )
        ),
    )
    wide = []
    for genre, part in sorted(facts.posterior.by_genre().items()):
        own = part.overall.set_index("quantity")
        wide.append({"genre": genre, "texts": int(own["texts"].iloc[0]), "rows": own})
    title = "Kappa on coreferent pairs by text type; types share information"
    return table("genres", title, columns, pd.DataFrame(wide))


def _ends(quantity: str) -> Callable[[Any], Any]:
    return lambda row: tuple(row.rows.loc[quantity, ["kappa", "low", "high"]])


def forest(facts: LinkFacts) -> Part | None:
    """Plot kappas of texts, thinned evenly if many, of similar texts and of a further text."""
    if facts.posterior is None or len(facts.posterior.table) < 2:
        return None
    frame, n = facts.by_kappa, len(facts.by_kappa)
    shown = frame.iloc[np.linspace(0, n - 1, min(n, MOST_TEXTS)).round().astype(int)]
    summary = facts.posterior.overall.iloc[1:]
    names = [style.mathless(name) for name in style.distinct_names(shown["document"], NAME_WIDTH)]
    rows = np.arange(len(shown), dtype=float)
    below = len(shown) + 0.6 + np.arange(len(summary), dtype=float)
    made = style.figure(0.9 + 0.24 * (len(shown) + len(summary)))
    ax = made.add_subplot()
    for place, kappas, colour, marker in (
        (rows, shown, style.BLUE, "o"),
        (below, summary, style.PURPLE, "D"),
    ):
        ends = [kappas[name].to_numpy(float) for name in ("kappa", "low", "high")]
        style.intervals(ax, place, ends, colour, marker, width=1.5, size=4.5)
    lowest = min(float(shown["low"].min()), float(summary["low"].min()), 0.0)
    ax.set_xlim(lowest - 0.03, 1.03)
    ax.set_ylim(below[-1] + 0.6, -0.6)
    ax.set_yticks(np.concatenate([rows, below]), [*names, "texts like these", "one further text"])
    ax.set_xlabel(f"kappa on coreferent pairs, {percent(facts.prob, 0)} interval")
    style.axes_style(ax)
    lowest_one, highest = (decimal(float(frame["kappa"].iloc[n])) for n in (0, -1))
    some = f" Shown are {len(shown)} of {n:,} texts, from the lowest to the highest." * (
        n > MOST_TEXTS
    )
    return picture(made, "texts", n=n, low=lowest_one, high=highest, some=some)


def methods(facts: LinkFacts) -> list[str]:
    out = list[str]()
    if facts.documents:
        n, prob = len(facts.documents), percent(facts.prob, 0)
        out.append(say("coded_texts", texts=n, coders=facts.n_coders, prob=prob))
        rows = facts.agreement.table
        rows = rows[rows["coefficient"].str.startswith(("alpha_", "K_"))]
        pairs = zip(rows["measure"], rows["value"], strict=True)
        alphas = [f"{measure}: {decimal(value)}" for measure, value in pairs]
        if alphas:
            out.append(say("alphas_of_chains", alphas="; ".join(alphas)))
    if facts.fit is not None:
        told = " ".join(facts.fit.model.describe())
        out.append(f"Silver chains are from the {facts.fit.model.title} model. {told}")
    return out
