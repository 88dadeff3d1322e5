"""A page on coreference: first screen, agreement, texts, methods and glossary."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from annomodels.data.columns import COLUMNS, Column, decimal, percent, short
from annomodels.data.columns import columns as columns_of
from annomodels.data.validation import counted
from annomodels.plots import style
from annomodels.reporting.head import warning
from annomodels.reporting.links import LinkFacts
from annomodels.reporting.parts import (
    Action,
    Head,
    Part,
    Section,
    drawn,
    notes,
    picture,
    table,
)
from annomodels.reporting.sections.places import DIFFERS, states
from annomodels.reporting.words import MESSAGES, coders_listed, say, with_interval

MOST_TEXTS, NAME_WIDTH = 40, 22
GLOSSARY = tuple(MESSAGES["glossary_of_links"].items())


@Section.of(
    "agreement-section",
    "Agreement",
    "What counts as the label of an expression (the condition, in brackets) moves alpha more than "
    "most coders do.",
    needs=("texts",),
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


@Section.of("methods", "Methods and glossary", details=True)
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
    bar = [(css, n, name) for css, (name, n) in zip(looks, kinds.items(), strict=True)]
    total = sum(n for _, n, _ in bar)
    if not math.isfinite(kappa.value):
        sentence = "No text has two mentions that two coders share, so there is nothing to compare."
    else:
        n, ends = total - kinds["one reading"], with_interval(kappa.value, kappa.low, kappa.high)
        sentence = str(say("coders_differ", n=n, of=total, kappa=ends))
    doubt = _warning(facts, rows["value"]["mention_f1"])
    return Head(sentence, bar, _actions(facts, kinds), doubt)


def _actions(facts: LinkFacts, kinds: dict[str, int]) -> list[Action]:
    out = []
    if two := kinds["two readings"]:
        about = "with two readings: fix the guideline if it is silent"
        out.append(Action("#places", f"Read {counted(two, 'place')}", about, "two readings"))
    below = facts.coders.table.query(f"p_below > {DIFFERS}")
    if len(below):
        about = "they agree less with the others than these do with each other"
        out.append(Action("#coders-section", f"Talk to {coders_listed(below['coder'])}", about))
    if alone := kinds["one coder differs"]:
        about = "one coder differs from all others; either may be right"
        only = "one coder differs"
        out.append(Action("#places", f"Check {counted(alone, 'place')}", about, only))
    if facts.fit is not None:
        out.append(Action("#silver-section", "Check the silver chains", "weakest link first"))
    return out


def _warning(facts: LinkFacts, mention_f1: float) -> str:
    if facts.fit is not None and not facts.fit.check():
        return warning(facts.fit.check())
    if mention_f1 < 0.5:
        return say("few_shared")
    return ""


def _head_of_fit(facts: LinkFacts) -> Head:
    assert facts.fit is not None
    counts = facts.fit.mentions().table["readings"].value_counts()
    one, several, none = (int(counts.get(kind, 0)) for kind in ("one", "several", "none"))
    bar = [("settled", one, "one reading"), ("contested", several, "several readings"),
           ("open", none, "none of those given")]  # fmt: skip
    sentence = say("several_readings", several=several, n=facts.fit.data.n_items)
    actions = [Action("#silver-section", "Check the silver chains", "weakest link first")]
    return Head(sentence, bar, actions, warning(facts.fit.check()))


@Section.of("data", "Texts", needs=("texts",), details=True)
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
    import pandas as pd

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
