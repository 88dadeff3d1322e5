"""What a second Dask worker brings: seconds of an iteration of Gibbs with one worker and with two.

    python benchmarks/spreading.py [--reduced] [--labels 1e7]

Each worker is a process with one thread. Runs with one and two of them take turns, since the
machine may change from run to run. Needs the extra `dask`.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from contextlib import ExitStack, suppress
from typing import Any

import common
import numpy as np

COLUMNS = (
    "labels", "coders", "iterations", "one worker, s", "two workers, s", "one / two",
    "least and most", "two processes, no Dask",
)  # fmt: skip
CODERS = (500, 10_000)
LABELS, REDUCED = 10_000_000, 100_000
CHAINS, WARMUP, DRAWS, STEPS, TURNS, LAPS = 4, 4, 500, 20, 3, 21

INTRODUCTION = f"""
Seconds of the clock for an iteration of the four chains of `am.fit(data, "dawid-skene",
executor=client)`, in the warm-up and while draws are kept (P(truth) of all items is added at the
end, from the kept draws): K = 5 labels, 5 labels an item, workers of one thread on the same
machine as the scheduler and the process that asks. Medians of {TURNS} runs of {STEPS}
iterations with one worker and with two in turn; the ratio is the median of those of each turn, with
the least and the largest beside it. *Two processes, no Dask*: how much two processes get done at a
time, as a multiple of what one of them does alone, when each draws for half of the items and they
send each other nothing. Cores that share caches, memory and heat do less than twice as much, and
workers on them cannot do better.
"""


def crowd(labels: int, coders: int, seed: int) -> Any:
    """Codes of a simulated crowd, 70 % right."""
    from annomodels.models.encoded import Encoded

    per, classes = 5, 5
    rng = np.random.default_rng(seed)
    items = labels // per
    truth = np.repeat(rng.integers(classes, size=items), per)
    row = rng.integers(coders, size=labels).astype(np.int32)
    guess = rng.integers(classes, size=labels)
    label = np.where(rng.random(labels) < 0.7, truth, guess).astype(np.int32)
    starts = np.arange(items + 1, dtype=np.int64) * per
    none = np.full(items, -1, dtype=np.int32)
    return Encoded(
        starts, row, label, none, np.ones(items), np.arange(items), coders, classes, classes
    )  # fmt: skip


def start_of(codes: Any) -> Any:
    """Model and state that the chains begin with."""
    from annomodels.engines.starts import state_from_shares, vote_shares
    from annomodels.models import resolve

    model = resolve("dawid-skene")
    return model, state_from_shares(model, codes, vote_shares(codes))


def laps(
    place: int, gate: Any, found: Any, labels: int, coders: int, seed: int, keep: bool
) -> None:
    """Draw for half of the items, alone (the first of two) and beside the other, in turn."""
    from annomodels.engines.source.held import OpenBlock
    from annomodels.engines.source.itemsums import Stage
    from annomodels.engines.source.jobs import Keeping, sampled
    from annomodels.engines.source.partition import cut

    codes = crowd(labels // 2, coders, seed + place)
    _, state = start_of(codes)
    block = OpenBlock(cut(codes, 1).partitions[0])
    known = [(state.log_prevalence, state.log_confusion)] * CHAINS
    chains = list(range(CHAINS))
    orders = [np.arange(codes.n_labels)] * CHAINS
    for lap in range(-2, LAPS):
        gate.wait()
        both = lap < 0 or lap % 2 == 1
        if both or place == 0:
            begun = time.perf_counter()
            keeping = Keeping(Stage(1, DRAWS // 20), max(lap, 0), orders, chains)
            sampled(block, known, chains, lap + 2, keeping if keep else None)
            if lap >= 0:
                found.put((both, time.perf_counter() - begun))
        gate.wait()
    found.put(None)


def of_two_processes(labels: int, coders: int, seed: int, keep: bool) -> float:
    """How much two processes get done at a time, as a multiple of what one does."""
    context = multiprocessing.get_context("spawn")
    gate, found = context.Barrier(2), context.Queue()
    given = (gate, found, labels, coders, seed, keep)
    both = [context.Process(target=laps, args=(n, *given)) for n in (0, 1)]
    for process in both:
        process.start()
    seconds: dict[bool, list[float]] = {False: [], True: []}
    ended = 0
    while ended < 2:
        lap = found.get()
        if lap is None:
            ended += 1
        else:
            seconds[lap[0]].append(lap[1])
    for process in both:
        process.join()
    return float(2 * np.median(seconds[False]) / np.median(seconds[True]))


def pace(codes: Any, team: Any, seed: int, stage: str = "sampling") -> float:
    """Seconds of an iteration, between two reports on a stage that are `STEPS` iterations apart."""
    from annomodels.engines.gibbs import sample
    from annomodels.engines.settings import Settings
    from annomodels.engines.source.partition import cut

    seen: list[tuple[float, float]] = []
    warmup = DRAWS if stage == "warm-up" else WARMUP

    def progress(told: str, share: float, message: str) -> None:
        if told == stage:
            seen.append((share * DRAWS, time.perf_counter()))
            if seen[-1][0] - seen[0][0] >= STEPS:
                raise KeyboardInterrupt  # a run that is interrupted ends with what it has

    model, _ = start_of(codes)
    settings = Settings(
        chains=CHAINS,
        draws=DRAWS,
        warmup=warmup,
        seed=seed,
        extend=False,
        progress=progress,
        executor=team,
    )
    with suppress(KeyboardInterrupt):
        sample(model, cut(codes, team.places), settings, team)
    (first, begun), (last, ended) = seen[0], seen[-1]
    return (ended - begun) / (last - first)


def measured(labels: int, coders: int, seed: int, turns: int) -> list[list[str]]:
    """Rows of the table."""
    from distributed import Client, LocalCluster

    from annomodels.executors.dask import DaskTeam

    codes = crowd(labels, coders, seed)
    rows = []
    with ExitStack() as stack:
        teams = []
        for n in (1, 2):
            cluster = stack.enter_context(
                LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=":0")
            )
            teams.append(DaskTeam(stack.enter_context(Client(cluster, set_as_default=False))))
        for stage, title in (("warm-up", "warm-up"), ("sampling", "kept")):
            limit = of_two_processes(labels, coders, seed, keep=stage == "sampling")
            found = []
            for turn in range(turns + 1):
                found.append([pace(codes, team, seed, stage) for team in teams])
                common.say(f"{labels:,} labels, {coders:,} coders, {title} {turn}: {found[-1]}")
            seconds = np.array(found[1:])  # the first run of a worker loads the compiled loops
            ratios = seconds[:, 0] / seconds[:, 1]
            one, two = np.median(seconds, axis=0)
            spread = f"{ratios.min():.2f} – {ratios.max():.2f}"
            ratio, most = f"{np.median(ratios):.2f}", f"{limit:.2f}"
            rows.append(
                [f"{labels:,}", f"{coders:,}", title, f"{one:.2f}", f"{two:.2f}", ratio, spread,
                 most]
            )  # fmt: skip
    return rows


def main() -> int:
    parser = common.arguments(__doc__, "spreading.md")
    parser.add_argument("--labels", type=float, default=LABELS, help="number of labels")
    parser.add_argument("--coders", nargs="+", type=int, default=list(CODERS))
    options = parser.parse_args()
    labels = REDUCED if options.reduced else int(options.labels)
    turns = 1 if options.reduced else TURNS
    rows = [
        row for coders in options.coders for row in measured(labels, coders, options.seed, turns)
    ]
    foot = common.machine("distributed")
    if options.reduced:
        foot = f"A reduced run, too small to judge by. {foot}"
    common.write(options.out, [INTRODUCTION.strip(), common.markdown(COLUMNS, rows, 0), foot])
    return 0


if __name__ == "__main__":
    sys.exit(main())
