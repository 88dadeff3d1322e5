"""Silver antecedents of the ezCoref crowd against gold: models, variants, majority voting.

The gold antecedents are those of the corpora that the passages come from, whose guidelines differ,
for mentions with exactly the same words (Gupta et al. 2023, Findings of EACL). The last part runs
NUTS on the passages of one book and compares it with Gibbs.

    python benchmarks/ezcoref.py              # three minutes
    python benchmarks/ezcoref.py --reduced    # to see that it works
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import common
import numpy as np
import pandas as pd

import annomodels as am
from annomodels.models.pairs import MentionPairs, PairModel, SingleTruth
from annomodels.priors import Beta, Dirichlet, LogNormal

FLOOR = 0.001
BINS = 10
BOOK = "1023_bleak_house"

INTRODUCTION = """{mentions:,} mentions of {passages} passages, {coders} coders, {labels:,} labels;
gold antecedents for {n:,} mentions, of which {listed:.1%} are among the labels that anyone gave.
*Accuracy* of the most probable antecedent (equals share a point); *linked* is the accuracy on the
mentions with an antecedent in gold, *first* that on the others. *Gain* over majority voting in
points, with a 95 % interval from a bootstrap over passages. *Log loss* of the probability of what
gold has; "something that no one said" is one of the outcomes, with the probability that the
candidates leave of 1. *ECE* is the calibration error of the probability of the chosen antecedent in
ten bins of equal width, and *said* its mean. *Listed* is the same with probabilities that sum to 1
over the candidates. No probability counts as less than {floor} (cost {cost:.1f}). Majority voting
gives shares of votes for probabilities. `p_next` is the probability that one more reader would
give the label; the silver label is that of the model. {chains} chains of {draws:,} draws after
{warmup} of warm-up; *time* is that of the sampling, in seconds."""

NEXT = "mention-pair", "single-truth"
PLUS = "majority voting, and one vote for something else"
NUTS = f"P(true) by Gibbs and by NUTS, on the passages of one book ({BOOK}):"
RELIABILITY = """**Reliability.** Mentions by the probability of their silver label: what was
said, and how many were right, with the standard error over mentions; by majority voting, and by
the mention-pair model."""
HALVES = """**Two halves of the passages.** No parameter of `p_next` is set by gold, but its
recipe was chosen among some with the gold of both halves in view."""


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
    ece: float
    log_loss_listed: float
    ece_listed: float
    said: float
    listed: float
    right: dict[str, float]
    top: dict[str, float]


HEADER = (
    "method", "accuracy", "linked", "first", "gain in points", "log loss", "ECE", "said",
    "log loss, listed", "ECE, listed", "time", "R-hat", "ESS",
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


def fitted(variant: Variant, labels: pd.DataFrame, **options: Any) -> am.Fit:
    """Fit a variant; whether it has mixed is reported in the table."""
    if not variant.classes:
        # all labels in one class: what stands before the bracket is the same
        labels = labels.assign(label=[f"M({x})" for x in labels["label"]])
    return am.fit(am.coref.pairs(labels, variant.always), variant.model, **{"seed": 1, **options})


def judged(fit: am.Fit, gold: dict[str, str], column: str = "p_true") -> Judged:
    """Compare a fit with gold: its silver labels with the probabilities of a column."""
    table = fit.interpretations().table
    table = table[table["label"] != "none of these"]
    plain = [x[2:-1] if x.startswith("M(") else x for x in table["label"]]
    return _judge(zip(table["item"], plain, table["p_true"], table[column], strict=True), gold)


def majority(labels: pd.DataFrame, gold: dict[str, str], more: int = 0) -> Judged:
    """Compare shares of votes with gold; repeated rows count as they are.

    `more` votes go to something that no one said.
    """
    votes = labels.groupby(["item", "label"], sort=True).size().reset_index(name="n")
    share = votes["n"] / (votes.groupby("item")["n"].transform("sum") + more)
    return _judge(zip(votes["item"], votes["label"], share, share, strict=True), gold)


def _judge(rows: Iterable[tuple[str, str, float, float]], gold: dict[str, str]) -> Judged:
    """Compare labels with gold: each with what orders the labels of a mention, and P(label)."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for item, label, order, p in rows:
        if item in gold:
            found.setdefault(item, {})[label] = float(order), float(p)
    names = "right", "top", "top_listed", "loss", "loss_listed", "linked"
    value = {name: np.empty(len(found)) for name in names}
    is_listed = np.empty(len(found))
    for n, (item, given) in enumerate(found.items()):
        total = sum(p for _, p in given.values())
        highest = max(order for order, _ in given.values())
        best = [label for label, (order, _) in given.items() if order == highest]
        top = given[best[0]][1]
        # probabilities of candidates that are true or not by themselves may exceed 1 together
        over = max(total, 1.0)
        of_gold = given[gold[item]][1] if gold[item] in given else None
        value["right"][n] = (gold[item] in best) / len(best)
        value["top"][n] = top / over
        value["top_listed"][n] = top / total
        value["loss"][n] = (max(1.0 - total, 0.0) if of_gold is None else of_gold) / over
        value["loss_listed"][n] = 0.0 if of_gold is None else of_gold / total
        value["linked"][n] = gold[item] != "DN()"
        is_listed[n] = of_gold is not None
    right, linked = value["right"], value["linked"] == 1
    loss = {name: -np.log(np.maximum(value[name], FLOOR)).mean() for name in names[3:5]}
    return Judged(
        len(found),
        right.mean(),
        right[linked].mean(),
        right[~linked].mean(),
        loss["loss"],
        _ece(value["top"], right),
        loss["loss_listed"],
        _ece(value["top_listed"], right),
        value["top"].mean(),
        is_listed.mean(),
        dict(zip(found, right, strict=True)),
        dict(zip(found, value["top"], strict=True)),
    )


