"""Whether time and memory are linear: one crowd and one thread, and more and more labels.

    python benchmarks/linear.py [--reduced] [--largest 1e7] [--work FOLDER]

Only the number of labels differs from size to size, so that an exponent is that of the labels; how
cores and coders come into it is for scaling.py to say, whose measurements these are. Each is a
fresh process. A short one is made again until some seconds have passed, and again when all sizes
are through, from the largest to the smallest, so that a machine that changes its pace in the
meantime does not bend the line; the least counts.
"""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import common
import scaling
import scaling_data
from scaling_tables import Measured, exponent, number

CODERS = 100
SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
REDUCED = 300_000
# a measurement is made again until so many seconds have passed, and so many times
ENOUGH, FEWEST = 4.0, 3
# measurements that take longer are not made in a second round
LONG = 60.0
WARM = 10_000  # labels of the set that all loops and libraries see first
# draws of the chains whose memory is looked at, and of those whose time is
FEW, MANY = 20, 500

INTRODUCTION = f"""
One simulated crowd of {CODERS} coders with K = 5 labels and 5 labels an item labels more and more
items; everything runs on one thread. *Scan*: from Parquet to coded, sorted columns on disk. *Pass*:
the truth of all items is drawn once and the labels are counted. *EM*: `am.fit(scan, "dawid-skene",
engine="em", threads=1)`, streamed, from the votes to its end, with P(truth) written; its exponent
is that of the seconds a pass. *Gibbs*: `am.fit(scan, "dawid-skene", threads=1)`, streamed, 4
chains, 50 iterations of warm-up and {MANY} more. Seconds of the clock; a measurement is made again
until {ENOUGH:g} s have passed and it was made {FEWEST} times, or half a minute has passed. All that
take less than a minute are made so in a second round too, from the largest set to the smallest. The
least counts.
"""
MEMORY = f"""
Memory is what Python, NumPy and Arrow together asked for at the most, without what the process
held before it came to these labels; *loaded* is `scan.to_annotations()`, coded for the passes, and
a pass. All else is streamed a block at a time and is to take no more memory for more labels; Gibbs
keeps {FEW} draws here, and each more takes as much for few labels as for many.
"""


def often(call: Callable[[], None], into: Measured) -> None:
    """Call until some seconds have passed, and a few times; notes the least seconds."""
    begun = time.perf_counter()
    for times in itertools.count(1):
        found: Measured = {}
        with scaling.timed(found, "seconds"):
            call()
        scaling.least(into, found)
        passed = time.perf_counter() - begun
        if passed > LONG / 2 or (passed > ENOUGH and times >= FEWEST):
            return


def fitted(data: Any, seed: int, engine: str, draws: int = MANY) -> Any:
    """Fit by EM or Gibbs on one thread, streamed."""
    import annomodels as am

    chains = {"chains": 4, "warmup": 50, "draws": draws, "extend": False}
    options: dict[str, Any] = chains if engine == "gibbs" else {}
    return am.fit(data, "dawid-skene", engine=engine, seed=seed, threads=1, **options)


def scan(work: Path, n: int, seed: int) -> Measured:
    """Measure a scan."""

    def anew() -> None:
        shutil.rmtree(work / f"scan-{n}", ignore_errors=True)
        scaling.scanned(work, n)

    anew()  # what a first scan loads is not measured
    out: Measured = {}
    often(anew, out)
    return out


def em(work: Path, n: int, seed: int) -> Measured:
    """Measure EM from the votes to its end."""
    out: Measured = {"passes": fitted(scaling.scanned(work, WARM), seed, "em").tree.attrs["passes"]}
    data = scaling.scanned(work, n)

    def run() -> None:
        out["passes"] = fitted(data, seed, "em").tree.attrs["passes"]

    often(run, out)
    return {**out, "each": out["seconds"] / out["passes"]}


def gibbs(work: Path, n: int, seed: int) -> Measured:
    """Measure a run of Gibbs of so many iterations."""
    data = scaling.scanned(work, n)

    def run() -> None:
        fitted(data, seed, "gibbs")

    fitted(scaling.scanned(work, WARM), seed, "gibbs", FEW)
    out: Measured = {}
    often(run, out)
    return out


