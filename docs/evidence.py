"""Numbers that several pages state, read from the tables that ``make bench`` writes.

Pages include them as ``{{ name }}``; README gets its sentence and figure by ``docs/readme.py``.
Promises are stated as measured out of sample: in ``tables/truth.md`` the log loss "left out", the
expected wrong labels and their interval are those with the family of the data set left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FIGURE", "figure", "numbers", "rows", "sentences"]

DOCS = Path(__file__).resolve().parent
FIGURE = DOCS / "images" / "wrong-labels.svg"
# a vote is better than the stack if it is right so many percentage points more often
WORSE = 1.0


@dataclass(frozen=True)
class Row:
    """A public data set: share of right gold labels, and wrong ones: actual and expected."""

    name: str
    family: str
    votes: float  # right labels of a majority vote, per cent
    stack: float
    left_out: float  # log loss with the family left out, over that of the votes
    wrong: int
    expected: int
    low: int
    high: int
    covered: bool


def _table(name: str) -> str:
    return (DOCS / "tables" / f"{name}.md").read_text("utf-8")


def rows(text: str) -> list[Row]:
    """Return the data sets of a table of ``benchmarks/truth.py``."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    at = {name: n for n, name in enumerate(next(c for c in cells if c[0] == "set"))}
    found = []
    for cell in cells:
        named = dict(zip(at, cell, strict=False))
        interval = re.fullmatch(r"(\d+) \((\d+) to (\d+)\)", named.get("expected", ""))
        if interval:
            found.append(
                Row(
                    named["set"],
                    named["family"],
                    float(named["% votes"]),
                    float(named["% stack"]),
                    float(named["left out"]),
                    int(named["wrong"]),
                    *map(int, interval.groups()),
                    named["covered"] == "yes",
                )
            )
    return found


def _overall(text: str) -> dict[str, str]:
    """Numbers of the sentence on all data sets."""
    said = text[text.index("Of all, ") :].partition("\n")[0]
    wanted = {
        "loss_of_sets": r"left out ([\d.]+) \(",
        "loss": r"left out [\d.]+ \(([\d.]+)\)",
        "votes": r"votes ([\d.]+) %",
        "stack": r"stack ([\d.]+) %",
        "covered": r"the actual number on (\d+) of \d+ sets",
        "coders": r"share of right labels of (\d+) % of the coders",
    }
    found = {name: re.search(pattern, said) for name, pattern in wanted.items()}
    if lacking := [name for name, match in found.items() if not match]:
        raise ValueError(f"The last sentence of truth.md lacks {', '.join(lacking)}.")
    return {name: match[1] for name, match in found.items() if match}


def _listed(names: Sequence[str]) -> str:
    """Names in a sentence; "none" if there are none."""
    *some, last = names or ["none"]
    return f"{', '.join(some)} and {last}" if some else last


def numbers(text: str | None = None) -> dict[str, str]:
    """Numbers by the name under which pages include them; ``text`` is the table of all sets."""
    text = _table("truth") if text is None else text
    sets, overall = rows(text), _overall(text)
    if overall["covered"] != str(sum(row.covered for row in sets)):
        raise ValueError("The sentences of truth.md are not about the data sets of its table.")
    speed = _table("speed")
    em = re.search(r"An iteration is \*\*(\d+) times\*\*", speed)
    million = re.search(r"4 chains: \*\*(\d+) s, at most ([\d.]+) GB", speed)
    nuts = re.search(r"nutpie: \*\*(\d+) times\*\*", speed)
    if not (em and million and nuts):
        raise ValueError("The tables of make bench lack a number that the pages include.")
    return {
        "sets": f"{len(sets)}",
        "families": f"{len({row.family for row in sets})}",
        "covered": overall["covered"],
        "missed": _listed([row.name for row in sets if not row.covered]),
        "worse": _listed([row.name for row in sets if row.votes - row.stack >= WORSE]),
        "worse_probabilities": _listed([row.name for row in sets if row.left_out > 1.0]),
        "log_loss": _lower(overall["loss"]),
        "log_loss_of_sets": _lower(overall["loss_of_sets"]),
        "right_stack": f"{overall['stack']} %",
        "right_votes": f"{overall['votes']} %",
        "coders_covered": f"{overall['coders']} %",
        "em_times": em[1],
        "nuts_times": nuts[1],
        "million_seconds": million[1],
        "million_memory": f"{million[2]} GB",
        **_verdicts(),
    }


