"""Separate ambiguous items from items that need more labels.

When coders disagree on an item, either the coders are careless or the item has two readings. The
votes alone cannot tell these apart. A model of the coders can: careless coders are careless on
other items as well, so disagreement between coders who are otherwise reliable points at the item.

In this simulated crowd 30 of 200 items have two readings. The model has no such items; they appear
as disagreement that it cannot explain.

Run it with: python examples/ambiguous_items.py
"""

from __future__ import annotations

import annomodels as am

data = am.datasets.load("crowd")
planted = am.datasets.crowd_truth()
fit = am.fit(data, "hierarchical", seed=1)

summary = fit.items()
items = summary.table
items["ambiguous"] = items["item"].isin(planted.ambiguous)

# Every item is in one of four groups.
print("Planted ambiguous items, by group:\n")
print(items.groupby("quadrant")["ambiguous"].agg(items="size", ambiguous="sum").to_string())

# About three in ten contested items are expected to have one reading after all. `surprise` is the
# probability that these coders disagree as much on an item with one reading.
print("\nThe most surprising items:")
for row in items.sort_values("surprise").head(8).itertuples():
    mark = "ambiguous" if row.ambiguous else "clear"
    print(f"  {row.item} ({mark}): surprise {row.surprise:.3f}. {row.reason}")

# How good is the order? Count the ambiguous items among the first n, and compare with sorting by
# disagreement.
print("\nAmbiguous among the first n, sorted by ...")
print(f"{'n':>5} {'surprise':>9} {'disagreement':>13} {'entropy of truth':>17}")
orders = {
    "surprise": items.sort_values("surprise", kind="stable"),
    "disagreement": items.sort_values("disagreement", ascending=False, kind="stable"),
    "entropy": items.sort_values("entropy", ascending=False, kind="stable"),
}
for n in (10, 20, 30, 60):
    found = {name: int(order["ambiguous"].head(n).sum()) for name, order in orders.items()}
    print(f"{n:5} {found['surprise']:9} {found['disagreement']:13} {found['entropy']:17}")

# Uncertainty has two sources. The reducible part disappears if the coders are known better. The
# other part needs more labels of the item, or a better guideline.
share = items["reducible"].sum() / items["entropy"].sum()
print(f"\n{share:.0%} of the uncertainty about the truth would vanish if the coders were known.")
print("The rest is in the items.")

# Check the model: do data simulated from it look like these?
print("\nPosterior predictive checks:")
checks = fit.predictive().table
for row in checks.itertuples():
    print(f"  {row.statistic}: {row.verdict}")