def loaded(work: Path, n: int, seed: int) -> Any:
    """Bring labels into memory and pass over them once."""
    from annomodels.engines.source.jobs import parameters_of, sampled
    from annomodels.engines.source.partition import cut
    from annomodels.engines.source.spread import Spread
    from annomodels.engines.starts import state_from_shares, vote_shares
    from annomodels.executors.team import Threads
    from annomodels.models.catalog import resolve
    from annomodels.models.encoded import encode

    data = scaling.scanned(work, n).to_annotations()
    codes = encode(data, collapse=False)
    # any parameters will do; those of the votes of a few items need no memory of their own
    few = cut(codes, max(1, codes.n_patterns // 1000)).partitions[0].open()
    model: Any = resolve("dawid-skene")
    state = state_from_shares(model.with_data(data), few, vote_shares(few))
    with Spread(cut(codes, 1), Threads(1)) as spread:
        known = [parameters_of(state, here=True)]
        spread.sum(sampled, known, [seed], 0, None)
    return data, codes


USES: dict[str, Callable[[Path, int, int], Any]] = {
    "loaded": loaded,
    "scan": lambda work, n, seed: scaling.scanned(work, n),
    "em": lambda work, n, seed: fitted(scaling.scanned(work, n), seed, "em"),
    "gibbs": lambda work, n, seed: fitted(scaling.scanned(work, n), seed, "gibbs", FEW),
}


def asked(work: Path, n: int, seed: int, use: str) -> Measured:
    """Measure what a use asks for at the most, beyond what the process holds already."""

    def again() -> None:
        if use == "scan":
            shutil.rmtree(work / f"scan-{n}", ignore_errors=True)

    USES[use](work, WARM, seed)
    again()
    gc.collect()
    with Asked() as watch:
        kept = USES[use](work, n, seed)
    del kept
    return {"megabytes": watch.most / 1e6}


class Asked:
    """What Python, NumPy and Arrow have asked for together, at the most.

    Each can tell its own peak only, so the sum is looked at whenever a function begins or ends: the
    peak of the former two since the last look, and what Arrow holds, or its peak if that is new.
    """

    def __enter__(self) -> Asked:
        import pyarrow as pa

        self.pool = pa.default_memory_pool()
        self.base = self.held = self.pool.bytes_allocated()
        self.peak, self.most = self.pool.max_memory() or 0, 0
        tracemalloc.start()
        sys.setprofile(self.look)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        self.look()
        tracemalloc.stop()

    def look(self, *_: object) -> None:
        """Look at the sum."""
        arrays = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        held, peak = self.pool.bytes_allocated(), self.pool.max_memory() or 0
        arrow = max(held, self.held, peak if peak > self.peak else 0)
        self.most = max(self.most, arrays + arrow - self.base)
        self.held, self.peak = held, peak


TIMES = {
    "scan": scan,
    "memory_pass": scaling.pass_memory,
    "streamed_pass": scaling.pass_streamed,
    "em": em,
    "gibbs": gibbs,
}
TITLES = {
    "scan": "scan",
    "memory_pass": "pass, memory",
    "streamed_pass": "pass, streamed",
    "em": "EM",
    "gibbs": "Gibbs",
    "loaded": "loaded",
}


def measured(work: Path, sizes: list[int], seed: int) -> dict[int, dict[str, Measured]]:
    """Measure all sizes in fresh processes, up and down again."""
    found: dict[int, dict[str, Measured]] = {n: {} for n in sizes}

    def measure(n: int, name: str) -> None:
        got = common.alone(__file__, "--alone", name, str(work), str(n), "--seed", str(seed))
        if got is not None:
            common.say(f"{n:,} {name}: {got}")
            scaling.least(found[n].setdefault(name, {}), got)

    for n in sizes:
        for name in [*TIMES, *(f"asked_{use}" for use in USES)]:
            measure(n, name)
    for n in reversed(sizes):
        for name in TIMES:
            if found[n].get(name, {}).get("seconds", LONG) < LONG:
                measure(n, name)
    return found


def table(found: dict[int, dict[str, Measured]], columns: list[tuple[str, str, str, str]]) -> str:
    """Table of columns (title, measurement, what is shown, what the exponent is of)."""
    rows = [
        [f"{n:,}", *(number(part.get(of, {}).get(key)) for _, of, key, _ in columns)]
        for n, part in found.items()
    ]
    slopes = [exponent(found, of, key) for _, of, _, key in columns]
    rows.append(["exponent", *("–" if s is None else f"{s:.3f}" for s in slopes)])
    return common.markdown(["labels", *(title for title, *_ in columns)], rows)


def tables(found: dict[int, dict[str, Measured]]) -> list[str]:
    """Text and tables of all that was measured."""
    seconds = [
        (TITLES[name], name, "seconds", "each" if name == "em" else "seconds") for name in TIMES
    ]
    seconds.insert(4, ("passes of EM", "em", "passes", ""))
    uses = [(TITLES[use], f"asked_{use}", "megabytes", "megabytes") for use in USES]
    return [
        INTRODUCTION.strip(),
        "**Seconds**",
        table(found, seconds),
        MEMORY.strip(),
        "**Memory, MB**",
        table(found, uses),
        "Exponents are slopes of straight lines through the logarithms; 1 is linear.",
    ]


def main() -> int:
    parser = common.arguments(__doc__, "linear.md")
    parser.add_argument("--largest", type=float, default=SIZES[-1], help="most labels")
    parser.add_argument("--work", type=Path, help="folder that keeps labels and scans")
    parser.add_argument("--alone", nargs=3, metavar=("NAME", "WORK", "LABELS"))
    options = parser.parse_args()
    if options.alone:
        name, folder, labels = options.alone
        where = Path(folder), int(labels), options.seed
        use = name.removeprefix("asked_")
        common.answer(TIMES[name](*where) if name in TIMES else asked(*where, use))
        return 0
    largest = REDUCED if options.reduced else options.largest
    sizes = [n for n in SIZES if n <= largest]
    # threads of libraries that nobody here asked for
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        for n in (WARM, *sizes):
            if not (work / f"labels-{n}").exists():
                scaling_data.write(work / f"labels-{n}", n, options.seed, CODERS)
        found = measured(work, sizes, options.seed)
    foot = common.machine("pyarrow")
    if options.reduced:
        foot = f"A reduced run, too small to judge by. {foot}"
    common.write(options.out, [*tables(found), foot])
    return 0


if __name__ == "__main__":
    sys.exit(main())
