"""Processor seconds and memory of fits, paired with those of an earlier commit.

    python benchmarks/engine_paired.py [--reduced] [--base bbfe1401] [--parts default-rte ...]

Each round runs both versions one after the other, each in a fresh process that fits once to load
its loops and then again as often as the part says. The table shows medians of the ratios. Processor
time is compared, since wall time depends on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import ANSWER, ROOT, arguments, machine, shared_data

BASE = "bbfe1401"
# runs in both versions, so it takes only what both have
MEASURE = """
import json, resource, sys, time
import annomodels as am
path, model, times, options, answer = json.loads(sys.argv[1])
data = am.read(path)
options = {"seed": 1, "threads": 2, **options}
if model: options["model"] = model
short = {} if options.get("engine") == "em" else {"draws": 20, "warmup": 10}
am.fit(data, **{**options, **short})
spent = []
for n in range(times):
    since = time.process_time()
    fit = am.fit(data, **{**options, "seed": n + 1})
    spent.append((time.process_time() - since) / max(1, fit.tree.attrs.get("passes", 1)))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(answer + json.dumps({"seconds": spent, "peak": peak}))
"""


@dataclass(frozen=True)
class Part:
    """A fit of a set by a model."""

    data: str  # "rte", or items, coders, labels per item and K of a simulated crowd
    model: str = ""  # the default if empty
    times: int = 3
    options: tuple[tuple[str, Any], ...] = ()


EM = (("engine", "em"), ("starts", 1))
SHORT = (("draws", 100), ("warmup", 50), ("extend", False))
PARTS = {
    "default-rte": Part("rte"),
    "default-clean": Part("800 40 5 3"),
    "hierarchical-rte": Part("rte", "hierarchical", 4),
    "dawid-skene-rte": Part("rte", "dawid-skene", 6),
    "guess-level-rte": Part("rte", "guess-level", 2),
    "dawid-skene-100k": Part("20000 500 5 5", "dawid-skene", 2),
    "em-1m": Part("200000 1000 5 5", "dawid-skene", 2, EM),
    "stack-1m": Part("200000 1000 5 2", "stack", 1, SHORT),
    "stack-10m": Part("2000000 5000 5 2", "stack", 1, SHORT),
}
SMALL = {
    "hierarchical-small": Part("100 10 4 3", "hierarchical", 1, SHORT),
    "em-small": Part("100 10 4 3", "dawid-skene", 1, EM),
}


def table_of(part: Part, folder: Path) -> Path:
    """Return the file of labels of a part, simulated unless they are public."""
    if part.data == "rte":
        return shared_data() / "snow_rte" / "labels.csv"
    path = folder / f"{part.data.replace(' ', '-')}.csv"
    if not path.exists():
        import numpy as np

        n_items, n_coders, each, k = map(int, part.data.split())
        rng = np.random.default_rng(1)
        truth = rng.integers(k, size=n_items)
        skill = rng.uniform(0.6, 0.95, n_coders)
        item = np.repeat(np.arange(n_items), each)
        first = rng.integers(n_coders, size=n_items)
        coder = (first[item] + np.tile(np.arange(each) * (n_coders // each), n_items)) % n_coders
        right = rng.random(len(item)) < skill[coder]
        label = np.where(right, truth[item], rng.integers(k, size=len(item)))
        rows = np.column_stack([item, coder, label])
        np.savetxt(path, rows, fmt="i%d,c%d,%d", header="item,coder,label", comments="")
    return path


def measured(version: Path, part: Part, path: Path) -> dict[str, Any]:
    """Fit in a fresh process of a version; seconds of each fit and peak memory in MB."""
    given = json.dumps([str(path), part.model, part.times, dict(part.options), ANSWER])
    around = {**os.environ, "PYTHONPATH": str(version), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, given],
        env=around, cwd=path.parent, check=True, capture_output=True, text=True,
    )  # fmt: skip
    line = next(each for each in done.stdout.splitlines() if each.startswith(ANSWER))
    found: dict[str, Any] = json.loads(line.removeprefix(ANSWER))
    return found


def earlier(base: str, folder: Path) -> Path:
    """Unpack the package of an earlier commit."""
    target = folder / "base"
    target.mkdir()
    packed = subprocess.run(
        ["git", "archive", base, "annomodels"], cwd=ROOT, check=True, capture_output=True
    )
    subprocess.run(["tar", "-x", "-C", str(target)], input=packed.stdout, check=True)
    return target


def compared(options: argparse.Namespace) -> list[str]:
    """Measure all parts; return the lines of the table."""
    parts = SMALL if options.reduced else {n: PARTS[n] for n in options.parts}
    lines = [
        f"| fit | processor seconds, {options.base} | now | ratio | memory, ratio |",
        "|---|--:|--:|--:|--:|",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        versions = earlier(options.base, folder), ROOT
        for name, part in parts.items():
            path = table_of(part, folder)
            pairs = [
                [measured(version, part, path) for version in versions]
                for _ in range(options.rounds)
            ]
            before, now = ([min(pair[n]["seconds"]) for pair in pairs] for n in (0, 1))
            ratio = statistics.median(y / x for x, y in zip(before, now, strict=True))
            memory = statistics.median(pair[1]["peak"] / pair[0]["peak"] for pair in pairs)
            seconds = statistics.median(before), statistics.median(now)
            lines.append(
                f"| {name} | {seconds[0]:.3g} | {seconds[1]:.3g} | {ratio:.2f} | {memory:.2f} |"
            )
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Compare, and write the table."""
    parser = arguments(__doc__, "engine_paired.md")
    parser.add_argument("--base", default=BASE, help="commit to compare with")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--rounds", type=int, default=3, help="pairs of each part")
    options = parser.parse_args()
    if options.reduced:
        options.rounds = 1
    lines = compared(options)
    options.out.write_text("\n".join([*lines, "", machine()]) + "\n")


if __name__ == "__main__":
    main()
