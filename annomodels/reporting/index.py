"""Index page of the reports on several questions of one file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from annomodels.data.columns import percent, short
from annomodels.data.validation import counted
from annomodels.reporting.facts import Facts
from annomodels.reporting.page import basics, template
from annomodels.reporting.parts import BADGES
from annomodels.reporting.words import share_interval, with_interval

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit


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