def _lower(ratio: str) -> str:
    """Per cent by which a log loss is below that of the votes."""
    less = 100 - round(100 * float(ratio))
    return f"{less} % lower" if less >= 0 else f"{-less} % higher"


def _verdicts() -> dict[str, str]:
    """Count verdicts on public data sets and on simulated crowds without a fault."""
    fits: dict[tuple[str, str], int] = {}
    covered: dict[tuple[str, str], str] = {}
    for line in _table("verdict").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[2].isdecimal():
            fits[cells[0], cells[1]], covered[cells[0], cells[1]] = int(cells[2]), cells[3]
    public = sum(n for (data, _), n in fits.items() if data == "public")
    plain = {verdict: n for (data, verdict), n in fits.items() if data.endswith("without a fault")}
    passed = plain.get("no problem found", 0) + plain.get("confirmed", 0)
    return {
        "verdict_review": f"{fits.get(('public', 'needs review'), 0)} of {public}",
        "verdict_covered": covered.get(("public", "no problem found"), "0 of 0"),
        "verdict_plain": f"{passed} of {sum(plain.values())}",
    }


def sentences(text: str | None = None) -> dict[str, str]:
    """Sentences that hold several of the numbers."""
    n = numbers(text)
    return {
        "readme": (
            f"With the family of each of {n['sets']} public data sets ({n['families']} families) "
            "left out of the calibration, the 95 % interval\ncovered the actual number of wrong "
            f"gold labels on {n['covered']}. The log loss was {n['log_loss']} than that of vote "
            "shares (mean over families).\nIn sample, gold labels were right on "
            f"{n['right_stack']} of the items, a majority vote on {n['right_votes']} (means over "
            "data sets)."
        )
    }


def figure(text: str | None = None) -> str:
    """Draw expected (line: 95 % interval) and actual number of wrong labels of each data set."""
    sets = sorted(rows(_table("truth") if text is None else text), key=lambda row: row.wrong)
    left, right, top, step = 160, 760, 30, 18
    height = top + step * len(sets) + 46
    limit = max(max(row.high, row.wrong) for row in sets)
    scale = _scale(limit, left, right)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {height}" width="800" '
        f'height="{height}" font-family="sans-serif" font-size="12" role="img">',
        "<title>Expected and actual number of wrong gold labels on public data sets</title>",
        f'<rect width="800" height="{height}" fill="#ffffff"/>',
        '<line x1="162" y1="15" x2="192" y2="15" stroke="#7a9cc6" stroke-width="7"/>'
        '<line x1="177" y1="10" x2="177" y2="20" stroke="#1f4e8c" stroke-width="2"/>'
        '<text x="200" y="19">expected, 95 % interval</text>'
        '<circle cx="380" cy="15" r="5" fill="#c2410c"/><text x="392" y="19">actual</text>',
    ]
    for n, row in enumerate(sets):
        y = top + step * n + 14
        low, mid, high, actual = (scale(v) for v in (row.low, row.expected, row.high, row.wrong))
        parts.append(
            f'<text x="150" y="{y + 4}" text-anchor="end">{row.name}</text>'
            f'<line x1="{low}" y1="{y}" x2="{high}" y2="{y}" stroke="#7a9cc6" stroke-width="7"/>'
            f'<line x1="{mid}" y1="{y - 5}" x2="{mid}" y2="{y + 5}" stroke="#1f4e8c" '
            f'stroke-width="2"/><circle cx="{actual}" cy="{y}" r="5" fill="#c2410c"/>'
        )
    base = top + step * len(sets) + 12
    parts += [
        f'<text x="{scale(v)}" y="{base + 10}" text-anchor="middle" fill="#555">{v:,}</text>'
        for v in (0, 10, 50, 200, 500, 1000)
        if v <= limit
    ]
    parts.append(f'<text x="{right}" y="{base + 26}" text-anchor="end">wrong gold labels</text>')
    return "\n".join([*parts, "</svg>", ""])


def _scale(limit: int, left: int, right: int):  # type: ignore[no-untyped-def]
    """Square-root scale, on which small and large sets can both be read."""
    return lambda value: round(left + (right - left) * (value / limit) ** 0.5, 1)
