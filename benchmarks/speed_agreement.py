"""Time and memory of the agreement coefficients, with krippendorff as the rival.

Every measurement is a fresh process. Times are the best of several, on the wall and of the
processor; where a machine has other things to do only the second says much, and ratios of one run
say most. The rival gets its fastest input, a table of item x label with the number of votes.

    python benchmarks/speed_agreement.py              # ten minutes
    python benchmarks/speed_agreement.py --reduced    # to see that it works
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import common

N_LABELS, PER_ITEM = 5, 5


def crowd(labels: int, coders: int, values: bool = False) -> Any:
    """Labels of items by five coders each; with `values`, every label is a number of its own."""
    import numpy as np

    import annomodels as am

    rng = np.random.default_rng(7)
    n = labels // PER_ITEM
    item = np.repeat(np.arange(n), PER_ITEM)
    first, step = (
        rng.integers(0, coders, (n, 1)),
        rng.integers(1, max(coders // PER_ITEM, 2), (n, 1)),
    )
    coder = np.sort((first + step * np.arange(PER_ITEM)) % coders, axis=1).ravel()
    if values:
        x = np.repeat(rng.normal(size=n), PER_ITEM) + rng.normal(size=len(item))
        found, label = np.unique(x, return_inverse=True)
        names, scale = tuple(found.tolist()), "interval"
    else:
        truth = np.repeat(rng.integers(0, N_LABELS, n), PER_ITEM)
        guess = rng.integers(0, N_LABELS, len(item))
        label = np.where(rng.random(len(item)) < 0.7, truth, guess)
        names, scale = tuple(range(N_LABELS)), "nominal"
    return am.Annotations(
        item, coder, label, tuple(range(n)), tuple(range(coders)), names, scale=scale
    )


def best(work: Callable[[], Any], times: int) -> tuple[float, float]:
    """Least seconds on the wall and of the processor."""
    wall, cpu = math.inf, math.inf
    for _ in range(times):
        start, used = time.perf_counter(), time.process_time()
        work()
        wall = min(wall, time.perf_counter() - start)
        cpu = min(cpu, time.process_time() - used)
    return wall, cpu


def fresh(data: Any) -> Any:
    """Return a copy that remembers nothing of what was computed before."""
    return data.replace(source=data.source)


def value(labels: int, coders: int) -> dict[str, float]:
    """Alpha of nominal labels, here and there."""
    import krippendorff

    import annomodels as am

    data = crowd(labels, coders)
    votes = data.votes
    copies = [fresh(data) for _ in range(15)]
    wall, cpu = best(lambda: am.agreement(copies.pop(), "alpha", draws=0), 15)
    rival = best(lambda: krippendorff.alpha(value_counts=votes, level_of_measurement="nominal"), 7)
    return {"wall": wall, "cpu": cpu, "rival_wall": rival[0], "rival_cpu": rival[1]}


def interval(labels: int, coders: int, draws: int) -> dict[str, float]:
    """Alpha of numbers that are all different."""
    import annomodels as am

    data = crowd(labels, coders, values=True)
    before = common.peak_memory()
    wall, cpu = best(lambda: am.agreement(fresh(data), "alpha", draws=draws), 3)
    return {"wall": wall, "cpu": cpu, "more": common.peak_memory() - before}


def panel(labels: int, coders: int, draws: int, times: int) -> dict[str, float]:
    """All coefficients of the panel with draws."""
    import annomodels as am

    data = crowd(labels, coders)
    am.agreement(crowd(500, 10), draws=2)  # load what is loaded late
    before = common.peak_memory()
    wall, cpu = best(lambda: am.agreement(fresh(data), draws=draws), times)
    return {"wall": wall, "cpu": cpu, "more": common.peak_memory() - before}


PARTS: dict[str, Callable[..., dict[str, float]]] = {
    "value": value,
    "interval": interval,
    "panel": panel,
}


def measured(part: str, *sizes: int) -> dict[str, Any]:
    """Run a part in a fresh process with one thread for linear algebra."""
    common.say(f"{part} {sizes}")
    found = common.alone(
        __file__,
        "--part",
        part,
        *map(str, sizes),
        environment={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    if found is None:
        raise SystemExit(f"The part {part} failed.")
    return found


def exponent(sizes: list[int], values: list[float]) -> float:
    """Slope of the logarithms from the first to the last size."""
    return math.log(values[-1] / values[0]) / math.log(sizes[-1] / sizes[0])


def milli(seconds: float) -> str:
    return f"{1e3 * seconds:,.0f}"


def mega(size: float) -> str:
    return f"{size / 1e6:,.0f}"


def growth(sizes: list[int]) -> list[str]:
    """Time and memory of value and draws over the number of labels."""
    rows, cpu, more, drawn = [], [], [], []
    for size in sizes:
        point = measured("panel", size, 1000, 0, 3)
        some = measured("panel", size, 1000, 20, 2)
        cpu.append(point["cpu"])
        drawn.append(some["cpu"])
        more.append(max(point["more"], some["more"]))
        rows.append(
            [
                f"{size:,}",
                *(milli(found[clock]) for found in (point, some) for clock in ("wall", "cpu")),
                mega(more[-1]),
            ]
        )
    header = ["labels", "values: ms", "ms of processor", "20 draws: ms", "ms of processor", "MB"]
    slopes = (
        f"Exponents from {sizes[0]:,} to {sizes[-1]:,} labels: time of the values "
        f"{exponent(sizes, cpu):.2f}, with draws {exponent(sizes, drawn):.2f}, memory "
        f"{exponent(sizes, more):.2f}."
    )
    return [
        "**Growth**, all coefficients of the panel, 1,000 coders",
        common.markdown(header, rows),
        slopes,
    ]


def main() -> None:
    if "--part" in sys.argv:
        at = sys.argv.index("--part") + 1
        common.answer(PARTS[sys.argv[at]](*map(int, sys.argv[at + 1 :])))
        return
    options = common.arguments(__doc__, "speed_agreement.md").parse_args()
    small = 20 if options.reduced else 1
    one = measured("value", 1_000_000 // small, 1000)
    numbers = measured("interval", 100_000 // small, 50, 0)
    drawn = measured("interval", 100_000 // small, 50, 2000)
    many = measured("panel", 100_000 // small, 500, 4000, 3)
    wide = measured("panel", 1_000_000 // small, 10_000, 2000, 1)
    rows = [
        [f"alpha, {1_000_000 // small:,} nominal labels, 1,000 coders", one, None],
        [f"alpha, {100_000 // small:,} different numbers", numbers, numbers["more"]],
        ["the same with 2,000 draws", drawn, drawn["more"]],
        [
            f"the panel with 4,000 draws, {100_000 // small:,} labels, 500 coders",
            many,
            many["more"],
        ],
        [
            f"the panel with 2,000 draws, {1_000_000 // small:,} labels, 10,000 coders",
            wide,
            wide["more"],
        ],
    ]
    table = common.markdown(
        ["what", "ms", "ms of processor", "MB"],
        [
            [what, milli(found["wall"]), milli(found["cpu"]), "" if more is None else mega(more)]
            for what, found, more in rows
        ],
    )
    sizes = [n // small for n in (100_000, 1_000_000, 10_000_000)]
    common.write(
        options.out,
        [
            "Best of several runs, each part in a fresh process, one thread. *MB*: how much the "
            "memory of the process grew over that with the data loaded. *The panel* are the eight "
            "coefficients that `am.agreement(data)` shows; draws are common to all of them.",
            table,
            f"krippendorff needs {milli(one['rival_wall'])} ms ({milli(one['rival_cpu'])} of "
            "processor) for the first line, given the votes counted already: annomodels, which "
            f"counts them itself, is {one['rival_wall'] / one['wall']:.1f} times as fast "
            f"({one['rival_cpu'] / one['cpu']:.1f} by processor time).",
            *growth(sizes),
            common.machine("scipy", "krippendorff")
            + f" Load of the machine at the end: {os.getloadavg()[1]:.1f}.",
        ],
    )


if __name__ == "__main__":
    main()
