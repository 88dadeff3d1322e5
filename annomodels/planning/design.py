"""Required numbers of coders and labels per item of a study."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.coefficients.agreement import agreement
from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import Column, columns, percent
from annomodels.data.messages import messages_beside, note
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import MOST_SEED, AnnotationError, NotApplicable, Option, valid_seed
from annomodels.fitting.fit import Fit
from annomodels.fitting.run import default_model, fit
from annomodels.models.base import Model
from annomodels.models.encoded import require_fittable
from annomodels.planning.simulate import Workload, assign, simulate
from annomodels.progress import Progress, reporting, silent
from annomodels.summaries.coders import new_coders
from annomodels.summaries.draws import Draws, choices, thinned
from annomodels.summaries.gold import by_vote_of
from annomodels.types import Floats, Ints

say = partial(note, messages_beside(__file__))

ERRORS = 2.0  # Monte Carlo errors by which a mean must differ from the target


def verdict(mean: Floats, error: Floats, target: float, *, above: bool) -> list[str]:
    """Test if means are above (or below) the target beyond their Monte Carlo errors."""
    gap = mean - target if above else target - mean
    tests = gap >= ERRORS * error, ~(gap >= -ERRORS * error)  # NaN reaches nothing
    return list(map(str, np.select(tests, ["yes", "no"], "unclear")))


def sentences(
    table: pd.DataFrame,
    smallest: int | None,
    of: str,
    target: float,
    replications: int,
    from_pilot: bool,
) -> tuple[str, ...]:
    """Describe the smallest design, unclear designs, and the basis of the numbers."""
    gold = of == "gold"
    if gold:
        goal = f"{percent(target, 1)} right gold labels"
        closest = int(table["accuracy"].to_numpy().argmax())
    else:
        goal = f"an interval of alpha at most {target:g} wide"
        closest = int(table["alpha_width"].fillna(math.inf).to_numpy().argmin())
    at = closest if smallest is None else smallest
    best = table.iloc[at]
    code = "best_unclear" if best["reaches"] == "unclear" else "best"
    if smallest is not None:
        code = "smallest"
    elif not gold and math.isnan(best["alpha_width"]):
        code = "alpha_undefined"
    more = "better coders, or more labels per item" if gold else "more items"
    words = {"design": _name(best), "brings": _brings(best, gold), "labels": best["labels"]}
    notes = [say(code, goal=goal, more=more, **words)]
    cheaper = table.iloc[:smallest].drop(index=at, errors="ignore")
    unclear = [_name(row) for _, row in cheaper[cheaper["reaches"] == "unclear"].iterrows()]
    if unclear:
        notes.append(say("unclear", designs=" or ".join(unclear)))
    return (*notes, say("like_pilot" if from_pilot else "assumed", n=replications))


def _name(row: pd.Series) -> str:
    many = counted(row["labels_per_item"], "label")
    return f"{many} per item ({row['items']:,} items) by {row['coders']} coders"


def _brings(row: pd.Series, gold: bool) -> str:
    if gold:
        return (
            f"expected {percent(row['accuracy'], 1)}, majority vote {percent(row['vote'], 1)}; "
            f"Monte Carlo error {percent(row['accuracy_mcse'], 1)}"
        )
    return (
        f"expected {row['alpha_width']:.3f} around {row['alpha']:.2f}; Monte Carlo error "
        f"{row['alpha_width_mcse']:.3f}"
    )


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
        As in every summary; the draws are the replications.
    target
        Target value.
    smallest
        Row of the smallest design that reaches the target, or None.
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

    For each design, studies are simulated, fitted and compared with the simulated truth. The table
    has the Monte Carlo error of the means over studies. A design reaches the target only if its
    mean is better than the target by two of these errors.

    Parameters
    ----------
    pilot
        A fit of a pilot. Prevalence and coders are then drawn from its posterior, so the result
        includes the uncertainty of a small pilot. Without a pilot, they are assumed.
    target
        Share of right gold labels to reach [default: .95], or maximum width of alpha's 95 %
        interval [default: .1].
    of
        Subject of the target: "gold" or "alpha".
    items
        Number of items, or several to try [default: 200, or those of the pilot]. The width of
        alpha's interval depends on it; the accuracy of gold labels hardly does.
    coders
        Number of coders, or several to try [default: 20, or those of the pilot].
    labels_per_item
        Numbers to try; numbers above the number of coders are left out.
    model
        Model for the gold standard [default: that of :func:`annomodels.fit`, usually ``stack``].
        ``dawid-skene`` is several times as fast, and about as accurate if coders err independently.
    replications
        Number of simulated studies per design.
    seed
        The same seed gives the same numbers. All designs share their random numbers as far as
        possible, so that they can be compared.
    progress
        Called as ``progress(stage, share_done, message)``; notebooks show a bar without it.
    **assumptions
        Options of :func:`annomodels.simulate`: labels, prevalence, accuracy, spammers, adversaries,
        ambiguous, difficulty, workload. With a pilot, only workload.

    Returns
    -------
    Design
        One row per design: items, coders, labels_per_item, labels (in all), accuracy with its Monte
        Carlo error (`_mcse`), vote (accuracy of the majority vote), alpha, alpha_width and
        alpha_width_mcse, reaches ("yes", "no" or "unclear"). There is no interval for a single
        study: the pilot's model may be wrong about the difficulty of items, so the range of the
        simulated studies is too narrow.

    Raises
    ------
    NotApplicable
        If a number is impossible, or assumptions contradict the pilot.

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
    found, names = [], []
    with reporting(progress) as tell:
        for number, (_, n, j, m) in enumerate(cells):
            name = f"{counted(n, 'item')}, {counted(j, 'coder')}, {counted(m, 'label')} per item"
            tell("simulating studies", number / len(cells), name)
            seeds = [(valid_seed(seed) * 100_003 + r) % MOST_SEED for r in range(replications)]
            made = [world(n, j, m, s) for s in seeds]
            named = default_model(made[0][0]) if model is None else model
            names.append(named if isinstance(named, str) else named.name)
            found.append([trial(*each, named, s) for each, s in zip(made, seeds, strict=True)])
        tell("simulating studies", 1.0, "")
    values = np.array(found)
    table = _table(cells, values, of, wanted)
    sure = np.flatnonzero(table["reaches"] == "yes")
    smallest = int(sure[0]) if len(sure) else None
    rows = [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
    default = ", the default of am.fit" if model is None else ""
    dims = ("design", "replication")
    draws = xr.Dataset(
        {name: (dims, values[:, :, at]) for at, name in enumerate(Trial._fields)},
        coords={"design": [f"{n} items, {m} labels each, {j} coders" for _, n, j, m in cells]},
    )
    return Design(
        "Designs",
        table,
        draws,
        (
            *sentences(table, smallest, of, wanted, replications, pilot is not None),
            say("gold_of", names=" or ".join(dict.fromkeys(names)), default=default),
        ),
        COLUMNS,
        target=wanted,
        smallest=None if smallest is None else rows[smallest],
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
        what = "a share of right labels above 0, up to 1" if of == "gold" else "a width above 0"
        raise NotApplicable(f"The target is {target:g}: give {what}.")


def _table(
    cells: list[tuple[int, int, int, int]], found: Floats, of: Of, target: float
) -> pd.DataFrame:
    """Average the replications [design, replication, field]; NaN if none has a value."""
    values = np.ma.masked_invalid(found)
    mean = values.mean(axis=1).filled(math.nan)
    defined = np.maximum(values.count(axis=1), 1)
    error = (values.std(axis=1, ddof=1) / np.sqrt(defined)).filled(math.nan)
    table = pd.DataFrame(cells, columns=["labels", "items", "coders", "labels_per_item"])
    table = table[["items", "coders", "labels_per_item", "labels"]]
    accuracy, vote, alpha, width = range(4)
    wanted = accuracy if of == "gold" else width
    return table.assign(
        accuracy=mean[:, accuracy],
        accuracy_mcse=error[:, accuracy],
        vote=mean[:, vote],
        alpha=mean[:, alpha],
        alpha_width=mean[:, width],
        alpha_width_mcse=error[:, width],
        reaches=verdict(mean[:, wanted], error[:, wanted], target, above=of == "gold"),
    )


World = Callable[[int, int, int, int], tuple[Annotations, Ints]]
"""Makes annotations and their truth from numbers of items, coders, labels per item, and a seed."""

PILOT_DRAWS = 400


def assumed(**assumptions: Any) -> World:
    """Make data from stated assumptions, the arguments of :func:`annomodels.simulate`."""

    def world(items: int, coders: int, per_item: int, seed: int) -> tuple[Annotations, Ints]:
        made = simulate(items, coders, labels_per_item=per_item, seed=seed, **assumptions)
        return made.annotations, made.truth

    return world


def like_pilot(pilot: Fit, workload: Workload = "even") -> World:
    """Simulate data like a pilot's, each time from another posterior draw."""
    # Coders are new ones from the model's population if there is one and its items are no more than
    # their class; else coders of the pilot, drawn with replacement, as in this draw.
    tree, data = pilot.tree, pilot.data
    draws = thinned(tree, data, PILOT_DRAWS)
    population = draws.states is None and new_coders(tree, 1) is not None

    def world(items: int, coders: int, per_item: int, seed: int) -> tuple[Annotations, Ints]:
        rng = np.random.default_rng(seed)
        s = int(rng.integers(len(draws)))
        if population:
            # new coders of this draw, [coder, truth, label]; they come in pairs
            made_up = (
                new_coders(tree, len(draws), seed=seed * 10_000 + n) for n in range(-(-coders // 2))
            )
            found = [side[s] for pair in made_up if pair for side in (pair.first, pair.second)]
            emission = np.stack(found[:coders])
        else:
            emission = draws.emission[s, rng.integers(data.n_coders, size=coders)]
        item, coder = assign(items, coders, per_item, workload, rng)
        state, truth = _items(draws, s, items, rng)
        label = choices(emission[coder, state[item]], rng.random(len(item)))
        made = Annotations(
            item=item.astype(np.int32),
            coder=coder.astype(np.int32),
            label=label.astype(np.int32),
            items=tuple(range(items)),
            coders=tuple(range(coders)),
            labels=data.labels,
            scale=data.scale,
            declared=True,
        )
        return made, truth

    return world


def _items(draws: Draws, s: int, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    share = np.broadcast_to(draws.share[s], (n, draws.share.shape[1]))
    state = choices(share, rng.random(n))
    if draws.states is None:
        return state, state
    return state, choices(draws.truth(s)[state], rng.random(n))


RUN: dict[str, Any] = {"chains": 1, "draws": 200, "warmup": 100, "extend": False, "threads": 1}
ALPHA_DRAWS = 500


class Trial(NamedTuple):
    accuracy: float
    vote: float
    alpha: float
    width: float


def trial(data: Annotations, truth: Ints, model: str | Model, seed: int) -> Trial:
    """Fit simulated data and compare the gold standard with the truth."""
    voted = float(by_vote_of(data)[np.arange(data.n_items), truth].mean())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small or one-sided data are intended
        measured = agreement(data, "alpha", draws=ALPHA_DRAWS, seed=seed)
        width = measured.high - measured.low if np.isfinite(measured.value) else float("nan")
        try:
            require_fittable(data)
        except AnnotationError:
            return Trial(voted, voted, measured.value, width)
        result = fit(data, model, seed=seed, progress=silent, **RUN)
    label = result.tree["truth"].to_dataset()["p_truth"].values.argmax(axis=1)
    return Trial(float((label == truth).mean()), voted, measured.value, width)
