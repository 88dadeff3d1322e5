"""The sentences of the page."""

from __future__ import annotations

import math
import platform
from typing import Any

import numpy as np

from annomodels.plots.style import short
from annomodels.reporting.coref.collect import CorefData
from annomodels.reporting.words import count, decimal, listed, percent

__all__ = ["GLOSSARY", "KINDS", "badge", "health", "meta", "methods", "tiles", "verdict"]

KINDS = {
    "agreement": "All coders with one reading chose the same.",
    "outlier": "One coder left what all the others chose.",
    "scattered": "Coders differ, but no second reading has two of them behind it.",
    "implicit": "Two readings have two coders or more each: the text may be ambiguous.",
    "explicit": "A coder gave several readings.",
    "explicit and implicit": "Both: coders gave several readings, and others chose different ones.",
}
GLOSSARY = (
    ("Mention", "An expression that refers, known by its words; two coders mean the same mention "
     "if they marked exactly the same words."),
    ("Chain", "The mentions that refer to one thing. A label made of a chain depends on what is "
     "counted as part of it: the condition, which stands in the name of every alpha."),
    ("Kappa on coreferent pairs", "Every pair of mentions that both coders marked is coreferent or "
     "not. Kappa of these decisions, text by text; the adjusted Rand index."),
    ("Mean over these texts", "What is uncertain is how the coders would do on other mentions of "
     "these very texts."),
    ("Mean over texts like these", "What is uncertain is which texts were taken, too."),
    ("One further text", "The kappa that coders like these would show on the next text."),
    ("Difference of a coder", "Kappa with the others less the kappa of the others on the same "
     "texts; below 0: less like them than they are like each other."),
    ("DN, DO", "Discourse-new: the expression speaks of something for the first time. "
     "Discourse-old: it takes up an antecedent."),
    ("Silver chain", "Each mention joined to its most probable antecedent, as the model sees it "
     "after weighing the coders."),
)  # fmt: skip
UNKNOWN = (
    "The interval of a text is about this text, coded anew. It does not say how other texts would "
    "do, least of all where chains are few and long, or a coder gets a whole chain wrong; for that "
    "there is the mean over texts like these."
)
TOO_SURE = (
    "The numbers in brackets are the chance that one more reader makes the link (p_next). Silver "
    "antecedents are chosen by the probability of being true (p_link of links.csv), which takes "
    "coders for independent: on a public crowd it named more gold antecedents than majority "
    "voting, but was far too sure; read it as an order."
)


def _rows(found: CorefData) -> list[Any]:
    """Rows of the table of agreement; their values are numbers and texts."""
    return list(found.agreement.itertuples())


def badge(found: CorefData) -> tuple[str, str, str]:
    """Tone, name and sentence of the badge on top."""
    if found.posterior is None:
        return "not", "✕ Nothing to compare", "No text has two mentions that two coders share."
    shared = next(r.value for r in _rows(found) if r.coefficient == "mention_f1")
    if found.fit is not None and not found.fit.mixed:
        return "check", "! Check", found.fit.check()[0]
    if shared < 0.5:
        return (
            "check",
            "! Check",
            "Coders share fewer than half of their mentions; agreement on pairs and clusters is "
            "about the shared ones only.",
        )
    return (
        "trust",
        "✓ Computed",
        "Kappa on pairs stands with intervals; alpha on chains has one from three texts on, F1 of "
        "mentions has none.",
    )


def meta(found: CorefData, version: str) -> list[tuple[str, str]]:
    """Name and value of each fact in the header."""
    model = "none" if found.fit is None else f"{found.fit.model.title}, {found.fit.engine}"
    versions = f"annomodels {version}, NumPy {np.__version__}, Python {platform.python_version()}"
    return [
        ("Places judged by", found.condition),
        ("Model of silver chains", model),
        ("Intervals", f"{found.prob:.0%}".replace("%", " %")),
        ("Versions", versions),
    ]


