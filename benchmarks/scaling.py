"""How time and memory grow with the number of labels, up to a hundred million.

    python benchmarks/scaling.py [--reduced] [--largest 1e7] [--parts scan pass em gibbs] [--full]

Labels are simulated block by block as Parquet (scaling_data.py); each measurement is a fresh
process, so that its memory is its own. A pass over the labels is measured in memory on one and on
two threads, and streamed from disk. Seconds are those of the clock; processor seconds, of all
threads, stand beside them, since other programs lengthen the former more than the latter.
crowd-kit is optional: pip install --group bench
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import common
import scaling_data
from scaling_tables import Measured, plot, tables

PARTS = ("scan", "pass", "em", "gibbs", "crowdkit")
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
LARGEST, REDUCED, FULL = 10_000_000, 10_000, 100_000_000
CROWDKIT_UPTO = 1_000_000  # labels of the largest set that the rival is asked about
# a hundred million are streamed only, and an iteration of their chains takes seconds
UPTO = {"crowdkit": CROWDKIT_UPTO, "pass_memory": LARGEST, "pass_two": LARGEST, "gibbs": LARGEST}
CHAINS, WARMUP, DRAWS = 4, 50, 500
LIMIT = "ANNOMODELS_SCALING_SECONDS"  # environment: time limit of a run of Gibbs, else 900
# passes that are measured: so many, and for so long, since the machine has slower moments
REPEATS, LEAST_SECONDS = 30, 3.0

INTRODUCTION = f"""
Simulated crowds with K = 5 labels, 5 labels an item and a thousand from each coder on average (20
coders at the least, 10,000 at the most), few of whom give many; names are texts in no order.
*Scan*: from Parquet to coded, sorted columns on disk. *Pass*: the truth of all items is drawn once
and the labels are counted, which is an iteration of one Gibbs chain; the least of several. *EM*:
`am.fit(scan, "dawid-skene", engine="em")`, streamed, from the votes to its end. *Gibbs*:
`am.fit(scan, "dawid-skene")`, streamed, {CHAINS} chains, {WARMUP} iterations of warm-up and {DRAWS}
more, and twice as many until R-hat is below 1.01 for the prevalence and the hundred busiest coders.
*One thread against two*: both in turn, the median of the ratios. *Memory* is the most that the
whole process held, Python and libraries with it (about 0.2 GB). The libraries are loaded and the
loops compiled before the clock starts.
"""


@contextmanager
def timed(into: Measured, name: str) -> Iterator[None]:
    """Note seconds and processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    yield
    into[name] = time.perf_counter() - wall
    into[f"{name}_cpu"] = time.process_time() - processor


def least(into: Measured, found: Measured) -> None:
    """Keep the least of what is measured several times."""
    for key, value in found.items():
        into[key] = min(value, into.get(key, value))


def scanned(work: Path, n: int) -> Any:
    """Scan, or take what an earlier measurement left."""
    import annomodels as am

    return am.scan(work / f"labels-{n}", cache=work / f"scan-{n}")


def tiny(work: Path, engine: str = "") -> None:
    """Scan a handful of labels, and fit them, so that the loops are loaded."""
    import pandas as pd

    import annomodels as am

    first = work / f"first-{os.getpid()}.csv"
    rows = {"item": ["a", "a1", "a"], "coder": ["x", "y", "y"], "label": ["1", "2", "1"]}
    pd.DataFrame(rows).to_csv(first, index=False)
    data = am.scan(first)
    first.unlink()
    if engine:
        am.fit(data, "dawid-skene", engine=engine, chains=2, draws=20, warmup=5, seed=1)


def scan(work: Path, n: int, seed: int) -> Measured:
    """Measure a scan."""
    tiny(work)
    shutil.rmtree(work / f"scan-{n}", ignore_errors=True)
    out: Measured = {}
    with timed(out, "seconds"):
        found = scanned(work, n)
    return {**out, "bytes": found.n_bytes, "blocks": len(found.blocks)}


