"""Separate contested items from items that need labels.

Coders disagree because they err, or because an item has two readings. A model of the coders
separates the two in part: coders who err also err on other items.

In the simulated crowd 8 of 200 remarks have two readings; many others are hard.

Run it with: python examples/ambiguous_items.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import annomodels as am

with tempfile.TemporaryDirectory() as folder:
    votes = Path(folder) / "votes.csv"
    am.datasets.load("crowd").to_frame().to_csv(votes, index=False)
    data = am.read(votes)
fit = am.fit(data, seed=1)

# Every item is in one of four states.
items = fit.items()
print(items.as_text(8))

planted = am.datasets.crowd_truth().ambiguous
table = items.table.assign(two_readings=items.table["item"].isin(planted))
print("\nItems with two readings, by state:\n")
print(table.groupby("state")["two_readings"].agg(items="size", planted="sum").to_string())

# Read the contested items: often one sentence in the guideline settles a dozen.
print("\nThe items that most probably have two readings:")
for row in table.nlargest(8, "p_contested").itertuples():
    print(f"  {row.item}: {row.reason}")

# Uncertainty has two sources. The reducible part disappears if the coders are known better.
share = table["reducible"].sum() / table["doubt"].sum()
print(f"\n{share:.0%} of the uncertainty about the truth would vanish if the coders were known.")
