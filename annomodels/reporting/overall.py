"""All questions of a study: methods section with one table, and the index page of their reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from annomodels.coefficients.reasons import resampled
from annomodels.data.columns import decimal, percent, short
from annomodels.data.validation import counted
from annomodels.reporting.facts import Facts, facts_of
from annomodels.reporting.methods import document, paragraphs, references, source_key
from annomodels.reporting.page import basics, template
from annomodels.reporting.parts import BADGES
from annomodels.reporting.words import (
    as_markdown,
    cite,
    cited_in,
    markdown_table,
    name,
    say,
    share_interval,
    sources_of,
    with_interval,
)
from annomodels.summaries.notes import listed

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.data.annotations import Annotations
    from annomodels.fitting.fit import Fit


_DATA = ("Question", "Scale", "Items", "Coders", "Labels", "Given")


def agreement_methods(
    questions: Mapping[str, Annotations], table: pd.DataFrame, left_out: Mapping[str, str]
) -> str:
    """Write a Markdown methods section about the agreement on several questions."""
    rows: Any = table.to_dict("records")
    titles = dict.fromkeys(map(_key, rows))
    named = [
        f"{title} {cite(key)}" if (key := source_key(coefficient)) else str(title)
        for coefficient, title in titles
    ]
    texts = [
        _studied(questions, left_out),
        say(
            "agreement_of_each",
            named=listed(named, len(named)),
            unit=_resampled(questions),
            rubin=cite("rubin1981"),
            cited=cite("krippendorff2019", "artstein2008"),
            annomodels=cite("annomodels"),
        ),
    ]
    cells = [(*_data(q, data), *_values(rows, q, titles)) for q, data in questions.items()]
    head = (*_DATA, *(f"{title} [95 %]" for _, title in titles))
    parts = ["## Agreement by question", markdown_table(head, cells, 2)]
    return document(texts, parts, sources_of(cited_in(texts)))


def fits_methods(fits: Mapping[str, Fit], left_out: Mapping[str, str]) -> str:
    """Write a Markdown methods section about fits of several questions of one study."""
    facts = {question: facts_of(fit) for question, fit in fits.items()}
    data = {question: fit.data for question, fit in fits.items()}
    models: dict[str, list[str]] = {}
    for question, known in facts.items():
        models.setdefault(paragraphs(known)[-3], []).append(question)
    texts = [_studied(data, left_out)]
    for text, whose in models.items():
        texts.append(f"For {_named(whose)}: {text}" if len(models) > 1 else text)
    texts.append(say("alphas_of_each", unit=_resampled(data), rubin=cite("rubin1981")))
    tables = [f.fit.agreement().table.assign(question=q) for q, f in facts.items()]
    rows: Any = [row for table in tables for row in table.to_dict("records")]
    titles = dict.fromkeys(_key(row) for row in rows if row["coefficient"] == "alpha")
    cells = []
    sources = sources_of(cited_in(texts[-1:]))
    for question, known in facts.items():
        settled = known.settled / known.data.n_items if known.truth == "class" else None
        cells.append(
            (
                *_data(question, data[question]),
                *_values(rows, question, titles),
                known.fit.model.name,
                "" if settled is None else percent(settled, 0),
                known.check.verdict,
            )
        )
        sources += references(known)
    alphas = (f"{title} [95 %]" for _, title in titles)
    head = (*_DATA, *alphas, "Model", "Settled gold labels", "Verdict")
    own = "For inference and results, see methods.md in the folder of each question."
    parts = ["## Questions", markdown_table(head, cells, 2)]
    return document([*texts, own], parts, list(dict.fromkeys(sources)))


def _studied(questions: Mapping[str, Any], left_out: Mapping[str, str]) -> str:
    """State the number and size of the questions, and what was left out."""
    items = _span([data.n_items for data in questions.values()], "item")
    coders = _span([data.n_coders for data in questions.values()], "coder")
    named = _named(list(questions))
    text = str(say("questions", n=len(questions), named=named, items=items, coders=coders))
    if left_out:
        listed = "; ".join(f"{name(question)} ({why})" for question, why in left_out.items())
        text += f" Not analyzed: {listed}."
    return text


def _span(numbers: list[int], word: str) -> str:
    low, high = min(numbers), max(numbers)
    return counted(low, word) if low == high else f"{low:,} to {counted(high, word)}"


def _named(questions: list[str]) -> str:
    return listed([name(question) for question in questions], len(questions))


def _data(question: str, data: Any) -> tuple[str, ...]:
    sizes = data.n_items, data.n_coders, data.n_labels, data.n_annotations
    return (as_markdown(name(question)), data.scale, *(f"{size:,}" for size in sizes))


def _values(rows: Any, question: str, titles: Mapping[tuple[str, str], None]) -> list[str]:
    # the title distinguishes ordinal alpha from nominal alpha
    found = {_key(row): row for row in rows if row["question"] == question}
    return [_interval(found[key]) if key in found else "" for key in titles]


def _key(row: Mapping[str, str]) -> tuple[str, str]:
    return row["coefficient"], row["title"]


def _resampled(questions: Mapping[str, Annotations]) -> str:
    """State the resampling unit of the intervals of each question."""
    units: dict[str, list[str]] = {}
    for question, data in questions.items():
        units.setdefault(resampled(data), []).append(question)
    if len(units) == 1:
        return next(iter(units))
    return "; ".join(f"{unit} (for {_named(whose)})" for unit, whose in units.items())


def _interval(row: Any) -> str:
    if not np.isfinite(row["value"]):
        return "not defined"
    if not np.isfinite(row["low"]):
        return decimal(row["value"])
    return f"{decimal(row['value'])} [{decimal(row['low'])}, {decimal(row['high'])}]"


def row_of(question: str, href: str, fit: Fit) -> dict[str, str]:
    data = fit.data
    table = fit.agreement().table.set_index("coefficient")
    value, low, high = (
        float(table[name].get("alpha", math.nan)) for name in ("value", "low", "high")
    )
    # ordinal alpha is a different coefficient from nominal alpha, so the page names it
    kind = str(table["title"].get("alpha", "")).partition(", ")[2]
    n, settled = data.n_items, Facts(fit).settled
    sizes = (
        counted(data.n_items, "item"),
        counted(data.n_coders, "coder"),
        counted(data.n_labels, "label"),
    )
    return {
        "question": short(question, 120),
        "href": quote(href),
        "size": f"{', '.join(sizes)}; {len(data):,} given",
        "alpha": f"{with_interval(value, low, high)}{kind and ', ' + kind}",
        "settled": f"{percent(settled / n)} ({share_interval(settled, n)})",
        "verdict": fit.check().verdict,
    }


def index_page(
    rows: list[dict[str, str]], source: str = "", left_out: Mapping[str, str] | None = None
) -> str:
    """Return the HTML of the page; excluded questions are below the table, with the reason."""
    name = short(source, 80)
    html: str = template("index.html").render(
        **{**basics(), "script": ""},
        eyebrow="Annotation reports",
        title=f"Annotation reports · {name}" if name else "Annotation reports",
        heading=name or "What the labels are worth",
        rows=rows,
        badges=BADGES,
        left_out={short(name, 120): why for name, why in (left_out or {}).items()},
    )
    return html