def one_pass(work: Path, n: int, seed: int, kind: str) -> Measured:
    """Measure a pass, in memory on one or two threads, or streamed on one."""
    from annomodels.engines.source.jobs import parameters_of, sampled
    from annomodels.engines.source.partition import cut
    from annomodels.engines.source.spread import Spread
    from annomodels.engines.starts import start_states
    from annomodels.executors.team import Threads
    from annomodels.models.catalog import resolve
    from annomodels.models.encoded import encode

    data = scanned(work, n)
    model = resolve("dawid-skene").with_data(data.shell())
    streamed = data.sources()
    (state,) = start_states(model, streamed.opened, seed, [])
    threads = 2 if kind == "two" else 1
    whole = kind != "streamed"
    codes = encode(data.to_annotations(), collapse=False) if whole else None
    team = Threads(threads)
    parts = team.parts(data.n_annotations, data.n_coders * data.n_labels**2)
    source = streamed if codes is None else cut(codes, parts)
    out: Measured = {}

    def draw(spread: Spread, iteration: int) -> None:
        known = [parameters_of(state, spread.here)]  # as a run makes them for every iteration
        spread.sum(sampled, known, [seed], iteration, None)

    ratios = []
    with ExitStack() as stack:
        spread = stack.enter_context(Spread(source, team))
        draw(spread, 0)
        if kind == "streamed":  # also where there is but one block, which a run would hold
            for block in spread.blocks.values():
                block.held = None
        alone: Any = None
        if (
            codes is not None and threads > 1
        ):  # in turn with one thread, since the machine may change from run to run
            alone = stack.enter_context(Spread(cut(codes, 1), Threads(1)))
            draw(alone, 0)
        begun, iteration = time.perf_counter(), 0
        while iteration < REPEATS or time.perf_counter() - begun < LEAST_SECONDS:
            iteration += 1
            both: list[Measured] = [{}, {}]
            with timed(both[0], "seconds"):
                draw(spread, iteration)
            least(out, both[0])
            if alone is not None:
                with timed(both[1], "seconds"):
                    draw(alone, iteration)
                ratios.append(both[1]["seconds"] / both[0]["seconds"])
    team.close()
    return {**out, "times": sorted(ratios)[len(ratios) // 2]} if ratios else out


def pass_memory(work: Path, n: int, seed: int) -> Measured:
    """Measure a pass in memory, one thread."""
    return one_pass(work, n, seed, "memory")


def pass_two(work: Path, n: int, seed: int) -> Measured:
    """Measure a pass in memory, two threads."""
    return one_pass(work, n, seed, "two")


def pass_streamed(work: Path, n: int, seed: int) -> Measured:
    """Measure a pass from disk, one thread."""
    return one_pass(work, n, seed, "streamed")


def em(work: Path, n: int, seed: int) -> Measured:
    """Measure EM from the votes to its end."""
    import annomodels as am

    tiny(work, "em")
    data = scanned(work, n)
    out: Measured = {}
    with timed(out, "seconds"):
        fit = am.fit(data, "dawid-skene", engine="em", seed=seed)
    return {**out, "passes": fit.tree.attrs["passes"]}


def gibbs(work: Path, n: int, seed: int) -> Measured:
    """Measure Gibbs until the chains have mixed, or until the time limit."""
    import annomodels as am

    tiny(work, "gibbs")
    limit = float(os.environ.get(LIMIT, "900"))
    data = scanned(work, n)
    out: Measured = {}
    with timed(out, "seconds"):
        fit = am.fit(
            data, "dawid-skene", chains=CHAINS, warmup=WARMUP, draws=DRAWS, seed=seed,
            time_limit=limit,
        )  # fmt: skip
    attrs = fit.tree.attrs
    keys = ("rhat_max", "ess_min", "iterations", "thin", "stopped")
    return {**out, **{key: attrs[key] for key in keys}}


def crowdkit(work: Path, n: int, seed: int) -> Measured:
    """Measure an iteration of crowd-kit's EM: a long run less a short one."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    frame = pd.read_parquet(work / f"labels-{n}")
    frame.columns = ["task", "worker", "label"]
    found: dict[int, float] = {}
    for iterations in (1, 6):
        begun = time.perf_counter()
        DawidSkene(n_iter=iterations, tol=-1.0).fit(frame)
        found[iterations] = time.perf_counter() - begun
    return {"seconds": (found[6] - found[1]) / 5}


MEASUREMENTS: dict[str, Callable[[Path, int, int], Measured]] = {
    "scan": scan,
    "pass_memory": pass_memory,
    "pass_two": pass_two,
    "pass_streamed": pass_streamed,
    "em": em,
    "gibbs": gibbs,
    "crowdkit": crowdkit,
}


def measured(work: Path, n: int, seed: int, part: str) -> dict[str, Measured]:
    """Do the measurements of a part in fresh processes."""
    names = [name for name in MEASUREMENTS if name.split("_")[0] == part]
    names = [name for name in names if n <= UPTO.get(name, n)]
    if part == "crowdkit" and not importlib.util.find_spec("crowdkit"):
        return {}
    out = {}
    for name in names:
        found = common.alone(__file__, "--alone", name, str(work), str(n), "--seed", str(seed))
        if found is not None:
            common.say(f"{n:,} {name}: {found}")
            out[name] = found
    return out


def main() -> int:
    parser = common.arguments(__doc__, "scaling.md")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--largest", type=float, default=LARGEST, help="most labels")
    parser.add_argument("--full", action="store_true", help="up to a hundred million labels")
    parser.add_argument("--work", type=Path, help="folder that keeps labels and scans")
    parser.add_argument("--plot", type=Path, default=common.ROOT / "docs/images/scaling.svg")
    parser.add_argument("--alone", nargs=3, metavar=("NAME", "WORK", "LABELS"))
    options = parser.parse_args()
    if options.alone:
        name, work, n = options.alone
        common.answer(MEASUREMENTS[name](Path(work), int(n), options.seed))
        return 0
    largest = FULL if options.full else REDUCED if options.reduced else options.largest
    found: dict[int, Measured] = {}
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or Path(folder)
        for n in (n for n in SIZES if n <= largest):
            if not (work / f"labels-{n}").exists():
                scaling_data.write(work / f"labels-{n}", n, options.seed)
            found[n] = {}
            for part in options.parts:
                found[n] |= measured(work, n, options.seed, part)
    foot = common.machine("pyarrow", "crowd-kit")
    if options.reduced:
        foot = f"A reduced run, too small to judge by. {foot}"
    common.write(options.out, [*tables(INTRODUCTION, found), foot])
    if not options.reduced:
        plot(found, options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
