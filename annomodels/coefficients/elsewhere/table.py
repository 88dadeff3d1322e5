"""All comparisons, and the page that shows them."""

from __future__ import annotations

from annomodels.coefficients.elsewhere.in_python import IN_PYTHON
from annomodels.coefficients.elsewhere.in_r_and_java import IN_R_AND_JAVA
from annomodels.coefficients.elsewhere.row import Elsewhere

__all__ = ["ELSEWHERE", "as_markdown"]

ELSEWHERE: tuple[Elsewhere, ...] = (*IN_PYTHON, *IN_R_AND_JAVA)
"""All comparisons, by package."""

_BASIS = {"cases": "numbers", "source": "its source"}


def as_markdown() -> str:
    """Give the rows as Markdown tables, one for each package.

    Examples
    --------
    >>> print(as_markdown().splitlines()[0])
    ## NLTK
    """
    lines: list[str] = []
    for package in dict.fromkeys(row.package for row in ELSEWHERE):
        lines += [f"## {package}", "", "| there | here | known differences | checked by |"]
        lines.append("|---|---|---|---|")
        for row in ELSEWHERE:
            if row.package == package:
                cells = (f"`{row.call}`", f"`{row.ours}`", row.differs, _BASIS[row.basis])
                lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)
