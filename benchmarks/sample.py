"""Measure whether the default fit tells the truth about crowds like the bundled one.

    python benchmarks/sample.py [--seeds 20] [--ability X] [--difficulty X] [--lure X] ...

Simulates a crowd per seed (``make_crowd.py``), fits the default model, and compares the number of
wrong labels that it expects with the actual number. Items with two readings are neither right nor
wrong: they have no true label, so the actual number leaves them out, while the fit, which cannot
know them, counts all items. The bundled crowd is that of the middle seed: the lower median of
actual / expected, among the seeds whose interval covers.
"""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from statistics import fmean

import common
from make_crowd import LABELS, TWO_READINGS, Crowd, Process, crowd

import annomodels as am

HEAD = """\
Wrong gold labels of {n} simulated crowds, and the number that the default model expects. {process}
"""
# what the sample has to reach, of 20 seeds
CLOSE = 0.20
COVERED = 0.9


@dataclass(frozen=True)
class Outcome:
    """Expected and actual wrong labels of one crowd."""

    seed: int
    expected: float
    low: float
    high: float
    actual: int
    votes: int

    @property
    def covered(self) -> bool:
        """Return True if the interval contains the actual number."""
        return math.floor(self.low) <= self.actual <= math.ceil(self.high)

    @property
    def ratio(self) -> float:
        """Actual number per expected one."""
        return self.actual / max(self.expected, 1e-9)


def annotations(made: Crowd) -> am.Annotations:
    """Labels of a crowd."""
    rows = [
        (row[0], coder, label)
        for row in made.rows
        for coder, label in zip(made.coders, row[4:], strict=True)
        if label
    ]
    return am.Annotations.from_records(rows, labels=LABELS)


def outcome(seed: int, process: Process) -> Outcome:
    """Fit the crowd of a seed, and count."""
    made = crowd(seed, process)
    fit = am.fit(annotations(made), seed=1, progress=False)
    truth = {row[0]: row[3] for row in made.rows if row[3] != TWO_READINGS}
    gold = dict(zip(*(fit.gold().table[name] for name in ("item", "label")), strict=True))
    found = fit.wrong_labels()
    actual = sum(str(gold[item]) != true for item, true in truth.items())
    votes = sum(_majority(row[4:]) != row[3] for row in made.rows if row[0] in truth)
    return Outcome(seed, found.gold, found.gold_low, found.gold_high, actual, votes)


def _majority(labels: list[str]) -> str:
    return max(LABELS, key=labels.count)


def middle(found: list[Outcome]) -> Outcome:
    """Return the lower median of actual per expected number, among those that are covered."""
    ordered = sorted((one for one in found if one.covered), key=lambda one: (one.ratio, one.seed))
    return ordered[(len(ordered) - 1) // 2]


def main() -> None:
    """Measure all seeds."""
    parser = common.arguments(__doc__, "sample.md")
    parser.add_argument("--seeds", type=int, default=20, help="number of simulated crowds")
    for one in fields(Process):
        parser.add_argument(f"--{one.name.replace('_', '-')}", type=type(one.default),
                            default=one.default)  # fmt: skip
    parser.add_argument("--workers", type=int, default=1, help="crowds that are fitted at a time")
    said = parser.parse_args()
    process = Process(**{one.name: getattr(said, one.name) for one in fields(Process)})
    seeds = range(1, 1 + (2 if said.reduced else said.seeds))
    with ProcessPoolExecutor(said.workers) as pool:
        found = list(pool.map(outcome, seeds, [process] * len(seeds)))
    rows = [
        [f"{one.seed}", f"{one.expected:.1f}", f"{one.low:.0f} to {one.high:.0f}",
         f"{one.actual}", "yes" if one.covered else "no", f"{one.ratio:.2f}", f"{one.votes}"]
        for one in found
    ]  # fmt: skip
    header = ["Seed", "Expected", "95 % interval", "Actual", "Covered", "Actual / expected",
              "Wrong, majority vote"]  # fmt: skip
    expected, actual = (
        fmean(getattr(one, name) for one in found) for name in ("expected", "actual")
    )
    covered = sum(one.covered for one in found)
    off = (actual - expected) / expected
    reached = abs(off) < CLOSE and covered >= COVERED * len(found)
    common.write(said.out, [
        HEAD.format(n=len(found), process=f"`{process}`").strip(),
        common.markdown(header, rows),
        f"Means: {expected:.1f} expected, {actual:.1f} actual ({100 * off:+.0f} %). "
        f"Covered: {covered} of {len(found)}. Middle seed: {middle(found).seed}. "
        f"Goal {'reached' if reached else 'missed'}: means within 20 %, 90 % covered.",
        common.machine(),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
