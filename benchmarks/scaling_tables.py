"""Tables and picture of scaling.py, and the exponents that linear.py shows too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import common

# sizes from which exponents are fitted
FITTED_FROM = 100_000
Measured = dict[str, Any]


def number(value: float | None) -> str:
    """Write a number of seconds or gigabytes with two digits that say something."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def exponent(found: dict[int, Measured], name: str, key: str) -> float | None:
    """Slope of a straight line through log sizes and log values, from 100,000 labels."""
    import numpy as np

    pairs = [
        (n, part[name][key])
        for n, part in found.items()
        if n >= FITTED_FROM and key in part.get(name, {})
    ]
    if len(pairs) < 2:
        return None
    sizes, values = np.log(np.array(pairs, dtype=float)).T
    return float(np.polyfit(sizes, values, 1)[0])


def tables(introduction: str, found: dict[int, Measured]) -> list[str]:
    """Text and tables of all that was measured."""
    out = [introduction.strip()]
    columns = [
        ("scan", "scan"),
        ("pass_memory", "pass, memory"),
        ("pass_two", "pass, two threads"),
        ("pass_streamed", "pass, streamed"),
        ("em", "EM"),
        ("gibbs", "Gibbs"),
    ]
    for key, title in (("seconds", "Seconds"), ("seconds_cpu", "Processor seconds")):
        rows = [
            [f"{n:,}", *(number(part.get(name, {}).get(key)) for name, _ in columns)]
            for n, part in found.items()
        ]
        slopes = [exponent(found, name, key) for name, _ in columns]
        rows.append(["exponent", *("–" if s is None else f"{s:.2f}" for s in slopes)])
        out += [f"**{title}**", common.markdown(["labels", *(t for _, t in columns)], rows)]
    rows = [
        [f"{n:,}", *(number(_gigabytes(part, name)) for name, _ in columns)]
        for n, part in found.items()
    ]
    out += ["**Memory, GB**", common.markdown(["labels", *(t for _, t in columns)], rows)]
    rows = [_runs(n, part) for n, part in found.items() if "gibbs" in part or "em" in part]
    if rows:
        header = [
            "labels", "one thread against two, a pass", "passes of EM", "seconds a pass",
            "crowd-kit, seconds an iteration", "iterations of Gibbs", "largest R-hat",
            "smallest ESS", "ESS a second",
        ]  # fmt: skip
        out += ["**Runs**", common.markdown(header, rows)]
    out.append(
        "Exponents are slopes of straight lines through the logarithms from 100,000 labels on; 1 "
        "is linear. A dash was not measured."
    )
    return out


def _gigabytes(part: Measured, name: str) -> float | None:
    peak = part.get(name, {}).get("peak")
    return None if peak is None else peak / 1e9


def _runs(n: int, part: Measured) -> list[str]:
    em, gibbs = part.get("em"), part.get("gibbs")
    cells = [f"{n:,}", number(part.get("pass_two", {}).get("times"))]
    cells += ["–", "–"] if em is None else [f"{em['passes']}", number(em["seconds"] / em["passes"])]
    cells.append(number(part.get("crowdkit", {}).get("seconds")))
    if gibbs is None:
        return [*cells, *["–"] * 4]
    iterations = f"{gibbs['iterations']:,}" + (" (time limit)" if gibbs["stopped"] else "")
    cells += [iterations, f"{gibbs['rhat_max']:.3f}", f"{gibbs['ess_min']:,.0f}"]
    return [*cells, number(gibbs["ess_min"] / gibbs["seconds"])]


def plot(found: dict[int, Measured], path: Path) -> None:
    """Draw seconds against labels, both on logarithmic scales."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "scaling"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    titles = {
        "scan": "scan", "pass_memory": "pass, memory", "pass_streamed": "pass, streamed",
        "em": "EM", "gibbs": "Gibbs",
    }  # fmt: skip
    for name, title in titles.items():
        pairs = [(n, part[name]["seconds_cpu"]) for n, part in found.items() if name in part]
        if pairs:
            axes.loglog(*zip(*pairs, strict=True), marker="o", label=title)
    axes.set(xlabel="labels", ylabel="processor seconds")
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