def _ece(said: np.ndarray, right: np.ndarray) -> float:
    place = np.minimum((said * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(place, said - right, BINS)).sum() / len(said))


def reliability(found: dict[str, Judged]) -> str:
    """Table of the probabilities said of silver labels, and how many were right, by bins."""
    edges = np.array([0.0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0])
    header = ["probability"]
    lines = [[f"{low:.2f}-{high:.2f}"] for low, high in pairwise(edges)]
    for name, one in found.items():
        header += [f"{name}: mentions", "said", "right"]
        top, right = (np.array(list(each.values())) for each in (one.top, one.right))
        place = np.clip(np.searchsorted(edges, top + 1e-12, side="right") - 1, 0, len(lines) - 1)
        for k, line in enumerate(lines):
            own = place == k
            if not own.any():
                line += ["0", "", ""]
                continue
            error = right[own].std() / own.sum() ** 0.5
            line += [
                f"{own.sum():,}",
                f"{top[own].mean():.3f}",
                f"{right[own].mean():.3f} ± {error:.3f}",
            ]
    return common.markdown(header, lines)


def halves(methods: dict[str, Callable[[dict[str, str]], Judged]], gold: dict[str, str]) -> str:
    """Accuracy, log loss and ECE on two halves of the passages."""
    passages = sorted({item.split("#")[0] for item in gold})
    side = dict(zip(passages, np.random.default_rng(0).permutation(len(passages)) % 2, strict=True))
    lines = []
    for name, method in methods.items():
        line = [name]
        for half in (0, 1):
            own = {item: x for item, x in gold.items() if side[item.split("#")[0]] == half}
            found = method(own)
            line += [f"{found.accuracy:.4f}", f"{found.log_loss:.3f}", f"{found.ece:.3f}"]
        lines.append(line)
    return common.markdown(
        ("method", "A: accuracy", "log loss", "ECE", "B: accuracy", "log loss", "ECE"), lines
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


def row(name: str, found: Judged, votes: Judged, fit: am.Fit | None, seed: int) -> list[str]:
    """One line of the table."""
    cells = [
        name,
        *(f"{x:.4f}" for x in (found.accuracy, found.linked, found.first)),
        "" if fit is None else gained(found, votes, seed),
        *(f"{x:.3f}" for x in (found.log_loss, found.ece, found.said)),
        *(f"{x:.3f}" for x in (found.log_loss_listed, found.ece_listed)),
    ]
    if fit is None:
        return [*cells, "", "", ""]
    seconds, r, n = (fit.tree.attrs[name] for name in ("seconds", "rhat_max", "ess_min"))
    return [*cells, f"{seconds:.0f}", f"{r:.3f}", f"{n:.0f}"]


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
        p, q = (fit.interpretations().table["p_true"] for fit in (gibbs, nuts))
        gap = np.abs(p - q)
        sizes = str(gibbs.data.n_items), str(len(gap))
        seconds = [f"{fit.tree.attrs['seconds']:.1f}" for fit in (gibbs, nuts)]
        lines.append([name, *sizes, f"{gap.max():.3f}", f"{gap.mean():.4f}", *seconds])
    return common.markdown(header, lines)


def _of(fit: am.Fit, column: str, gold: dict[str, str]) -> Judged:
    return judged(fit, gold, column)


def main() -> None:
    parser = common.arguments(__doc__, "ezcoref.md")
    asked = parser.parse_args()
    labels, gold = read(common.shared_data() / "ezcoref")
    options = {"chains": 2, "draws": 100, "warmup": 100} if asked.reduced else {
        "chains": 2, "draws": 800, "warmup": 400
    }  # fmt: skip
    votes = majority(labels, gold)
    more = majority(labels, gold, 1)
    lines = [row("majority voting", votes, votes, None, asked.seed)]
    lines.append(row(PLUS, more, votes, None, asked.seed))
    counts: list[str] = []
    methods: dict[str, Callable[[dict[str, str]], Judged]] = {
        "majority voting": lambda part: majority(labels, part),
        PLUS: lambda part: majority(labels, part, 1),
    }
    shown = {"shares of votes": votes}
    for name, variant in VARIANTS.items():
        fit = fitted(variant, labels, seed=asked.seed, **options)
        lines.append(row(name, judged(fit, gold), votes, fit, asked.seed))
        if name in NEXT:
            found = judged(fit, gold, "p_next")
            lines.append(row(f"{name}, `p_next`", found, votes, fit, asked.seed))
            for column in ("p_true", "p_next"):
                methods[f"{name}, `{column}`"] = partial(_of, fit, column)
            if name == "mention-pair":
                shown |= {"P(true)": judged(fit, gold), "`p_next`": found}
        if name in ("mention-pair", "single-truth or none"):
            none, one, several = fit.tree["truth"]["p_number"].values.sum(axis=0)
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
    nuts = against_nuts(labels, asked.seed, 100 if asked.reduced else 500)
    parts = [text, common.markdown(HEADER, lines), "; ".join(counts) + "."]
    parts += [RELIABILITY, reliability(shown), HALVES, halves(methods, gold), NUTS, nuts]
    common.write(asked.out, [*parts, common.machine("pymc", "nutpie")])


if __name__ == "__main__":
    main()
