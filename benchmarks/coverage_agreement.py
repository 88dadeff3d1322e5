"""How often the 95 % intervals of the agreement coefficients hold the true value.

Items are drawn from a population whose coefficients are known exactly, coders label them, labels go
missing at random, and the package draws its sampling posterior: ``make_sample`` and
``draw_values``, the very functions behind ``am.agreement``. The true value is that of the joint
distributions of the labels of all pairs of coders.

The first tables are the study itself. The last one compares the recipe with others on cells of its
own; it was chosen there, before the first tables were computed with other seeds.

    python benchmarks/coverage_agreement.py              # 2,000 samples a cell, half an hour
    python benchmarks/coverage_agreement.py --reduced    # to see that it works
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import common
import numpy as np
import populations
from populations import ENOUGH_ITEMS, ENOUGH_LABELS, NAMES, Cell

from annomodels.coefficients import rows as weights
from annomodels.coefficients.reasons import interval_warnings
from annomodels.coefficients.rows import ItemRows, collapse
from annomodels.coefficients.sums import draw_values

DRAWS = 1000
LOW, HIGH = 0.93, 0.97

INTRODUCTION = f"""Coverage of equal-tailed 95 % intervals in per cent: {{samples}} samples a
cell, {{draws}} draws each (standard error {{error}}). *Low* and *high*: how often the whole
interval for alpha lay below or above the true value; *length*: its mean length; *warned*: share of
the samples with a warning. *Rarest* is the expected number of pairable labels of the rarest kind.
Intervals must hold where it is {ENOUGH_LABELS} or more and there are {ENOUGH_ITEMS} items or more;
other cells carry a °, and values outside 93-97 % are bold where they must hold. light_kappa is the
mean of the kappas of all pairs of coders, with two coders Cohen's kappa. Samples with a single
label have no interval but a reason, which counts as a warning; the coverage leaves them out."""
COMPARED = """**Other recipes**, on {cells} cells of their own, {training} samples each: coverage
for alpha and multi-kappa. *Off by*: root mean square of coverage - 95 %, with the simulation error
taken off; *length*: geometric mean of the length relative to the chosen recipe."""

CHOSEN = {
    "PER_LABEL": weights.PER_LABEL,
    "DISAGREED": weights.DISAGREED,
    "REPLACED": weights.REPLACED,
}
RECIPES: dict[str, dict[str, float]] = {
    "chosen": {},
    "Rubin's bootstrap, no chance items": {"PER_LABEL": 0, "DISAGREED": 0, "REPLACED": 0},
    "without the factor N / (N + 2)": {"REPLACED": 0},
    "without items of agreement": {"PER_LABEL": 0},
    "without the item of disagreement": {"DISAGREED": 0},
    "half an item of disagreement": {"DISAGREED": 0.5},
    "one item of agreement a label": {"PER_LABEL": 1.0},
    "two items of disagreement": {"DISAGREED": 2.0},
    "factor N / (N + 4)": {"REPLACED": 4},
}


@dataclass(frozen=True)
class Found:
    """What happened in a cell; counts of samples, the arrays of shape [coefficient].

    Parameters
    ----------
    defined
        Samples with an interval.
    below, above
        Samples in which the whole interval lay below or above the true value.
    length
        Mean length of the intervals.
    warned
        Share of the samples with a warning, or with a reason for having no interval.
    """

    defined: np.ndarray
    below: np.ndarray
    above: np.ndarray
    length: np.ndarray
    warned: float

    @property
    def coverage(self) -> np.ndarray:
        """Share of the intervals that hold the true value."""
        return 1 - (self.below + self.above) / np.maximum(self.defined, 1)


def varied(rows: ItemRows) -> bool:
    """Whether two labels occur among the pairable ones; else a reason stands for the interval."""
    pairable = rows.label[(rows.per_item >= 2)[rows.item]]
    return bool(len(pairable) and (pairable != pairable[0]).any())


def study(cell: Cell, samples: int, seed: Sequence[int], recipe: dict[str, float]) -> Found:
    """Draw samples and see which intervals hold the true value.

    Parameters
    ----------
    cell
        Population and size.
    samples
        Number of samples.
    seed
        Seed of the samples; the draws of the n-th sample have the seed n.
    recipe
        Constants of ``weights`` that differ from the package's.
    """
    for name, value in {**CHOSEN, **recipe}.items():
        setattr(weights, name, value)
    rng = np.random.default_rng(seed)
    truth = np.array(cell.truth())
    requests, names = cell.requests, range(cell.confusion.shape[-1])
    sums = np.zeros((4, len(NAMES)))
    warned = 0
    for n in range(samples):
        rows = cell.sample(rng)
        warned += not varied(rows) or bool(interval_warnings(rows, names))
        if not varied(rows):
            continue
        sample = weights.make_sample(collapse(rows))
        drawn = np.stack(draw_values(sample, requests, DRAWS, n))
        low, high = np.nanquantile(drawn, [0.025, 0.975], axis=1)
        sums += [np.ones(len(NAMES)), high < truth, low > truth, high - low]
    defined, below, above, length = sums
    return Found(defined, below, above, length / np.maximum(defined, 1), warned / samples)


def run(task: tuple[Any, ...]) -> Found:
    return study(*task)


def run_all(tasks: list[tuple[Any, ...]]) -> list[Found]:
    """Study all cells, one process for each core."""
    found = []
    start = time.perf_counter()
    context = get_context("spawn")
    with ProcessPoolExecutor(common.cores(), context) as pool:
        for n, one in enumerate(pool.map(run, tasks), 1):
            found.append(one)
            common.say(f"{n} of {len(tasks)}, {time.perf_counter() - start:.0f} s")
    return found


def share(x: float) -> str:
    return f"{100 * x:.1f}"


def table(cells: Sequence[Cell], found: Sequence[Found], names: Sequence[str] = NAMES) -> str:
    """One line for each cell."""
    header = ["population", "missing", "items", "rarest", "alpha"]
    header += [f"{name}: coverage" for name in names]
    header += ["alpha: low", "high", "length", "warned"]
    lines = []
    for cell, one in zip(cells, found, strict=True):
        required = cell.required
        covered = [
            f"**{share(x)}**" if required and not LOW <= x <= HIGH else share(x)
            for x in one.coverage[: len(names)]
        ]
        n = max(one.defined[0], 1)
        lines.append(
            [
                cell.name,
                f"{cell.missing:.0%}",
                str(cell.items),
                f"{cell.rarest:.0f}" + ("" if required else " °"),
                f"{cell.truth()[0]:.2f}",
                *covered,
                share(one.below[0] / n),
                share(one.above[0] / n),
                f"{one.length[0]:.2f}",
                share(one.warned),
            ]
        )
    return common.markdown(header, lines)


def verdict(cells: Sequence[Cell], found: Sequence[Found]) -> str:
    """Count what holds in the cells where the intervals must hold."""
    must = [n for n, cell in enumerate(cells) if cell.required]
    covered = np.array([found[n].coverage for n in must])
    inside = (covered >= LOW) & (covered <= HIGH)
    parts = [
        f"{name} in {inside[:, m].sum()} of {len(must)} (mean {share(covered[:, m].mean())}, "
        f"{share(covered[:, m].min())} to {share(covered[:, m].max())})"
        for m, name in enumerate(NAMES)
    ]
    rest = [n for n in range(len(cells)) if n not in must]
    warned = np.array([found[n].warned for n in rest])
    return (
        "Where the intervals must hold, their coverage is between 93 and 97 %: "
        f"{'; '.join(parts)}. "
        f"In the other {len(rest)} cells a warning came with "
        f"{share(warned.mean())} % of the samples, with {share(warned.min())} % at least."
    )


def comparison(cells: Sequence[Cell], found: Sequence[Found]) -> str:
    """One line for each recipe: how it did on all training cells, by alpha and multi-kappa."""
    lines = []
    reference = np.array([one.length[0] for one in found[: len(cells)]])
    for n, name in enumerate(RECIPES):
        part = found[n * len(cells) : (n + 1) * len(cells)]
        covered = np.array([one.coverage[0] for one in part])
        multi = np.array([one.coverage[2] for one in part])
        noise = np.mean([0.05 * 0.95 / max(one.defined[0], 1) for one in part])
        off = max(np.square(covered - 0.95).mean() - noise, 0.0) ** 0.5
        length = np.exp(np.log(np.array([one.length[0] for one in part]) / reference).mean())
        lines.append(
            [
                name,
                share(covered.mean()),
                share(covered.min()),
                share(covered.max()),
                share(off),
                share(multi.mean()),
                share(np.mean([one.below[0] / one.defined[0] for one in part])),
                share(np.mean([one.above[0] / one.defined[0] for one in part])),
                f"{length:.3f}",
            ]
        )
    header = ["recipe", "mean", "least", "most", "off by", "multi-kappa", "low", "high", "length"]
    return common.markdown(header, lines)


def main() -> None:
    options = common.arguments(__doc__, "coverage_agreement.md").parse_args()
    samples, training = (40, 20) if options.reduced else (2000, 300)
    error = share((0.05 * 0.95 / samples) ** 0.5)
    start = time.perf_counter()
    main_cells, further = populations.main_cells(), populations.further_cells()
    trained = populations.training_cells()
    if options.reduced:
        main_cells, further, trained = main_cells[::9], further[::9], trained[::9]
    studied = [*main_cells, *further]
    tasks = [(c, samples, (options.seed, n), {}) for n, c in enumerate(studied)]
    tasks += [
        (cell, training, (options.seed, 1000, n), recipe)
        for recipe in RECIPES.values()
        for n, cell in enumerate(trained)
    ]
    found = run_all(tasks)
    first, second = found[: len(main_cells)], found[len(main_cells) : len(studied)]
    minutes = (time.perf_counter() - start) / 60
    common.write(
        options.out,
        [
            INTRODUCTION.format(samples=f"{samples:,}", draws=f"{DRAWS:,}", error=error),
            verdict(studied, found[: len(studied)]),
            "**The asked cells**: Dawid-Skene populations in which all coders have the accuracy .9",
            table(main_cells, first),
            "**Further populations**",
            table(further, second),
            COMPARED.format(training=training, cells=len(trained)),
            comparison(trained, found[len(studied) :]),
            f"Seed {options.seed}, {minutes:.0f} minutes. {common.machine('scipy')}",
        ],
    )


if __name__ == "__main__":
    main()
