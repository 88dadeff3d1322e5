"""Required numbers of coders and labels per item of a study."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import Column, columns, percent
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import MOST_SEED, NotApplicable, Option, valid_seed
from annomodels.fitting.run import default_model
from annomodels.models.base import Model
from annomodels.planning.trials import Trial, World, assumed, like_pilot, trial
from annomodels.progress import Progress, reporting

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

ERRORS = 2.0  # Monte Carlo errors by which a mean must differ from the target


class Row(TypedDict):
    """One design and its expected results; the columns of :func:`annomodels.design`."""

    items: int
    coders: int
    labels_per_item: int
    labels: int
    accuracy: float
    accuracy_mcse: float
    vote: float
    alpha: float
    alpha_width: float
    alpha_width_mcse: float
    reaches: str


def verdict(mean: float, error: float, target: float, *, above: bool) -> str:
    """Test if a mean is above (or below) the target beyond its Monte Carlo error."""
    if math.isnan(mean):
        return "no"
    gap = mean - target if above else target - mean
    if gap >= ERRORS * error:
        return "yes"
    return "no" if gap < -ERRORS * error else "unclear"


def sentences(
    rows: Sequence[Row],
    smallest: Row | None,
    of: str,
    target: float,
    replications: int,
    from_pilot: bool,
) -> tuple[str, ...]:
    """Describe the smallest design, unclear designs, and the basis of the numbers."""
    goal = (
        f"{percent(target, 1)} correct gold labels"
        if of == "gold"
        else f"an interval of alpha at most {target:g} wide"
    )
    best = smallest or _best(rows, of)
    if smallest:
        first = (
            f"The smallest design that reaches {goal}: {_name(best)}, {best['labels']:,} labels in "
            f"all ({_brings(best, of)})."
        )
    elif of == "alpha" and math.isnan(best["alpha_width"]):
        first = f"No design reaches {goal}: alpha needs items with at least two labels."
    else:
        more = "better coders, or more labels per item" if of == "gold" else "more items"
        takes = "." if best["reaches"] == "unclear" else f": use {more}."
        first = f"No design is certain to reach {goal}. The best is {_name(best)}, "
        first += f"{_brings(best, of)}{takes}"
    notes = [first]
    cheaper = rows if smallest is None else rows[: rows.index(smallest)]
    unclear = [_name(r) for r in cheaper if r["reaches"] == "unclear" and r is not best]
    if unclear:
        notes.append(
            f"Within the Monte Carlo error, {' or '.join(unclear)} may also do: run more "
            "replications."
        )
    notes.append(
        f"Each design was simulated {replications} times on "
        + (
            "data drawn from the posterior of the pilot. If the pilot's model is wrong, "
            "for example because items differ in difficulty, more labels are needed."
            if from_pilot
            else "simulated data. The numbers rest on the assumptions: a pilot is more reliable."
        )
    )
    return tuple(notes)


def _name(row: Row) -> str:
    many = "1 label" if row["labels_per_item"] == 1 else f"{row['labels_per_item']} labels"
    return f"{many} per item ({row['items']:,} items) by {row['coders']} coders"


def _brings(row: Row, of: str) -> str:
    if of == "gold":
        return (
            f"expected {percent(row['accuracy'], 1)}, majority vote {percent(row['vote'], 1)}; "
            f"Monte Carlo error {percent(row['accuracy_mcse'], 1)}"
        )
    return (
        f"expected {row['alpha_width']:.3f} around {row['alpha']:.2f}; Monte Carlo error "
        f"{row['alpha_width_mcse']:.3f}"
    )


def _best(rows: Sequence[Row], of: str) -> Row:
    """Find the design closest to the target."""
    if of == "gold":
        return max(rows, key=lambda row: row["accuracy"])
    return min(rows, key=lambda r: math.inf if math.isnan(r["alpha_width"]) else r["alpha_width"])


Of = Literal["gold", "alpha"]

ITEMS, CODERS, LABELS_PER_ITEM = 200, 20, (1, 2, 3, 5, 7, 10)
COLUMNS = columns(
    ALL["items"].called(kind="count"),
    "coders",
    Column("labels_per_item", "Labels per item", "count"),
    "labels",
    Column("accuracy", "Gold labels right", digits=3),
    Column("reaches", "Reaches the target", "tag"),
    Column("vote", "Majority labels right", digits=3),
    Column("alpha", "Alpha", digits=3),
    Column("alpha_width", "Width of alpha's interval", digits=3),
)
TARGET = {"gold": 0.95, "alpha": 0.1}


@dataclass(frozen=True, eq=False, repr=False)
class Design(Summary):
    """Expected result of each design; the table has one row per design, cheapest first.

    Parameters
    ----------
    title, table, draws, notes
        As of every summary; the draws are the replications.
    target
        Target value.
    smallest
        The row of the smallest design that reaches the target, or None.
    """

    target: float = field(kw_only=True)
    smallest: dict[str, Any] | None = field(kw_only=True)


def design(
    pilot: Fit | None = None,
    *,
    target: float | None = None,
    of: Of = "gold",
    items: int | Sequence[int] | None = None,
    coders: int | Sequence[int] | None = None,
    labels_per_item: int | Sequence[int] = LABELS_PER_ITEM,
    model: str | Model | None = None,
    replications: int = 30,
    seed: int = 0,
    progress: Progress | None = None,
    **assumptions: object,
) -> Design:
    """Find how many labels per item reach a target, by simulated studies.

    For every design, studies are simulated, fitted and compared with their truth. The error of
    the means over studies (Monte Carlo error) is in the table, and a design counts as
    reaching the target only when its mean does so by two of these errors.

    Parameters
    ----------
    pilot
        A fit of a pilot. Prevalence and coders are then drawn from its posterior, so that the
        uncertainty of a small pilot is in the result. Without it they are assumed.
    target
        Share of right gold labels to reach (.95 by default), or width of alpha's 95 % interval to
        stay below (.1).
    of
        "gold" or "alpha": what the target is about.
    items
        Number of items, or several to try; 200, or those of the pilot, by default. The width of
        alpha's interval depends on it, gold label accuracy hardly does.
    coders
        Number of coders, or several to try; 20, or those of the pilot, by default.
    labels_per_item
        Numbers to try; those above the number of coders are left out.
    model
        Model that the gold standard comes from; by default the one that :func:`annomodels.fit`
        takes, ``stack`` in general. ``dawid-skene`` is several times as fast, and about as right
        where coders err independently.
    replications
        Number of simulated studies per design.
    seed
        The same seed gives the same numbers. All designs share their random numbers as far as
        possible, so that they can be compared.
    progress
        Called as ``progress(stage, share_done, message)``; notebooks show a bar without it.
    **assumptions
        Of :func:`annomodels.simulate`: labels, prevalence, accuracy, spammers, adversaries,
        ambiguous, difficulty, workload. With a pilot only workload.

    Returns
    -------
    Design
        One row per design: items, coders, labels_per_item, labels (in all), accuracy with its
        Monte Carlo error (`_mcse`), vote (the same of the majority vote), alpha, alpha_width and
        alpha_width_mcse, reaches ("yes", "no" or "unclear"). There is no interval for one study:
        a pilot's model can be wrong about the difficulty of items, so the range of the simulated
        studies is too narrow.

    Raises
    ------
    NotApplicable
        When a number is impossible, or assumptions contradict the pilot.

    Examples
    --------
    >>> found = design(items=60, coders=8, labels_per_item=[1, 5], replications=6, accuracy=0.9)
    >>> found.table[["coders", "labels_per_item", "labels", "reaches"]]
       coders  labels_per_item  labels reaches
    0       8                1      60      no
    1       8                5     300     yes
    """
    if of not in get_args(Of):
        raise NotApplicable(f"{Option('of', of)} is unknown. Use one of {', '.join(get_args(Of))}.")
    wanted = TARGET[of] if target is None else target
    world, n_items, n_coders = _world(pilot, items, coders, assumptions)
    sets = _numbers(n_items, "items")
    panels = _numbers(n_coders, "coders")
    sizes = _numbers(labels_per_item, "labels_per_item")
    cells = sorted((n * m, n, j, m) for n in sets for j in panels for m in sizes if m <= j)
    _check(wanted, of, replications, bool(cells))
    rows, found, names = [], [], []
    with reporting(progress) as tell:
        for number, (_, n, j, m) in enumerate(cells):
            name = f"{counted(n, 'item')}, {counted(j, 'coder')}, {counted(m, 'label')} per item"
            tell("simulating studies", number / len(cells), name)
            seeds = [(valid_seed(seed) * 100_003 + r) % MOST_SEED for r in range(replications)]
            made = [world(n, j, m, s) for s in seeds]
            named = default_model(made[0][0]) if model is None else model
            names.append(named if isinstance(named, str) else named.name)
            trials = [trial(*each, named, s) for each, s in zip(made, seeds, strict=True)]
            rows.append(_row((n, j, m), trials, of, wanted))
            found.append(trials)
        tell("simulating studies", 1.0, "")
    smallest = next((row for row in rows if row["reaches"] == "yes"), None)
    return Design(
        "Designs",
        pd.DataFrame(rows),
        _draws(cells, found),
        (
            *sentences(rows, smallest, of, wanted, replications, pilot is not None),
            f"Gold labels of the studies are those of {' or '.join(dict.fromkeys(names))}"
            f"{', the default of am.fit' if model is None else ''}; with one label per item, they "
            "are the votes.",
        ),
        COLUMNS,
        target=wanted,
        smallest=None if smallest is None else dict(smallest),
    )


def _world(
    pilot: Fit | None,
    items: int | Sequence[int] | None,
    coders: int | Sequence[int] | None,
    assumptions: dict[str, Any],
) -> tuple[World, int | Sequence[int], int | Sequence[int]]:
    """Return the simulator of studies, with its numbers of items and coders."""
    if pilot is None:
        world = assumed(**assumptions)
        known = (ITEMS, CODERS)
    else:
        workload = assumptions.pop("workload", "even")
        if assumptions:
            raise NotApplicable(
                f"The pilot already sets {', '.join(assumptions)}: leave them out, or plan "
                "without it."
            )
        world = like_pilot(pilot, workload)
        known = (pilot.data.n_items, pilot.data.n_coders)
    return world, known[0] if items is None else items, known[1] if coders is None else coders


def _numbers(given: int | Iterable[int], name: str) -> list[int]:
    numbers = sorted({given} if isinstance(given, int) else set(given))
    if not numbers or numbers[0] < 1:
        raise NotApplicable(f"{name}: give whole numbers of 1 or more.")
    return numbers


def _check(target: float, of: Of, replications: int, some: bool) -> None:
    if not some:
        raise NotApplicable("Every design has fewer coders than labels per item.")
    if replications < 2:
        raise NotApplicable("A design needs at least 2 replications.")
    if not (0 < target <= 1 if of == "gold" else target > 0):
        what = "a share of correct labels above 0, up to 1" if of == "gold" else "a width above 0"
        raise NotApplicable(f"The target is {target:g}: give {what}.")


def _row(cell: tuple[int, int, int], trials: list[Trial], of: Of, target: float) -> Row:
    """Summarize replications; a value that is undefined in all of them is NaN."""
    values = np.ma.masked_invalid(np.array(trials))
    n_defined = np.maximum(values.count(axis=0), 1)
    mean = values.mean(axis=0).filled(math.nan)
    error = (values.std(axis=0, ddof=1) / np.sqrt(n_defined)).filled(math.nan)
    of_target = 0 if of == "gold" else 3
    n, j, m = cell
    return Row(
        items=n,
        coders=j,
        labels_per_item=m,
        labels=n * m,
        accuracy=float(mean[0]),
        accuracy_mcse=float(error[0]),
        vote=float(mean[1]),
        alpha=float(mean[2]),
        alpha_width=float(mean[3]),
        alpha_width_mcse=float(error[3]),
        reaches=verdict(
            float(mean[of_target]), float(error[of_target]), target, above=of == "gold"
        ),
    )


def _draws(cells: list[tuple[int, int, int, int]], found: list[list[Trial]]) -> xr.Dataset:
    values = np.array(found)
    dims = ("design", "replication")
    return xr.Dataset(
        {name: (dims, values[:, :, at]) for at, name in enumerate(Trial._fields)},
        coords={"design": [f"{n} items, {m} labels each, {j} coders" for _, n, j, m in cells]},
    )
