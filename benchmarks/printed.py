"""How often the other intervals that a fit prints cover, on any folder of sets.

    python benchmarks/printed.py [--data FOLDER] [--json FILE] [--read sets NAME ...]

A set is a folder as `truth.py` reads it; `truth.py` measures wrong labels, shares of right labels
and prevalence. Here are the accuracy above a probability, the wrong labels of the majority vote,
the use of labels, and kappa and information of coders, each against the same quantity of the known
truth of the set.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import common
import numpy as np
from truth import Set, folders, load

import annomodels as am
from annomodels.summaries.skills import accuracy, bits, skill

FEWEST_LABELS, FEWEST_ITEMS = 50, 20

INTRODUCTION = """
Intervals that a fit of the default model prints, on {sets} public sets with known truth. *Cover*:
intervals that contain the actual number, in per cent, mean over sets. *Above a probability*: share
of right gold labels at or above 0.5, 0.8, 0.9, 0.95 and 0.99, of {items} items or more. Labels
have {items} true items or more, coders {labels} labels of known truth or more.
"""


def held(table: Any, name: str, real: Any, use: Any) -> list[float]:
    """Whether the intervals of a quantity contain the real ones."""
    low, high = (table[f"{name}_{end}"].to_numpy(float) for end in ("low", "high"))
    use = use & np.isfinite(low) & np.isfinite(real)
    inside = (low - 1e-9 <= real) & (real <= high + 1e-9)
    return [float(x) for x in inside[use]]


def measure(each: Set, fit: am.Fit) -> dict[str, list[float]]:
    """Compare the intervals of one fit with the truth."""
    data, k = each.data, each.data.n_labels
    known = each.truth >= 0
    p: Any = fit.tree["truth"]["p_truth"].values
    top, missed = p.max(axis=1), (p.argmax(axis=1) != each.truth) & known
    out: dict[str, list[float]] = {}
    curve = fit.coverage().table.iloc[1:]
    n = np.array([(known & (top >= x)).sum() for x in curve["threshold"]])
    wrong = np.array([(missed & (top >= x)).sum() for x in curve["threshold"]])
    right = 1 - wrong / np.maximum(n, 1)
    out["accuracy above a probability"] = held(curve, "accuracy", right, n >= FEWEST_ITEMS)
    if known.all():
        found = fit.wrong_labels()
        ties = data.votes == data.votes.max(axis=1, keepdims=True)
        hit = (ties / ties.sum(axis=1, keepdims=True))[np.arange(len(known)), each.truth]
        votes = (1 - hit).sum()
        out["wrong labels of the vote"] = [float(found.vote_low <= votes <= found.vote_high)]
    use = known[data.item]
    joint = np.zeros((data.n_coders, k, k))
    at = data.coder[use], each.truth[data.item[use]], data.label[use]
    np.add.at(joint, at, 1.0)
    pooled, sizes = joint.sum(axis=0), np.bincount(each.truth[known], minlength=k)
    labels = fit.labels().table
    with np.errstate(invalid="ignore", divide="ignore"):
        of_truth = np.diag(pooled) / pooled.sum(axis=1)
        of_label = np.diag(pooled) / pooled.sum(axis=0)
    often = sizes >= FEWEST_ITEMS
    out["recall of labels"] = held(labels, "recall", of_truth, often)
    out["precision of labels"] = held(labels, "precision", of_label, often)
    many = joint.sum(axis=(1, 2)) >= FEWEST_LABELS
    # empty rows of a coder take those of all
    rows = joint + pooled / pooled.sum(axis=1, keepdims=True).clip(1)
    rows /= rows.sum(axis=2, keepdims=True).clip(1e-9)
    share, coders = sizes / sizes.sum(), fit.coders().table
    for name, of in (("accuracy", accuracy), ("skill", skill), ("bits", bits)):
        out[f"{name} of coders"] = held(coders, name, of(share, rows), many)
    return out


def page(found: dict[str, dict[str, list[float]]]) -> str:
    """Give the table of the page."""
    lines = []
    for what in dict.fromkeys(name for of in found.values() for name in of):
        shares = {name: float(np.mean(of[what])) for name, of in found.items() if of.get(what)}
        least = min(shares, key=shares.__getitem__)
        number = sum(len(of.get(what, ())) for of in found.values())
        lines.append([what, str(len(shares)), f"{number:,}",
                      f"{100 * np.mean(list(shares.values())):.0f}",
                      f"{100 * shares[least]:.0f} ({least})"])  # fmt: skip
    return common.markdown(["interval of", "sets", "intervals", "cover", "least"], lines)


def main() -> int:
    """Measure, and write the table."""
    parser = common.arguments_of_sets(__doc__, "printed.md", 500)
    options = parser.parse_args()
    if options.reduced:
        options.draws, options.sets = 100, options.sets or ["weather_cf", "bluebirds"]
    found: dict[str, dict[str, list[float]]] = {}
    for path in folders(common.folders_of(options), options.sets):
        each, begun = load(path), time.perf_counter()
        draws = {"draws": options.draws, "warmup": options.draws // 2}
        found[each.name] = measure(each, am.fit(each.data, seed=options.seed, **draws))
        common.say(f"{each.name}: {time.perf_counter() - begun:.0f} s")
        common.keep(options.json, {"sets": found})
    about = INTRODUCTION.strip().format(sets=len(found), items=FEWEST_ITEMS, labels=FEWEST_LABELS)
    common.write(options.out, [about, page(found), common.machine()])
    return 0


if __name__ == "__main__":
    sys.exit(main())