def tiles(found: CorefData) -> list[tuple[str, str, str]]:
    """Give four numbers: what, value, with what."""
    mentions = sum(len(document.keys) for document in found.documents)
    rows = {str(r.coefficient): r for r in _rows(found)}
    kinds = found.kinds()
    open_ = sum(n for kind, n in kinds.items() if kind not in ("agreement", "outlier"))
    total = max(sum(kinds.values()), 1)
    kappa = rows["pair_kappa"]
    low, high = float(kappa.low), float(kappa.high)
    text = f"{decimal(low)} to {decimal(high)}" if math.isfinite(low) else "not defined"
    return [
        ("Texts", f"{len(found.documents):,}", f"{count(found.n_coders, 'coder')}"),
        (
            "Mentions",
            f"{mentions:,}",
            f"F1 of pairs of coders {decimal(rows['mention_f1'].value)}",
        ),
        ("Kappa on pairs", decimal(kappa.value), text),
        ("Open places", f"{open_:,}", f"{percent(open_ / total)} of {count(total, 'expression')}"),
    ]


def verdict(found: CorefData) -> list[tuple[str, str]]:
    """Give the sentences of the first section: about what, and what."""
    rows = {str(r.coefficient): r for r in _rows(found)}
    out = []
    kappa = rows["pair_kappa"]
    if math.isfinite(kappa.value):
        text = (
            f"Kappa on coreferent pairs is {decimal(kappa.value)} over these texts "
            f"({decimal(kappa.low)} to {decimal(kappa.high)})"
        )
        if "pair_kappa_new" in rows:
            mean, new = rows["pair_kappa_mean"], rows["pair_kappa_new"]
            text += (
                f"; over texts like these {decimal(mean.low)} to {decimal(mean.high)}, and one "
                f"further text would show {decimal(new.low)} to {decimal(new.high)}"
            )
        out.append(("Pairs", text + "."))
    for row in list(rows.values())[:8]:
        if str(row.coefficient).startswith(("alpha_", "K_")):
            value = decimal(row.value) if math.isfinite(row.value) else "not defined"
            if math.isfinite(row.low):
                value += f" ({decimal(row.low)} to {decimal(row.high)} over texts like these)"
            out.append(("Chains", f"{row.measure}: {value}."))
    kinds = found.kinds()
    both = sum(kinds.get(kind, 0) for kind in ("explicit", "implicit", "explicit and implicit"))
    out.append(
        (
            "Places",
            f"{count(both, 'place')} with two readings that coders stand behind or name, "
            f"{kinds.get('scattered', 0):,} with scattered readings, {kinds.get('outlier', 0):,} "
            "with a single outlier.",
        )
    )
    below = found.coders[found.coders["p_below"] > 0.95]
    if len(below):
        names = listed([short(name, 30) for name in below["coder"]], 5)
        said = f"Less like the others than these are like each other, almost surely: {names}."
    elif found.coders["p_below"].notna().any():
        said = "No coder is almost surely less like the others than these are like each other."
    else:
        said = "With two coders nobody can say who of them differs."
    out.append(("Coders", said))
    return out


def health(found: CorefData) -> list[str]:
    """Sentences on the texts, as reading found them."""
    notes = [f"{short(d.id, 60)}: {short(n, 240)}" for d in found.documents for n in d.notes]
    more = len(notes) - 12
    return notes[:12] + ([f"{more:,} more notes of this kind."] if more > 0 else [])


def methods(found: CorefData) -> list[str]:
    """Give the paragraphs to paste."""
    alphas = [
        f"{r.measure}: {decimal(r.value)}"
        for r in _rows(found)
        if str(r.coefficient).startswith(("alpha_", "K_"))
    ]
    share = f"{found.prob:.0%}".replace("%", " %")
    out = [
        f"{count(len(found.documents), 'text')} were coded by {count(found.n_coders, 'coder')}. "
        "Mentions are the same if they have exactly the same words. Agreement on coreference was "
        "measured by kappa over all pairs of mentions that two coders share, text by text, "
        "averaged over pairs of coders and texts (Kopeć and Ogrodniczuk 2014; the adjusted Rand "
        f"index of Hubert and Arabie 1985). {share} intervals are from a Bayesian bootstrap over "
        "mentions with two mentions of a prior, and from a normal model of texts."
    ]
    if alphas:
        out.append(
            "Agreement on chains was measured under the conditions of Poesio and Artstein (2005) "
            f"with distances between sets (Passonneau 2004): {'; '.join(alphas)}."
        )
    if found.fit is not None:
        story = " ".join(found.fit.describe())
        out.append(f"Silver chains are from the {found.fit.model.title} model. {story}")
    return out
