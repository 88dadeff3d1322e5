"""Numbers that several pages state, read from the tables that ``make bench`` writes.

Pages include them as ``{{ name }}``; README gets its sentence and figure by ``docs/readme.py``.
Promises are stated as measured out of sample: they come from ``tables/truth_left_out.md``, which
has the format of ``tables/truth.md``, or of that only the sentence that starts with "Of all, ".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FIGURE", "figure", "numbers", "sentences"]

DOCS = Path(__file__).resolve().parent
FIGURE = DOCS / "images" / "wrong-labels.svg"


@dataclass(frozen=True)
class Row:
    """A public data set: share of wrong gold labels, expected with its interval, and actual."""

    name: str
    wrong: int
    expected: int
    low: int
    high: int

    @property
    def covered(self) -> bool:
        """True if the interval covers the actual number."""
        return self.low <= self.wrong <= self.high


def _table(name: str) -> str:
    return (DOCS / "tables" / f"{name}.md").read_text("utf-8")


def _overall(text: str, start: str) -> dict[str, str]:
    """Numbers of the sentence on a group of data sets that starts so; those that it has."""
    said = text[text.index(f"Of {start}, ") :].partition("\n")[0]
    wanted = {
        "loss": r"that of the votes stack ([\d.]+)",
        "right": r"([\d.]+) % right",
        "covered": r"the real number on (\d+) of \d+ sets",
        "sets": r"the real number on \d+ of (\d+) sets",
        "coders": r"share of right labels of (\d+ of \d+) coders",
    }
    found = {name: re.search(pattern, said) for name, pattern in wanted.items()}
    return {name: match[1] for name, match in found.items() if match}


def rows() -> list[Row]:
    """Rows of the table of the stack on public data sets."""
    found = []
    for line in _table("truth").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        interval = re.fullmatch(r"(\d+) \((\d+) to (\d+)\)", cells[10]) if len(cells) > 10 else None
        if interval:
            found.append(Row(cells[0], int(cells[9]), *map(int, interval.groups())))
    return found


def numbers() -> dict[str, str]:
    """Numbers by the name under which pages include them."""
    sets = rows()
    text, left_out = _table("truth"), _table("truth_left_out")
    inside, outside = _overall(text, "all"), _overall(left_out, "all")
    first, later = _overall(text, "the first eleven"), _overall(text, "the others")
    if outside["sets"] != inside["sets"]:
        raise ValueError("truth.md and truth_left_out.md are about different data sets.")
    cells = _cells(text)
    votes = [votes for _, votes, _ in cells]
    worse = [name for name, votes, stack in cells if votes - stack >= 1]
    speed = _table("speed")
    em = re.search(r"An iteration is \*\*(\d+) times\*\*", speed)
    million = re.search(r"4 chains: \*\*(\d+) s, at most ([\d.]+) GB", speed)
    nuts = re.search(r"nutpie: \*\*(\d+) times\*\*", speed)
    if not (em and million and nuts):
        raise ValueError("The tables of make bench lack a number that the pages include.")
    return {
        "sets": f"{len(sets)}",
        "covered": outside["covered"],
        "covered_in_sample": inside["covered"],
        "covered_first": f"{first['covered']} of {first['sets']}",
        "covered_later": f"{later['covered']} of {later['sets']}",
        "missed": " and ".join(row.name for row in sets if not row.covered) or "none",
        "worse": " and ".join(worse) or "none",
        "log_loss": f"{100 - round(100 * float(outside['loss']))} %",
        "right_stack": f"{float(outside.get('right', inside['right'])):.1f} %",
        "right_votes": f"{sum(votes) / len(votes):.1f} %",
        "coders_covered": outside["coders"],
        "em_times": em[1],
        "nuts_times": nuts[1],
        "million_seconds": million[1],
        "million_memory": f"{million[2]} GB",
        **_verdicts(),
    }


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


def _cells(text: str) -> list[tuple[str, float, float]]:
    """Name of each set, and per cent right of votes and stack."""
    lines = re.findall(r"^\| (\w+) \| ([\d.]+) \| [\d.]+ \| ([\d.]+) \|", text, re.M)
    return [(name, float(votes), float(stack)) for name, votes, stack in lines]


def sentences() -> dict[str, str]:
    """Sentences that hold several of the numbers."""
    n = numbers()
    return {
        "readme": (
            f"On {n['sets']} public data sets, each left out of the calibration, the 95 % interval "
            f"covered the actual number of wrong gold labels on {n['covered']}.\nIn sample: "
            f"{n['covered_in_sample']}, {n['covered_first']} data sets used first and "
            f"{n['covered_later']} later ones. Gold labels were right "
            f"on {n['right_stack']} of the items, a majority vote on {n['right_votes']} "
            "(means over the data sets)."
        )
    }


def figure() -> str:
    """Draw expected (line: 95 % interval) and actual share of wrong labels of each data set."""
    sets = sorted(rows(), key=lambda row: row.wrong)
    left, right, top, step = 120, 760, 30, 22
    height = top + step * len(sets) + 46
    limit = max(row.high for row in sets)
    scale = _scale(limit, left, right)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {height}" width="800" '
        f'height="{height}" font-family="sans-serif" font-size="13" role="img">',
        "<title>Expected and actual number of wrong gold labels on public data sets</title>",
        f'<rect width="800" height="{height}" fill="#ffffff"/>',
        '<line x1="122" y1="15" x2="152" y2="15" stroke="#7a9cc6" stroke-width="7"/>'
        '<line x1="137" y1="10" x2="137" y2="20" stroke="#1f4e8c" stroke-width="2"/>'
        '<text x="160" y="19">expected, 95 % interval</text>'
        '<circle cx="340" cy="15" r="5" fill="#c2410c"/><text x="352" y="19">actual</text>',
    ]
    for n, row in enumerate(sets):
        y = top + step * n + 14
        low, mid, high, actual = (scale(v) for v in (row.low, row.expected, row.high, row.wrong))
        parts.append(
            f'<text x="110" y="{y + 4}" text-anchor="end">{row.name}</text>'
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
