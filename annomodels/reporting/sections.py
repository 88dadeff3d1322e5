"""Short texts and numbers of the page, section by section."""

from __future__ import annotations

import platform

import numpy as np

from annomodels.data.names import label_text
from annomodels.plots.style import clean, short
from annomodels.reporting.collect import Known, ReportData
from annomodels.reporting.health import FEW, Spread
from annomodels.reporting.methods import bibtex, paragraphs, references
from annomodels.reporting.prose import as_markdown
from annomodels.reporting.words import count, interval, listed, number, percent, share_interval

__all__ = [
    "agreement_notes",
    "groups",
    "health_notes",
    "key_numbers",
    "meta",
    "methods_parts",
    "sizes",
    "unescaped",
]

Tile = tuple[str, str, str]


def meta(found: Known, version: str) -> list[tuple[str, str]]:
    """Name and value of each fact in the header."""
    fit, attrs = found.fit, found.fit.tree.attrs
    draws = count(int(attrs["draws"]), "draw")
    run = f"{fit.engine}, {count(int(attrs['chains']), 'chain')} of {draws}"
    made = str(attrs.get("annomodels", version))
    versions = f"annomodels {made}, NumPy {np.__version__}, Python {platform.python_version()}"
    if made != version:
        versions += f"; page by {version}"
    return [
        ("Data fingerprint", found.data.fingerprint),
        ("Model", str(fit.model.title)),
        ("Engine", run),
        ("Seed", str(fit.seed)),
        ("Versions", versions),
    ]


def key_numbers(found: ReportData) -> list[Tile]:
    """Four numbers on top of the verdict: what, value, with what."""
    n, wrong = found.data.n_items, found.wrong
    like = "items like these"
    contested = found.in_quadrant("contested")
    return [
        (
            "Settled gold labels",
            percent(found.settled / n),
            f"{found.settled:,} of {n:,} items; {like}: {share_interval(found.settled, n)}",
        ),
        (
            "Expected wrong labels",
            number(wrong.gold),
            f"{interval(wrong.gold_low, wrong.gold_high)}; majority vote {number(wrong.vote)}"
            + ("; too few, see the verdict" if found.too_sure else ""),
        ),
        (
            "Coders flagged",
            f"{len(found.flagged):,}",
            f"of {count(found.data.n_coders, 'coder')}; {len(found.surely_bad):,} with a "
            "probability above 95 %",
        ),
        (
            "Contested items",
            f"{contested:,}",
            f"{percent(contested / n)} of the items; {like}: {share_interval(contested, n)}",
        ),
    ]


def sizes(found: Known) -> list[Tile]:
    """Tiles of the data section."""
    data, facts = found.data, found.health
    return [
        ("Items", f"{data.n_items:,}", f"{_spread(facts.per_item)} labels on each"),
        ("Coders", f"{data.n_coders:,}", f"{_spread(facts.per_coder)} labels from each"),
        ("Label set", f"{data.n_labels:,}", _names([label_text(name) for name in data.labels], 4)),
        (
            "Labels given",
            f"{len(data):,}",
            f"{count(facts.repeats, 'repeat')}, {count(facts.skips, 'skipped cell')}",
        ),
    ]


def groups(found: ReportData) -> list[Tile]:
    """Give the groups of items: name, how many, and what to do with them."""
    what = {
        "easy": "Coders agree and the label is sure. Nothing to do.",
        "hard but settled": "Coders disagree, yet no more than their errors explain, and the label "
        "is sure. Nothing to do.",
        "needs more labels": "No label is sure. More labels, best from good coders, would settle "
        "it.",
        "contested": "Coders disagree more than their errors explain. More labels would hardly "
        "help: the item may have two readings, or the guideline a gap.",
    }
    return [(name, f"{found.in_quadrant(name):,}", text) for name, text in what.items()]


def _spread(spread: Spread) -> str:
    if spread.least == spread.most:
        return f"{spread.least:,}"
    return (
        f"{spread.least:,} to {spread.most:,} (median {number(spread.median)}, middle half "
        f"{number(spread.quarter)} to {number(spread.three_quarters)})"
    )


def _names(names: list[str], most: int) -> str:
    return listed([short(name, 24) for name in names], most)


def health_notes(found: ReportData) -> list[str]:
    """Sentences on what a reader should know of the data."""
    data, facts = found.data, found.health
    out = []
    if data.is_complete:
        out.append("The data are complete: every coder labelled every item.")
    parts = facts.components
    if len(parts) > 1:
        rest = (
            f" (of {', '.join(f'{n:,}' for n in parts[:6])}{' …' if len(parts) > 6 else ''} items)"
        )
        out.append(
            f"The data fall into {len(parts):,} groups{rest} that share no coder: coders of "
            "different groups can be compared only through what the model assumes."
        )
    else:
        out.append("All items and coders hang together: any two coders can be compared.")
    if facts.few:
        names = _names([str(name) for name in facts.few], 6)
        verb = "has" if len(facts.few) == 1 else "have"
        out.append(
            f"{count(len(facts.few), 'coder')} {verb} fewer than {FEW} labels, so little can be "
            f"said about them: {names}."
        )
    if facts.single:
        verb = "has" if facts.single == 1 else "have"
        out.append(f"{count(facts.single, 'item')} {verb} one label only.")
    if facts.constant:
        names = _names([str(name) for name in facts.constant], 6)
        out.append(f"Always one and the same label, with {FEW} labels or more: {names}.")
    if facts.unused:
        names = _names([label_text(name) for name in facts.unused], 6)
        out.append(f"In the label set, but never given: {names}.")
    if data.gold is not None:
        known = int((data.gold >= 0).sum())
        out.append(f"The truth of {count(known, 'item')} is known and was used.")
    said = "groups that share no item"  # in other words above
    out += [short(note, 300) for note in data.notes[:12] if len(parts) == 1 or said not in note]
    return out


def agreement_notes(found: ReportData) -> list[str]:
    """Give the notes of the summary, and why percent and alpha differ when they do."""
    table = found.agreement.table.set_index("coefficient")
    out = []
    if {"percent", "alpha"} <= set(table.index):
        share, alpha = (float(table["value"][name]) for name in ("percent", "alpha"))
        if share - alpha > 0.3:
            given = np.array(found.health.label_counts) / max(len(found.data), 1)
            top = short(found.data.labels[int(given.argmax())], 24)
            out.append(
                f"Percent agreement and alpha differ much ({share:.2f} and {alpha:.2f}): "
                f"{percent(float(given.max()))} of the labels are {top}, so much of the agreement "
                "is expected by chance. Both are right; they answer different questions."
            )
    return out + [clean(note) for note in found.agreement.notes]


def methods_parts(found: ReportData) -> tuple[list[str], list[str], str]:
    """Paragraphs of the methods section, references, and BibTeX."""
    fit = found.fit
    texts = [unescaped(as_markdown(text)) for text in paragraphs(fit)]
    return texts, [source.text for source in references(fit)], bibtex(fit).rstrip()


def unescaped(text: str) -> str:
    """Markdown as plain text."""
    for sign in "`*_{}[]<>|#\\":
        text = text.replace(f"\\{sign}", sign)
    return clean(text.strip())
