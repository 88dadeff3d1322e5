"""Find ambiguous items, and tell careless coders apart from them.

    python benchmarks/ambiguity.py [--reduced] [--replications 5]

Simulated sets of every size, and real sets: a part of the labels of every item is fitted, and
which items split among the labels held back is predicted.
"""

from __future__ import annotations

import itertools
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import common
import numpy as np
from ambiguous_sets import Hard, auc, bins, calibration_error, entropy, entropy_of_votes, make
from numpy.typing import NDArray

import annomodels as am
from annomodels.limits import CONTESTED_APART, CONTESTED_LABELS
from annomodels.summaries.items import contested, listed

Floats = NDArray[np.float64]

CELLS = tuple(itertools.product((3, 4, 5, 6), (5, 10, 20), (0.05, 0.15, 0.30)))
RUN: dict[str, Any] = {
    "chains": 2, "draws": 250, "warmup": 200, "extend": False, "threads": 1,
}  # fmt: skip


def values(fit: am.Fit, name: str) -> Floats:
    """Give a value of the items of a fit."""
    return np.asarray(fit.tree["items"][name].values)


def replicate(cell: tuple[int, int, float], seed: int, number: int) -> dict[str, Any]:
    """Score one simulated set by votes, by Dawid-Skene and by the model of ambiguous items."""
    k, per_item, share = cell
    rng = np.random.default_rng([seed, k, per_item, round(100 * share), number])
    made = make(k, per_item, share, rng)
    rivals = am.fit(made.data, "hierarchical", seed=number, **RUN)
    fit = am.fit(made.data, "ambiguous", seed=number, **RUN)
    p = values(fit, "ambiguous")
    spam = fit.tree["posterior"]["spammer"].values.mean(axis=(0, 1))
    skill = fit.coders().table["skill"].to_numpy()
    return {
        "ambiguous": auc(p, made.ambiguous),
        "entropy": auc(entropy(rivals.tree["truth"]["p_truth"].values), made.ambiguous),
        "votes": auc(entropy_of_votes(made.data), made.ambiguous),
        "bins": bins(p, made.ambiguous).tolist(),
        "spammers": auc(spam, made.spammer),
        "skill": auc(-skill, made.spammer),
        "rhat": float(fit.tree.attrs["rhat_max"]),
    }


def simulated(cells: Any, replications: int, seed: int, workers: int) -> list[list[str]]:
    """Rows of the table, one for each cell."""
    rows = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        for cell in cells:
            found = list(pool.map(partial(replicate, cell, seed), range(replications)))
            mean = {
                name: float(np.mean([part[name] for part in found]))
                for name in found[0]
                if name != "bins"
            }
            pooled = calibration_error(np.sum([part["bins"] for part in found], axis=0))
            won = mean["ambiguous"] > max(mean["entropy"], mean["votes"])
            numbers = [f"{mean[name]:.3f}" for name in ("ambiguous", "entropy", "votes")]
            tail = [f"{pooled:.3f}", f"{mean['spammers']:.3f}", f"{mean['skill']:.3f}"]
            words = [str(cell[0]), str(cell[1]), f"{cell[2]:.0%}".replace("%", " %")]
            rows.append([*words, *numbers, "yes" if won else "no", *tail])
            common.say(" ".join(rows[-1]))
    return rows


# -- the list of contested items -----------------------------------------------------------------

# how items differ in difficulty, and share of them that is ambiguous
CROWDS = {
    "no difficulty": (Hard(), 0.0),
    "difficulty, sd .5": (Hard(0.5), 0.0),
    "difficulty, sd 1": (Hard(1.0), 0.0),
    "difficulty, sd 1.5": (Hard(1.5), 0.0),
    "difficulty, Student t": (Hard(0.8, freedom=3), 0.0),
    "15 % careless": (Hard(careless=0.15), 0.0),
    "15 % ambiguous": (Hard(), 0.15),
    "15 % ambiguous, sd .5": (Hard(0.5), 0.15),
    "15 % ambiguous, sd 1": (Hard(1.0), 0.15),
}


def listed_items(seed: int, replications: int, labels: tuple[int, ...] = (8, 12, 16)) -> Any:
    """Rows of the list of contested items: 3 to 5 classes, then 2, for each kind of crowd."""
    rows = []
    for (name, (hard, share)), classes in itertools.product(CROWDS.items(), ((3, 4, 5), (2,))):
        for per_item in labels:
            count, right, planted, items = 0, 0, 0, 0
            for k, number in itertools.product(classes, range(replications)):
                rng = np.random.default_rng([seed, 7, k, per_item, round(100 * share), number])
                made = make(k, per_item, share, rng, hard)
                votes = made.data.votes
                n = votes.sum(axis=1)
                able = (n >= CONTESTED_LABELS) & (n - votes.max(axis=1) >= CONTESTED_APART)
                at = listed(contested(made.data), able)
                count, right = count + int(at.sum()), right + int((at & made.ambiguous).sum())
                planted, items = planted + int(made.ambiguous.sum()), items + len(at)
            tail = [f"{100 * right / planted:.0f} %" if share else "–", "–"]
            if share and count:
                tail[1] = f"{100 * (1 - right / count):.0f} %"
            k_text = "2" if classes == (2,) else "3 to 5"
            rows.append([name, k_text, str(per_item), f"{100 * count / items:.1f} %", *tail])
            common.say(" ".join(rows[-1]))
    return rows


# -- real sets ------------------------------------------------------------------------------------

