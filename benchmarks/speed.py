"""Speed as ratios, measured in one run: against PyMC + nutpie, NumPyro and crowd-kit.

    python benchmarks/speed.py [--reduced] [--parts nuts numpyro em memory]

Every measurement is a fresh process that does one thing, see measurements.py. NumPyro and crowd-kit
are optional: pip install --group bench
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common
import measurements

PARTS = ("nuts", "numpyro", "em", "memory")
# part -> rivals of Gibbs in it: measurement, and how it is called
RIVALS = {
    "nuts": {"nuts": "PyMC + nutpie"},
    "numpyro": {
        "enumerated": "NumPyro, truth enumerated",
        "summed_out": "NumPyro, truth summed out by hand",
    },
}
MODULES = {
    "enumerated": ("numpyro", "funsor"),
    "summed_out": ("numpyro",),
    "crowdkit": ("crowdkit",),
}
INSTALL = "not installed: `pip install --group bench`"
Measured = dict[str, Any]


@dataclass(frozen=True)
class Size:
    """Size of a simulated set."""

    items: int
    coders: int
    per_item: int
    labels: int

    def save(self, file: Path, seed: int) -> None:
        """Simulate labels and write them."""
        measurements.save(str(file), self.items, self.coders, self.per_item, self.labels, seed)

    def __str__(self) -> str:
        return (
            f"{self.items * self.per_item:,} labels ({self.coders:,} coders, {self.items:,} items "
            f"with {self.per_item} labels each, K = {self.labels})"
        )


@dataclass(frozen=True)
class Plan:
    """Sizes of all measurements; `draws` are pairs of draws of Gibbs and of the rivals."""

    sets: dict[str, Size]
    draws: dict[str, list[tuple[int, int]]]


FULL = Plan(
    {
        "nuts": Size(20_000, 500, 5, 5),
        "numpyro": Size(800, 164, 10, 2),
        "em": Size(200_000, 1_000, 5, 5),
        "memory": Size(200_000, 1_000, 5, 5),
    },
    draws={"nuts": [(2_000, 300)], "numpyro": [(3_000, 1_000), (12_000, 4_000)]},
)
REDUCED = Plan(
    {
        "nuts": Size(1_000, 50, 5, 3),
        "numpyro": Size(200, 40, 10, 2),
        "em": Size(10_000, 100, 5, 5),
        "memory": Size(10_000, 100, 5, 5),
    },
    draws={"nuts": [(500, 100)], "numpyro": [(500, 200)]},
)

INTRODUCTION = f"""
All samplers fit the same model, `am.models.DawidSkene()`, to the same simulated labels (coders with
an accuracy of about .7), with {measurements.CHAINS} chains of the given number of draws. *Smallest
ESS*: the smallest bulk effective sample size among the prevalence and the accuracy of the 100
busiest coders. *Seconds* are those of the call that samples, in a process that has loaded its
libraries: for Gibbs from `am.fit` to its result, for NumPyro with compiling, for nutpie without;
*in all* is the life of a fresh process, with loading the libraries and compiling. Gibbs keeps its
compiled loops on disk; *first time* is with nothing kept. NumPyro starts from a good point, in
single precision, its default, with vectorised chains. Its truth is enumerated by NumPyro itself, as
in its example of annotation models, or summed out by hand, which is faster.
"""
HEADER = ["sampler", "draws", "smallest ESS", "seconds", "ESS/s", "in all", "ESS/s in all"]


def measure(
    name: str, file: Path, draws: int, seed: int, environment: dict[str, str] | None = None
) -> Measured | str:
    """Do one measurement in a fresh process; a text says why there is none."""
    if any(importlib.util.find_spec(module) is None for module in MODULES.get(name, ())):
        return INSTALL
    begun = time.perf_counter()
    script = str(Path(measurements.__file__))
    options = (name, str(file), str(draws), str(seed))
    part = common.alone(script, *options, environment=environment)
    if part is None:
        return "failed"
    part["whole"] = time.perf_counter() - begun
    common.say(f"{name}: {part}")
    return part


def ratio(ours: Measured, theirs: Measured, seconds: str) -> str:
    """How many times as many effective draws a second."""
    value = ours["ess"] / ours[seconds] / (theirs["ess"] / theirs[seconds])
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def samplers(part: str, plan: Plan, file: Path, seed: int) -> list[str]:
    """Gibbs, with and without compiling, against other samplers, for short and long runs."""
    out = [f"**Samplers, {plan.sets[part]}**"]
    for ours, theirs in plan.draws[part]:
        out += race(part, file, seed, ours, theirs)
    return out


def race(part: str, file: Path, seed: int, ours: int, theirs: int) -> list[str]:
    """One table: so many draws of Gibbs, so many of each rival."""
    found: list[tuple[str, int, Measured | str]] = []
    with tempfile.TemporaryDirectory() as empty:
        environment = {"NUMBA_CACHE_DIR": empty}
        # the second run finds what the first one compiled
        found += [
            (title, ours, measure("gibbs", file, ours, seed, environment))
            for title in ("Gibbs, first time", "Gibbs")
        ]
    found += [
        (title, theirs, measure(name, file, theirs, seed)) for name, title in RIVALS[part].items()
    ]
    rows, sentences = [], []
    for title, draws, measured in found:
        if isinstance(measured, str):
            rows.append([title, measured, *[""] * 5])
            continue
        cells = [title, f"{draws:,}", f"{measured['ess']:,.0f}"]
        for seconds in (measured["seconds"], measured["whole"]):
            known = seconds is not None
            cells += [f"{seconds:.1f}", f"{measured['ess'] / seconds:,.1f}"] if known else ["–"] * 2
        rows.append(cells)
    (*_, cold), (*_, warm), *rivals = found
    for title, _, rival in rivals:
        if isinstance(cold, dict) and isinstance(warm, dict) and isinstance(rival, dict):
            what = "while sampling" if part == "nuts" else "with compiling counted"
            sampling = f"**{ratio(warm, rival, 'seconds')} times** {what}, "
            sentences.append(
                f"Effective draws a second of Gibbs against {title}: {sampling}"
                f"**{ratio(warm, rival, 'whole')} times** with everything counted, "
                f"loading the libraries too, "
                f"{ratio(cold, rival, 'whole')} times when the loops of Gibbs are compiled for "
                "the first time as well."
            )
    return [common.markdown(HEADER, rows), *sentences]


def em(size: Size, file: Path, seed: int) -> list[str]:
    """EM against crowd-kit."""
    ours, theirs = (measure(name, file, 0, seed) for name in ("em", "crowdkit"))
    rows = [
        [title, part if isinstance(part, str) else f"{part['seconds']:.4f}"]
        for title, part in (("annomodels", ours), ("crowd-kit", theirs))
    ]
    out = [
        f"**EM of Dawid-Skene, {size}**",
        common.markdown(["program", "seconds an iteration"], rows),
    ]
    if isinstance(ours, dict) and isinstance(theirs, dict):
        times = theirs["seconds"] / ours["seconds"]
        out.append(
            f"An iteration is **{times:.0f} times** as fast. Measured as the difference between a "
            "long and a short run, so without preparing the data."
        )
    return out


def memory(size: Size, file: Path, seed: int) -> list[str]:
    """Time and memory of a fit of the hierarchical model."""
    part = measure("default", file, 0, seed)
    title = f"**A fit of the hierarchical model, {size}**"
    if isinstance(part, str):
        return [title, part]
    kept = "every iteration" if part["thin"] == 1 else f"one iteration in {part['thin']}"
    return [
        title,
        f'`am.fit(data, "hierarchical")`, 4 chains: **{part["seconds"]:.0f} s, at most '
        f"{part['peak'] / 1e9:.2f} GB** of memory for the whole process. Largest R-hat "
        f"{part['rhat']:.3f}, smallest ESS {part['ess']:,.0f}, {part['draws']} draws a chain kept, "
        f"{kept}.",
    ]


def pages(plan: Plan, parts: Sequence[str], seed: int) -> list[str]:
    """Text and tables of the parts."""
    out = [INTRODUCTION.strip()]
    with tempfile.TemporaryDirectory() as folder:
        for part in parts:
            size = plan.sets[part]
            file = Path(folder) / f"{part}.npz"
            size.save(file, seed)
            if part == "em":
                out += em(size, file, seed)
            elif part == "memory":
                out += memory(size, file, seed)
            else:
                out += samplers(part, plan, file, seed)
    return out


def main() -> int:
    parser = common.arguments(__doc__, "speed.md")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    plan = REDUCED if options.reduced else FULL
    foot = common.machine("pymc", "nutpie", "numpyro", "jax", "crowd-kit")
    if options.reduced:
        foot = f"A reduced run, too small to judge by. {foot}"
    common.write(options.out, [*pages(plan, options.parts, options.seed), foot])
    return 0


if __name__ == "__main__":
    sys.exit(main())
