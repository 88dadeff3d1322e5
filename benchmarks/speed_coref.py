"""Time and memory of coreference measures: many mentions in one text, many coders.

A text with one long chain and many short ones; every coder misplaces a tenth of the mentions.
Measured is processor time of one process, each row in a fresh one.

    python benchmarks/speed_coref.py              # some minutes
    python benchmarks/speed_coref.py --reduced    # to see that it works
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import common
import numpy as np

SIZES = ((10_000, 20),)
REDUCED = ((1_000, 20),)
LONGEST = 0.04

INTRODUCTION = """One text with chains of up to {longest:.0%} of its mentions, coded by 20 coders
who misplace a tenth of the mentions each; processor time of one process in seconds, and the most
memory it held. *pair posterior* and *coder table* draw {draws} times; *reading table* writes out 60
places; *fit* is the mention-pair model with 2 chains of 200 draws after 100 of warm-up."""
DRAWS = 200


def text(mentions: int, coders: int) -> Any:
    """Make a document with made-up chains."""
    from annomodels.coref import document

    rng = np.random.default_rng(mentions)
    longest = int(LONGEST * mentions)
    sizes = [longest, *np.minimum(rng.zipf(1.6, mentions), max(longest // 2, 1))]
    truth = rng.permutation(np.repeat(np.arange(len(sizes)), sizes)[:mentions])
    out = {}
    for n in range(coders):
        said = np.where(rng.random(mentions) < 0.1, rng.permutation(truth), truth)
        out[f"c{n:02}"] = {m: int(k) for m, k in enumerate(said)}
    return document("t", out, order=range(mentions))


def tasks() -> dict[str, Callable[[Any], object]]:
    """Give what is measured."""
    from annomodels import coref, fit

    def alpha(chain: str) -> Callable[[Any], object]:
        return lambda made: coref.agreement(made, chain, "masi")

    out: dict[str, Callable[[Any], object]] = {
        "kappa of all pairs of coders": lambda made: coref.pair_agreement(made).mean,
        "links of all pairs of coders": lambda made: coref.link_agreement(made).mean,
        "pair posterior": lambda made: coref.pair_posterior(made, DRAWS),
        "coder table": lambda made: coref.coder_table(made, draws=DRAWS),
        "ambiguous places": lambda made: coref.ambiguous_places(made),
        "reading table": lambda made: coref.reading_table(made, most=60),
        "fit": lambda made: fit(coref.pairs(made), chains=2, draws=200, warmup=100, seed=1),
    }
    for chain in ("none", "partial", "incl-", "excl-", "cluster-own"):
        out[f"alpha, {chain}"] = alpha(chain)
    return out


def measure(name: str, mentions: int, coders: int) -> None:
    """Measure one task in this process and answer."""
    import warnings

    run = tasks()[name]
    made = text(mentions, coders)
    with warnings.catch_warnings(action="ignore"):
        if name == "fit":
            run(text(100, 3))  # compile
        start = time.process_time()
        run(made)
    common.answer({"seconds": time.process_time() - start})


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        return
    asked = common.arguments(__doc__, "speed_coref.md").parse_args()
    sizes = REDUCED if asked.reduced else SIZES
    lines = []
    for name in tasks():
        cells = [name]
        for mentions, coders in sizes:
            found = common.alone(__file__, "--measure", name, str(mentions), str(coders))
            both = ("failed", "") if found is None else (
                f"{found['seconds']:.1f}", f"{found['peak'] / 1e9:.1f} GB",
            )  # fmt: skip
            cells += both
        lines.append(cells)
        common.say(" ".join(cells))
    header = ["what"]
    for mentions, _ in sizes:
        header += [f"{mentions:,} mentions", "memory"]
    told = INTRODUCTION.format(longest=LONGEST, draws=DRAWS)
    common.write(asked.out, [told, common.markdown(header, lines), common.machine("scipy")])


if __name__ == "__main__":
    main()