REAL = {"adult3": (10, 2), "gwsd": (4, 2), "bluebirds": (20, 5)}


def split_of(name: str, kept: int, number: int) -> tuple[am.Annotations, Floats]:
    """Give some labels of every item, and the share of the second label among the others."""
    import pandas as pd

    table = pd.read_csv(common.shared_data() / name / "labels.csv", dtype=str)
    table = table.drop_duplicates(["item", "coder"])
    rng = np.random.default_rng(number)
    table = table.iloc[rng.permutation(len(table))]
    place = table.groupby("item").cumcount()
    labels = sorted(table["label"].unique())
    records = [tuple(row) for row in table.loc[place < kept, ["item", "coder", "label"]].to_numpy()]
    data = am.Annotations.from_records(records, labels=labels)
    later = table[place >= kept]
    counts = pd.crosstab(later["item"], later["label"]).reindex(
        index=[str(item) for item in data.items], columns=labels, fill_value=0
    )
    share = counts.to_numpy(dtype=float, copy=True)
    share /= share.sum(axis=1, keepdims=True)
    return data, np.sort(share, axis=1)[:, -2]


def real(seed: int) -> list[list[str]]:
    """AUC of several scores for "the second label has 30 % or more of the labels held back"."""
    rows = []
    for name, (kept, times) in REAL.items():
        scores: dict[str, list[float]] = {}
        for number in range(times):
            data, second = split_of(name, kept, number + seed)
            splits = second >= 0.3
            simple = am.fit(data, "hierarchical", seed=number, **RUN)
            fit = am.fit(data, "ambiguous", seed=number, **RUN)
            found = {
                "votes": entropy_of_votes(data),
                "Dawid-Skene": entropy(simple.tree["truth"]["p_truth"].values),
                "P(ambiguous)": values(fit, "ambiguous"),
                "next labels": next_labels(fit),
                "next labels of Dawid-Skene": next_labels(simple),
            }
            for score, value in found.items():
                scores.setdefault(score, []).append(auc(value, splits))
        rows.append([name, *(f"{np.mean(value):.3f}" for value in scores.values())])
        common.say(" ".join(rows[-1]))
    return rows


def next_labels(fit: am.Fit) -> Floats:
    """Share of the second label that is to be expected among further labels of each item."""
    posterior = fit.tree["posterior"].to_dataset()
    p = fit.tree["truth"]["p_truth"].values
    name = "perceived_confusion" if "perceived_confusion" in posterior else "confusion"
    rows = posterior[name].values.mean(axis=(0, 1)).mean(axis=0)
    return np.asarray(np.sort(p @ rows, axis=1)[:, -2])


def main() -> None:
    """Write the tables."""
    parser = common.arguments(__doc__, "ambiguity.md")
    parser.add_argument("--replications", type=int, default=5)
    options = parser.parse_args()
    cells = CELLS[4:5] if options.reduced else CELLS
    count = 2 if options.reduced else options.replications
    begun = time.perf_counter()
    rows = simulated(cells, count, options.seed, common.cores())
    won = sum(row[6] == "yes" for row in rows)
    enough = [row for row in rows if int(row[1]) >= 10]
    fine = sum(float(row[7]) < 0.05 for row in enough)
    apart = sum(min(float(row[8]), float(row[9])) >= 0.98 for row in rows)
    header = ["classes", "labels", "ambiguous", "P(ambiguous)", "Dawid-Skene", "votes", "first"]
    parts = [
        f"AUC of P(ambiguous), of the entropy of P(truth) under hierarchical Dawid-Skene and of "
        f"the votes for which items have two readings: simulated sets of 450 items and 50 coders, "
        f"20 % of them spammers, mean of {count} sets a cell. ECE is that of P(ambiguous), the "
        "sets of a cell pooled; the last two columns are the AUC of P(spammer) and of low skill "
        "for who is a spammer.",
        common.markdown([*header, "ECE", "P(spammer)", "skill"], rows, left=0),
        f"P(ambiguous) is first in {won} of {len(rows)} cells; its ECE is below .05 in {fine} of "
        f"{len(enough)} cells with 10 labels or more; spammers are ranked below honest coders with "
        f"AUC .98 or more, by both columns, in {apart} of {len(rows)}.",
    ]
    header = ["crowd", "classes", "labels", "listed", "planted items found", "listed, not planted"]
    parts += [
        f"The list of contested items (`state`), {count} sets per number of classes. Hard items "
        "lose log-odds of the right label (normal, or .8 times Student t with 3 degrees of "
        "freedom), and to careless ones half of the labels are given at random. With two classes "
        "the list also holds hard items.",
        common.markdown(header, listed_items(options.seed, count), left=0),
    ]
    if not options.reduced:
        header = ["set", "votes", "Dawid-Skene", "P(ambiguous)", "next", "next, Dawid-Skene"]
        parts += [
            "Real sets: AUC for which items split (the second label has 30 % or more) among labels "
            "held back; fitted were 10 labels an item of adult3 (mean of 2 choices), 4 of gwsd (2) "
            'and 20 of bluebirds (5). "Next" is the share of the second label that a fit expects '
            "among further labels: P(truth) through the mean coder's rows.",
            common.markdown(header, real(options.seed)),
        ]
    seconds = time.perf_counter() - begun
    parts.append(f"{common.machine()} It took {seconds / 60:.0f} minutes.")
    common.write(Path(options.out), parts)


if __name__ == "__main__":
    sys.exit(main())
