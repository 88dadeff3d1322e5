"""Telling items that are ambiguous from items that only need more labels.

When coders disagree on an item, either the coders are careless or the item has two readings. The
votes alone cannot tell these apart. A model of the coders can: careless coders are careless on
other items as well, so disagreement between coders who are otherwise reliable points at the item.

In this made-up crowd 30 of 200 items have two readings. The model does not know which; it does not
even know that such items exist. It finds them as items that it cannot explain.

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

# "Contested" is a list of which about three in ten items are expected to have one reading after
# all. `surprise` asks how often these very coders would disagree as much on an item with one
# reading.
print("\nThe most surprising items:")
for row in items.sort_values("surprise").head(8).itertuples():
    mark = "ambiguous" if row.ambiguous else "clear"
    print(f"  {row.item} ({mark}): surprise {row.surprise:.3f}. {row.reason}")

# How good is the order? If we show an editor the first n items, how many are ambiguous? A simple
# rival is to sort by how much the labels of an item disagree.
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

# Uncertainty about the truth comes from two sources. The reducible part goes away when the coders
# are known better; the other part needs more labels of this very item, or a better guideline.
share = items["reducible"].sum() / items["entropy"].sum()
print(f"\nOf all uncertainty about the truth, {share:.0%} would vanish if the coders were known")
print("exactly. The rest is in the items.")

# The model as a whole is questioned as well: do data simulated from it look like these?
print("\nPosterior predictive checks:")
checks = fit.predictive().table
for row in checks.itertuples():
    print(f"  {row.statistic}: {row.verdict}")
