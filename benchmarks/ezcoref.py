"""Silver antecedents of the ezCoref crowd against gold: models, variants, majority voting.

The gold antecedents are those of the corpora that the passages come from, whose guidelines differ,
for mentions with exactly the same words (Gupta et al. 2023, Findings of EACL). The last part runs
NUTS on the passages of one book and compares it with Gibbs.

    python benchmarks/ezcoref.py              # three minutes
    python benchmarks/ezcoref.py --reduced    # to see that it works
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common
import numpy as np
import pandas as pd

from annomodels.coref.mentionpairs.fitting import fit_pairs
from annomodels.coref.mentionpairs.model import MentionPairs, PairModel, SingleTruth
from annomodels.coref.mentionpairs.result import PairFit
from annomodels.priors import Beta, Dirichlet, LogNormal

FLOOR = 0.001
BINS = 10
BOOK = "1023_bleak_house"

INTRODUCTION = """{mentions:,} mentions of {passages} passages, {coders} coders, {labels:,} labels;
gold antecedents for {n:,} mentions, of which {listed:.1%} are among the labels that anyone gave.
*Accuracy* of the most probable antecedent (equals share a point); *linked* is the accuracy on the
mentions with an antecedent in gold, *first* that on the others. *Gain* over majority voting in
points, with a 95 % interval from a bootstrap over passages. *Log loss* of the probability of
the gold antecedent, probabilities normalised over the candidates and not below {floor}, so that a
gold antecedent that no one gave costs {cost:.1f} everywhere; *log loss, listed* leaves those out.
*ECE* is the calibration error of the probability of the chosen antecedent in ten bins of equal
width, and *said* its mean. Majority voting gives shares of votes for probabilities; *one more
coder* is the probability that a further coder of the population would give the label (`p_next`), of
the same fit. {chains} chains of {draws:,} draws after {warmup} of warm-up; *time* is that of the
sampling, in seconds."""


NEXT = "mention-pair", "single-truth"
ONE_MORE = "one more coder"
NUTS = f"P(true) by Gibbs and by NUTS, on the passages of one book ({BOOK}):"


@dataclass(frozen=True)
class Variant:
    """A model and what the candidates are."""

    model: PairModel
    always: tuple[str, ...] = ()
    classes: bool = True


@dataclass(frozen=True)
class Judged:
    """How probabilities of antecedents do against gold."""

    n: int
    accuracy: float
    linked: float
    first: float
    log_loss: float
    log_loss_listed: float
    ece: float
    said: float
    listed: float
    right: dict[str, float]


HEADER = (
    "method", "accuracy", "linked", "first", "gain in points", "log loss", "log loss, listed",
    "ECE", "said", "time", "R-hat", "ESS",
)  # fmt: skip
VARIANTS = {
    "mention-pair": Variant(MentionPairs()),
    "mention-pair, DN always a candidate": Variant(MentionPairs(), ("DN()",)),
    "mention-pair, one class": Variant(MentionPairs(), classes=False),
    "mention-pair, flat priors": Variant(
        MentionPairs(sensitivity=Beta(1, 1), specificity=Beta(1, 1))
    ),
    "single-truth": Variant(SingleTruth()),
    "single-truth, DN always a candidate": Variant(SingleTruth(), ("DN()",)),
    "single-truth or none": Variant(SingleTruth(none=True)),
    "single-truth, one class": Variant(SingleTruth(), classes=False),
    "single-truth, coders more alike": Variant(
        SingleTruth(prevalence=Dirichlet(1.0), concentration=LogNormal(100.0, 0.5))
    ),
}


def read(folder: Path) -> tuple[pd.DataFrame, dict[str, str]]:
    """Labels as classes with antecedents, and the gold antecedent of a mention."""
    labels = pd.read_csv(folder / "labels.csv", dtype=str)
    gold = pd.read_csv(folder / "gold.csv", dtype=str)
    for table in (labels, gold):
        table["label"] = ["DN()" if x == "NEW" else f"DO({x})" for x in table["label"]]
    gold = gold[gold["item"].isin(set(labels["item"]))]
    return labels, dict(zip(gold["item"], gold["label"], strict=True))


def fitted(variant: Variant, labels: pd.DataFrame, **options: Any) -> PairFit:
    """Fit a variant; whether it has mixed is reported in the table."""
    if not variant.classes:
        # all labels in one class: what stands before the bracket is the same
        labels = labels.assign(label=[f"M({x})" for x in labels["label"]])
    with warnings.catch_warnings(action="ignore"):
        return fit_pairs(labels, variant.model, always=variant.always, **options)


def judged(fit: PairFit, gold: dict[str, str], column: str = "p_true") -> Judged:
    """Compare a fit with gold; "none of these" is left out and the others normalised."""
    table = fit.interpretations().table
    table = table[table["label"] != "none of these"]
    plain = [x[2:-1] if x.startswith("M(") else x for x in table["label"]]
    return _judge(zip(table["item"], plain, table[column], strict=True), gold)


def majority(labels: pd.DataFrame, gold: dict[str, str]) -> Judged:
    """Compare shares of votes with gold; repeated rows count as they are."""
    votes = labels.groupby(["item", "label"], sort=True).size().reset_index(name="n")
    return _judge(zip(votes["item"], votes["label"], votes["n"], strict=True), gold)


def _judge(rows: Iterable[tuple[str, str, float]], gold: dict[str, str]) -> Judged:
    found: dict[str, dict[str, float]] = {}
    for item, label, p in rows:
        if item in gold:
            found.setdefault(item, {})[label] = float(p)
    right, top, of_gold, is_listed, is_linked = (np.empty(len(found)) for _ in range(5))
    for n, (item, given) in enumerate(found.items()):
        total = sum(given.values())
        highest = max(given.values())
        best = [label for label, p in given.items() if p == highest]
        right[n] = (gold[item] in best) / len(best)
        top[n] = highest / total
        of_gold[n] = max(given.get(gold[item], 0.0) / total, FLOOR)
        is_listed[n] = gold[item] in given
        is_linked[n] = gold[item] != "DN()"
    loss, place = -np.log(of_gold), np.minimum((top * BINS).astype(int), BINS - 1)
    gaps = np.bincount(place, top - right, BINS)
    return Judged(
        len(found),
        right.mean(),
        right[is_linked == 1].mean(),
        right[is_linked == 0].mean(),
        loss.mean(),
        loss[is_listed == 1].mean(),
        np.abs(gaps).sum() / len(found),
        top.mean(),
        is_listed.mean(),
        dict(zip(found, right, strict=True)),
    )


def gained(found: Judged, votes: Judged, seed: int) -> str:
    """Accuracy beyond that of majority voting in points, with a 95 % interval over passages."""
    passages = pd.Index([item.split("#")[0] for item in votes.right])
    code = passages.factorize()[0]
    gain = np.array([found.right[item] - votes.right[item] for item in votes.right])
    total, size = np.bincount(code, gain), np.bincount(code)
    chosen = np.random.default_rng(seed).integers(len(size), size=(4000, len(size)))
    drawn = 100 * total[chosen].sum(axis=1) / size[chosen].sum(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{100 * gain.mean():+.2f} [{low:+.2f}, {high:+.2f}]"


def row(name: str, found: Judged, votes: Judged, fit: PairFit | None, seed: int) -> list[str]:
    """One line of the table."""
    cells = [
        name,
        *(f"{x:.4f}" for x in (found.accuracy, found.linked, found.first)),
        "" if fit is None else gained(found, votes, seed),
        *(f"{x:.3f}" for x in (found.log_loss, found.log_loss_listed, found.ece, found.said)),
    ]
    if fit is None:
        return [*cells, "", "", ""]
    r, n = fit.mixing
    return [*cells, f"{fit.seconds:.0f}", f"{r:.3f}", f"{n:.0f}"]


def against_nuts(labels: pd.DataFrame, seed: int, draws: int) -> str:
    """Largest differences of P(true) between Gibbs and NUTS on the passages of one book."""
    part = labels[labels["item"].str.startswith(BOOK)]
    header = (
        "model", "mentions", "candidates", "largest difference", "mean difference",
        "seconds, Gibbs", "seconds, NUTS",
    )  # fmt: skip
    lines = []
    for name in ("mention-pair", "single-truth"):
        options = {"seed": seed, "draws": draws, "chains": 2}
        gibbs = fitted(VARIANTS[name], part, engine="gibbs", **options | {"draws": 5 * draws})
        nuts = fitted(VARIANTS[name], part, engine="nuts", **options)
        gap = np.abs(gibbs.p_true - nuts.p_true)
        sizes = str(len(gibbs.codes.items)), str(len(gap))
        seconds = f"{gibbs.seconds:.1f}", f"{nuts.seconds:.1f}"
        lines.append([name, *sizes, f"{gap.max():.3f}", f"{gap.mean():.4f}", *seconds])
    return common.markdown(header, lines)


def main() -> None:
    parser = common.arguments(__doc__, "ezcoref.md")
    asked = parser.parse_args()
    labels, gold = read(common.shared_data() / "ezcoref")
    options = {"chains": 2, "draws": 100, "warmup": 100} if asked.reduced else {
        "chains": 4, "draws": 1000, "warmup": 500
    }  # fmt: skip
    votes = majority(labels, gold)
    lines = [row("majority voting", votes, votes, None, asked.seed)]
    counts: list[str] = []
    for name, variant in VARIANTS.items():
        fit = fitted(variant, labels, seed=asked.seed, **options)
        lines.append(row(name, judged(fit, gold), votes, fit, asked.seed))
        if name in NEXT:
            found = judged(fit, gold, "p_next")
            lines.append(row(f"{name}, {ONE_MORE}", found, votes, fit, asked.seed))
        if name in ("mention-pair", "single-truth or none"):
            none, one, several = fit.drawn.p_number.sum(axis=0)
            counts.append(
                f"{name}: {none:,.0f} mentions with no true reading among the candidates, "
                f"{one:,.0f} with one, {several:,.0f} with several (posterior means)"
            )
    text = INTRODUCTION.format(
        mentions=labels["item"].nunique(),
        passages=labels["item"].str.split("#").str[0].nunique(),
        coders=labels["coder"].nunique(),
        labels=len(labels),
        n=votes.n,
        listed=votes.listed,
        floor=FLOOR,
        cost=-np.log(FLOOR),
        **options,
    )
    nuts = against_nuts(labels, asked.seed, 100 if asked.reduced else 1000)
    parts = [text, common.markdown(HEADER, lines), "; ".join(counts) + ".", NUTS]
    common.write(asked.out, [*parts, nuts, common.machine("pymc", "nutpie")])


if __name__ == "__main__":
    main()
