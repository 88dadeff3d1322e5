"""How often a 95 % interval holds the true coefficient, by the weight of the chance items.

Made to choose the recipe in ``annomodels.coefficients.weights``; five minutes on one core. Items
are drawn with a prevalence, coders label them with the same accuracy, errors spread evenly. Each
line shows the coverage of 250 intervals of 600 draws (standard error about .015), and how often
the interval lay below and above the truth.

    python benchmarks/coverage_agreement_quick.py
"""

from __future__ import annotations

import itertools

import numpy as np

import annomodels as am
from annomodels.coefficients import weights
from annomodels.coefficients.implied import implied_pair

SAMPLES, DRAWS = 250, 600


def coverage(name, prevalence, accuracy, n_coders, n_items, seed=0):
    rng = np.random.default_rng(seed)
    k = len(prevalence)
    confusion = np.full((k, k), (1 - accuracy) / (k - 1))
    np.fill_diagonal(confusion, accuracy)
    true = float(implied_pair(prevalence, confusion, confusion, name))
    below = above = counted = 0
    for sample in range(SAMPLES):
        truth = rng.choice(k, n_items, p=prevalence)
        chance = rng.random((n_items, n_coders, 1))
        labels = (chance > confusion.cumsum(1)[truth][:, None, :-1]).sum(-1)
        rows = [(i, c, int(labels[i, c])) for i, c in np.ndindex(labels.shape)]
        data = am.Annotations.from_records(rows, labels=range(k))
        low, high = am.agreement(data, name, draws=DRAWS, seed=sample).interval()
        if np.isfinite(low):
            below, above, counted = below + (high < true), above + (low > true), counted + 1
    inside = 1 - (below + above) / counted
    return f"{inside:.3f}  below {below / counted:.3f}  above {above / counted:.3f}"


def main():
    print("kappa, two coders: prior weight of all cells together (1/2 a cell is K^2 / 2)")
    for k, first, n_items in itertools.product((2, 3, 5), (None, 0.8), (50, 200)):
        prevalence = np.full(k, 1 / k)
        if first:
            prevalence = np.r_[first, np.full(k - 1, (1 - first) / (k - 1))]
        for weights.CELLS_AT_MOST in (1.0, 2.0, 4.0, k * k / 2):
            found = coverage("kappa", prevalence, 0.85, 2, n_items)
            print(
                f"  K={k} p1={prevalence[0]:.2f} N={n_items} {weights.CELLS_AT_MOST:4.1f}: {found}"
            )
    print("alpha, more coders: weight of the chance items together")
    for n_coders, accuracy, first in itertools.product((3, 6), (0.8, 0.95), (0.5, 0.9, 0.95)):
        for weights.CHANCE_WEIGHT in (1e-9, 0.5, 1.0, 2.0):
            found = coverage("alpha", [first, 1 - first], accuracy, n_coders, 50)
            setting = f"J={n_coders} accuracy={accuracy} p1={first}"
            print(f"  {setting} {weights.CHANCE_WEIGHT:.1f}: {found}", flush=True)


if __name__ == "__main__":
    main()
