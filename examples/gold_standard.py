"""Build a gold standard from the labels of a crowd.

The data are simulated: 200 remarks about restaurants, each labeled neg, neu or pos by 8 of 24
coders, some of whom do not read the remarks. The right answers are therefore known and can be
compared with the result. The model never sees them.

Run it with: python examples/gold_standard.py
"""

from __future__ import annotations

import annomodels as am

data = am.datasets.load("crowd")
print(data)

# What would majority vote say? A tie has no majority, so it counts as wrong here.
planted = am.datasets.crowd_truth()
truth = [planted.truth[item] for item in data.items]
right = sum(
    votes.max() == votes[data.labels.index(label)] and (votes == votes.max()).sum() == 1
    for votes, label in zip(data.votes, truth, strict=True)
)
print(f"\nMajority vote: {data.n_items - right} of {data.n_items} labels wrong or tied.")

# This model estimates a confusion matrix for every coder and the population of coders. The same
# seed gives the same result.
fit = am.fit(data, "hierarchical", seed=1)

# First of all: can the result be trusted?
print(f"\n{fit.check()}")

# The gold standard: one row for each item.
gold = fit.gold(threshold=0.95)
table = gold.table
wrong = table["label"] != truth
print(f"\nModel: {wrong.sum()} of {len(table)} labels wrong.")
print("Estimate of the model:", gold.notes[0])

# The probability orders the items well: hand on the settled items, and let an expert judge the
# others.
settled = table["settled"]
print(f"\n{settled.sum()} labels are settled at 0.95; {(wrong & settled).sum()} of them are wrong.")
print(f"{(~settled).sum()} are not settled; {(wrong & ~settled).sum()} of them are wrong.")

# If a gold label differs from the majority, `why` has the log-odds that each coder contributed. A
# coder who swaps labels counts in the opposite direction.
print("\nSome overturned majorities:")
overturned = table[table["overturned"]].sort_values("probability", ascending=False)
for row in overturned.head(3).itertuples():
    print(f"  {row.item}: {row.majority} -> {row.label} ({row.probability:.2f}), votes {row.votes}")
    print(f"      {row.why}")

# Which 20 items should an expert judge? The least certain ones. The answers become known labels,
# and the model is fitted again.
uncertain = table.sort_values("probability")["item"].head(20)
for name, chosen in (("the 20 least certain", uncertain), ("the first 20", data.items[:20])):
    helped = am.fit(
        data.with_truth({item: planted.truth[item] for item in chosen}), "hierarchical", seed=1
    )
    left = (helped.gold().table["label"] != truth).sum()
    print(f"\nAn expert settles {name} items: {left} of {data.n_items} labels are still wrong.")
