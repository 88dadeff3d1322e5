"""How often the 95 % intervals of kappa on coreferent pairs hold the true value.

Texts with chains are made up, two coders copy the chains and misplace mentions now and then, and
the package draws its posteriors with the functions behind ``am.coref.pair_posterior``. The first
table is about single texts, the second about the mean over texts like these and one further text,
the third about text types.

    python benchmarks/coverage_coref.py              # some minutes
    python benchmarks/coverage_coref.py --reduced    # to see that it works
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import common
import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import t as student

from annomodels.coefficients.distances import size_distance
from annomodels.coref.alphas import chance_corrected_draws, pieces, together
from annomodels.coref.building import document
from annomodels.coref.conditions import condition_named, labels_of
from annomodels.coref.posteriors import (
    centred,
    kappas,
    over_texts,
    spread_factor,
    weight_blocks,
)

PROB = 0.95
EDGES = (1 - PROB) / 2, (1 + PROB) / 2
LOW, HIGH = 0.93, 0.97
DRAWS = 400
CODINGS = 40
Codes = np.ndarray

SINGLE = """**One text.** A mention begins a new chain with the probability *new*, else it joins the
chain of an earlier mention. Each coder misplaces a mention with the probability *error*: into any
*chain* of the text, into the chain of any other *mention*, or *alone*; in the last row a coder
merges a whole *chain* with another instead. True is the mean of kappa if this text is coded anew by
coders who err as often ({codings} codings), and under *any text* the mean over texts made like it.
{samples:,} texts a cell, {draws} draws each (standard error {error:.1f}). *Low* and *high*: how
often the whole interval lay below or above; *one*: how often kappa is 1. *As drawn*: the same with
the draws as they come, not spread anew; *plain*: also without the mentions of the prior;
*corrected*: the plain one, bias-corrected (Efron 1981), which this package had first. Values
outside 93-97 % are bold."""
MANY = """**Texts like these.** Texts of 50, 100 or 200 mentions. *alike*: the error is 8 % in all
texts; *varied*: it is Beta(1.6, 14), so that kappa differs much and is skewed; *near perfect*: 3 %
on 50 mentions; *long ones worse*: 5 % on 50 and 15 % on 300 mentions. {samples:,} corpora a cell,
{draws} draws each. The mean over texts like these, and one further text: coverage, how often the
interval lay below or above, and length. *Student*: the usual interval for the mean; *bootstrap*:
texts weighted by Dirichlet(1, ..., 1), which this package had before."""
THESE = """**These very texts.** The mean over given texts that are coded anew. {samples} corpora a
cell. *All the way*: draws moved until their mean is that of the kappas, which this package did
before, also for one text, where an interval could end above 1."""
TYPES = """**Text types.** Errors of 4, 8, 12 and 16 % in four types (*different*), or 8 % in all of
them (*alike*), with as many texts each as the row says; 100 mentions. Coverage for the mean of a
type over all {samples:,} x 4 intervals, and their mean length; *alone* is that of the same type
without the others."""


ALPHA = """**Alpha on chains.** Inclusive chains of texts of 50 mentions, *alike* or *varied* as
above; alpha over texts like these, by a jackknife over texts. {samples} corpora a row. True is
alpha of all texts that the corpora are drawn from."""


@dataclass(frozen=True)
class Cell:
    """Texts and coders of a kind."""

    mentions: int
    error: float
    new: float = 0.55
    where: str = "chain"


CELLS = (
    Cell(50, 0.01), Cell(50, 0.03), Cell(50, 0.08), Cell(50, 0.15), Cell(70, 0.03), Cell(100, 0.03),
    Cell(100, 0.08), Cell(150, 0.08), Cell(400, 0.05), Cell(50, 0.08, where="alone"),
    Cell(100, 0.08, where="alone"), Cell(100, 0.08, where="mention"),
    Cell(50, 0.08, 0.85, "mention"), Cell(150, 0.08, 0.85, "mention"),
    Cell(300, 0.08, 0.85, "mention"), Cell(50, 0.03, 0.85),
    Cell(50, 0.08, 0.15, "mention"), Cell(150, 0.03, 0.15, "alone"), Cell(100, 0.08, 0.3),
    Cell(100, 0.1, where="merged"),
)  # fmt: skip

GIVEN = Cell(60, 0.08), Cell(50, 0.03), Cell(50, 0.08, 0.15, "mention")


def chains(rng: np.random.Generator, cell: Cell) -> Codes:
    """Make the true chains of a text, shape [mention]."""
    truth = np.zeros(cell.mentions, dtype=np.int64)
    found = 1
    fresh, joined = rng.random(cell.mentions) < cell.new, rng.random(cell.mentions)
    for place in range(1, cell.mentions):
        if fresh[place]:
            truth[place] = found
            found += 1
        else:
            truth[place] = truth[int(joined[place] * place)]
    return truth


def copied(rng: np.random.Generator, cell: Cell, truth: Codes) -> tuple[Codes, Codes]:
    """Chains as two coders have them, shape [mention]."""
    n, found = len(truth), int(truth.max()) + 1
    out = []
    for _ in range(2):
        if cell.where == "merged":
            into = np.where(rng.random(found) < cell.error, rng.integers(0, found, found), -1)
            out.append(np.where(into[truth] >= 0, into[truth], truth))
            continue
        other = {
            "chain": rng.integers(0, found, n),
            "mention": truth[rng.integers(0, n, n)],
            "alone": found + np.arange(n),
        }[cell.where]
        out.append(np.where(rng.random(n) < cell.error, other, truth))
    return out[0], out[1]


def codings(rng: np.random.Generator, cell: Cell) -> tuple[Codes, Codes]:
    """Chains of a new text as two coders have them."""
    return copied(rng, cell, chains(rng, cell))


def kappa(pair: tuple[Codes, Codes]) -> float:
    """Kappa itself: the adjusted Rand index, 1 where there is no pair or nothing else."""
    x, y = pair
    both, first, second = (
        (np.bincount(codes) ** 2).sum() - len(x) for codes in (x * (int(y.max()) + 1) + y, x, y)
    )
    chance = first * second / (len(x) * (len(x) - 1))
    below = (first + second) / 2 - chance
    return float((both - chance) / below) if below > 0 else 1.0


def drawn(
    rng: np.random.Generator, pair: tuple[Codes, Codes], draws: int
) -> tuple[Codes, Codes, Codes]:
    """Draws as the package has them, without drawing together, and without the prior."""
    n = len(pair[0])
    blocks = [
        (kappas(*pair, block.mentions, block.extras(0, 1, n)), kappas(*pair, block.mentions))
        for block in weight_blocks(rng, draws, n, 2)
    ]
    wide, plain = (np.concatenate(each) for each in zip(*blocks, strict=True))
    value, factor = spread_factor(*pair)
    return np.clip(value + (wide - value) * factor, -1.0, 1.0), wide, plain


def corrected(value: float, draws: Codes) -> Codes:
    """Bias-corrected quantiles (Efron 1981, doi:10.2307/3314608)."""
    half = 1 / (2 * len(draws))
    below = (draws < value).mean() + (draws == value).mean() / 2
    shift = 2 * ndtri(np.clip(below, half, 1 - half))
    return np.quantile(draws, ndtr(shift + ndtri(EDGES)))


def missed(interval: Codes, true: float) -> Codes:
    """Whether an interval lay below, or above, and its length."""
    low, high = interval
    # what rounding does to a kappa of 1 is no miss
    return np.array([high < true - 1e-9, low > true + 1e-9, high - low])


def single(cell: Cell, samples: int, seed: int) -> tuple[float, float, dict[str, Codes]]:
    """Give true kappa, how often it is 1, and by recipe the misses below and above, and length."""
    key = [seed, cell.mentions, round(1000 * cell.error), len(cell.where), round(100 * cell.new)]
    rng = np.random.default_rng(key)
    over_texts = float(np.mean([kappa(codings(rng, cell)) for _ in range(2000)]))
    names = "here", "any text", "wide", "plain", "corrected"
    found = {name: np.zeros(3) for name in names}
    ones = 0
    for _ in range(samples):
        truth = chains(rng, cell)
        true = float(np.mean([kappa(copied(rng, cell, truth)) for _ in range(CODINGS)]))
        pair = copied(rng, cell, truth)
        value = kappa(pair)
        ones += value > 1 - 1e-9
        own, wide, plain = drawn(rng, pair, DRAWS)
        found["here"] += missed(np.quantile(own, EDGES), true)
        found["any text"] += missed(np.quantile(own, EDGES), over_texts)
        found["wide"] += missed(np.quantile(wide, EDGES), true)
        found["plain"] += missed(np.quantile(plain, EDGES), true)
        found["corrected"] += missed(corrected(value, plain), true)
    return over_texts, ones / samples, {name: sums / samples for name, sums in found.items()}


Error = Callable[[np.random.Generator, int], float]
CORPORA: dict[str, tuple[Sequence[int], Error]] = {
    "alike": ((50, 100, 200), lambda rng, n: 0.08),
    "varied": ((50, 100, 200), lambda rng, n: float(rng.beta(1.6, 14))),
    "near perfect": ((50,), lambda rng, n: 0.03),
    "long ones worse": ((50, 300), lambda rng, n: 0.05 if n < 100 else 0.15),
}
SIZES = (3, 5, 10, 30, 100)


def population(sizes: Sequence[int], error: Error, texts: int, seed: int) -> tuple[Codes, Codes]:
    """Kappa of many texts, and the variance of the draws of each."""
    rng = np.random.default_rng([seed, len(sizes), texts])
    values, variances = np.empty(texts), np.empty(texts)
    for n in range(texts):
        mentions = int(rng.choice(sizes))
        pair = codings(rng, Cell(mentions, error(rng, mentions)))
        values[n] = kappa(pair)
        variances[n] = drawn(rng, pair, 100)[0].var()
    return values, variances


def several(
    values: Codes, variances: Codes, texts: int, samples: int, seed: int
) -> dict[str, Codes]:
    """Draw corpora from a population of texts: misses below and above, and length, by recipe."""
    rng = np.random.default_rng([seed, texts])
    true, ordered = values.mean(), np.sort(values)
    names = "mean", "new", "Student", "bootstrap"
    found = {name: np.zeros(3) for name in names}
    for _ in range(samples):
        chosen = rng.integers(0, len(values), texts)
        own = values[chosen]
        drawn = over_texts(own, None, float(variances[chosen].mean()), 1000, rng)
        half = student.ppf(EDGES[1], texts - 1) * own.std(ddof=1) / np.sqrt(texts)
        shares = rng.dirichlet(np.ones(texts), 1000) @ own
        intervals = {
            "mean": np.quantile(drawn.mean[0], EDGES),
            "Student": own.mean() + half * np.array([-1, 1]),
            "bootstrap": np.quantile(shares, EDGES),
        }
        for name, (low, high) in intervals.items():
            found[name] += [high < true, low > true, high - low]
        low, high = np.quantile(drawn.new[0], EDGES)
        under, over = np.searchsorted(ordered, [low, high], side="left"), len(ordered)
        above = over - np.searchsorted(ordered, high, side="right")
        # the share of all texts above the interval is how often it lies below the new one
        found["new"] += [above / over, under[0] / over, high - low]
    return {name: sums / samples for name, sums in found.items()}


def these(cell: Cell, texts: int, samples: int, seed: int) -> tuple[Codes, Codes]:
    """Misses and length for the mean over given texts: as the package does it, and all the way."""
    rng = np.random.default_rng([seed, texts, cell.mentions, 5])
    found, moved = np.zeros(3), np.zeros(3)
    for _ in range(samples):
        truths = [chains(rng, cell) for _ in range(texts)]
        true = np.mean([kappa(copied(rng, cell, one)) for one in truths for _ in range(CODINGS)])
        pairs = [copied(rng, cell, one) for one in truths]
        own = np.array([kappa(pair) for pair in pairs])
        draws = np.stack([drawn(rng, pair, 200)[0] for pair in pairs])
        mean = draws.mean(0)
        made = centred(mean, float(own.mean()), texts)
        found += missed(np.quantile(made, EDGES), float(true))
        moved += missed(np.quantile(mean - mean.mean() + own.mean(), EDGES), float(true))
    return found / samples, moved / samples


def types(
    pools: Sequence[tuple[Codes, Codes]], texts: int, samples: int, seed: int
) -> tuple[Codes, Codes]:
    """Coverage and length for the mean of each type: with the others, and alone."""
    rng = np.random.default_rng([seed, texts, 3])
    true = np.array([values.mean() for values, _ in pools])
    group = np.repeat(np.arange(len(pools)), texts)
    sums = np.zeros((2, 2))
    for _ in range(samples):
        chosen = [rng.integers(0, len(values), texts) for values, _ in pools]
        own = np.concatenate([v[c] for (v, _), c in zip(pools, chosen, strict=True)])
        inner = np.concatenate([s[c] for (_, s), c in zip(pools, chosen, strict=True)])
        together = over_texts(own, group, float(inner.mean()), 1000, rng).mean
        alone = np.concatenate(
            [
                over_texts(own[group == g], None, float(inner[group == g].mean()), 1000, rng).mean
                for g in range(len(pools))
            ]
        )
        for n, draws in enumerate((together, alone)):
            low, high = np.quantile(draws, EDGES, axis=1)
            sums[n] += [((low <= true) & (true <= high)).mean(), (high - low).mean()]
    return sums[0] / samples, sums[1] / samples


def alphas(
    cell: Cell, error: Error, distance: str, samples: int, pool: int, seed: int
) -> list[list[str]]:
    """Rows on alpha of inclusive chains over texts like these."""
    rng = np.random.default_rng([seed, 6])
    condition, function = condition_named("incl-"), size_distance(distance)
    labels = []
    for n in range(pool):
        pair = codings(rng, replace(cell, error=error(rng, cell.mentions)))
        named = {c: dict(enumerate(x.tolist())) for c, x in zip("ab", pair, strict=True)}
        labels.append(labels_of(document(f"t{n}", named), condition, set()))
    held = pieces(labels, function, condition.expected)
    whole = together(held, function)
    true = whole.value
    lines = []
    for texts in (3, 5, 10, 30):
        found = np.zeros(3)
        for n in range(samples):
            own = [held[place] for place in rng.integers(0, pool, texts)]
            drawn_ = chance_corrected_draws(own, function, False, DRAWS, n)
            found += missed(np.quantile(drawn_, EDGES), true)
        low, high, length = found / samples
        rates = [covered(found / samples), share(low), share(high), f"{length:.2f}"]
        lines.append([distance, str(texts), f"{true:.2f}", *rates])
    return lines


def share(x: float) -> str:
    return f"{100 * x:.1f}"


def covered(misses: Codes) -> str:
    x = 1 - misses[0] - misses[1]
    return share(x) if LOW <= round(x, 3) <= HIGH else f"**{share(x)}**"


def one_text(samples: int, seed: int) -> str:
    """Table of single texts."""
    lines = []
    for n, cell in enumerate(CELLS, 1):
        true, ones, found = single(cell, samples, seed)
        low, high, length = found["here"]
        setting = str(cell.mentions), f"{cell.error:.0%}", f"{cell.new:g}", cell.where
        rates = [covered(found["here"]), share(low), share(high), f"{length:.2f}"]
        others = [covered(found[name]) for name in ("any text", "wide", "plain", "corrected")]
        lines.append([*setting, f"{true:.2f}", f"{ones:.0%}", *rates, *others])
        common.say(f"{n} of {len(CELLS)} cells: {' '.join(lines[-1])}")
    header = ["mentions", "error", "new", "misplaced", "true kappa", "one", "coverage", "low"]
    return common.markdown(
        [*header, "high", "length", "any text", "as drawn", "plain", "corrected"], lines
    )


def given_texts(samples: int, seed: int) -> str:
    """Table of the mean over given texts."""
    lines = []
    for cell in GIVEN:
        for texts in (1, 3, 10):
            found, moved = these(cell, texts, samples, seed)
            low, high, length = found
            setting = [
                str(texts),
                str(cell.mentions),
                f"{cell.error:.0%}",
                f"{cell.new:g}",
                cell.where,
            ]
            rates = [covered(found), share(low), share(high), f"{length:.2f}", covered(moved)]
            lines.append([*setting, *rates])
            common.say(f"these texts: {' '.join(lines[-1])}")
    header = ["texts", "mentions", "error", "new", "misplaced", "coverage", "low", "high", "length"]
    return common.markdown([*header, "all the way"], lines)


def texts_like_these(corpora: int, pool: int, seed: int) -> str:
    """Table of the mean over texts like these, and of one further text."""
    lines = []
    for name, (sizes, error) in CORPORA.items():
        values, variances = population(sizes, error, pool, seed)
        for texts in SIZES:
            found = several(values, variances, texts, corpora, seed)
            cells = [name, str(texts), f"{values.mean():.2f}", f"{values.std():.2f}"]
            for which in ("mean", "new"):
                low, high, length = found[which]
                cells += [covered(found[which]), share(low), share(high), f"{length:.2f}"]
            lines.append([*cells, covered(found["Student"]), covered(found["bootstrap"])])
        common.say(f"corpora: {name}")
    header = ["corpus", "texts", "mean kappa", "its sd", "mean: coverage", "low", "high", "length"]
    header += ["new text: coverage", "low", "high", "length", "Student", "bootstrap"]
    return common.markdown(header, lines)


def text_types(few: int, seed: int) -> str:
    """Table of text types."""
    lines = []
    for name, errors in (("different", (0.04, 0.08, 0.12, 0.16)), ("alike", (0.08,) * 4)):
        pools = [
            population((100,), lambda rng, n, e=e: e, 400, seed + k)  # type: ignore[misc]
            for k, e in enumerate(errors)
        ]
        for texts in (1, 3, 10):
            together, alone = types(pools, texts, few, seed)
            line = [name, str(texts)]
            for rate, length in (together, alone):
                line += [covered(np.array([1 - rate, 0])), f"{length:.2f}"]
            lines.append([*line[:4], *(line[4:] if texts > 1 else ("", ""))])
        common.say(f"types: {name}")
    header = ["types", "texts of each", "coverage", "length", "alone: coverage", "length"]
    return common.markdown(header, lines)


def alpha_on_chains(samples: int, pool: int, seed: int) -> str:
    """Table of alpha on chains."""
    lines = []
    for name in ("alike", "varied"):
        for distance in ("passonneau", "masi"):
            rows = alphas(Cell(50, 0.08), CORPORA[name][1], distance, samples, pool, seed)
            lines += [[name, *row] for row in rows]
        common.say(f"alpha: {name}")
    header = ["corpus", "distance", "texts", "true alpha", "coverage", "low", "high", "length"]
    return common.markdown(header, lines, 2)


def main() -> None:
    asked = common.arguments(__doc__, "coverage_coref.md").parse_args()
    samples, corpora, pool = (60, 100, 400) if asked.reduced else (1000, 1000, 800)
    few, given = (40, 30) if asked.reduced else (400, 300)
    error = 100 * (PROB * (1 - PROB) / samples) ** 0.5
    told = SINGLE.format(samples=samples, draws=DRAWS, error=error, codings=CODINGS)
    parts = [told, one_text(samples, asked.seed)]
    parts += [THESE.format(samples=given), given_texts(given, asked.seed)]
    parts += [MANY.format(samples=corpora, draws=1000), texts_like_these(corpora, pool, asked.seed)]
    parts += [TYPES.format(samples=few), text_types(few, asked.seed)]
    parts += [ALPHA.format(samples=few), alpha_on_chains(few, pool, asked.seed)]
    common.write(asked.out, [*parts, common.machine("scipy")])


if __name__ == "__main__":
    main()
