"""Build a gold standard from the labels of a crowd, and see how many labels are wrong.

The data are simulated: 200 remarks about restaurants, each labeled neg, neu or pos by 8 of 24
coders. The right answers are known, and the model never sees them. For your data, replace
votes.csv by your file.

Run it with: python examples/gold_standard.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import annomodels as am

with tempfile.TemporaryDirectory() as folder:
    votes = Path(folder) / "votes.csv"
    am.datasets.load("crowd").to_frame().to_csv(votes, index=False)
    data = am.read(votes)
print(data)

# The same seed gives the same result.
fit = am.fit(data, seed=1)
print(f"\n{fit.check()}\n")

# The gold standard: one row per item.
gold = fit.gold()
print(gold.as_text(5))

# How many labels are wrong? Items with two readings have no true label.
truth = am.datasets.crowd_truth().truth
table = gold.table[gold.table["item"].isin(truth)]
wrong = table["label"] != table["item"].map(truth)
expected = fit.wrong_labels()
print(f"\n{wrong.sum()} gold labels are wrong, {expected.gold:.0f} expected", end=" ")
print(f"({expected.gold_low:.0f} to {expected.gold_high:.0f}).")

# The probability orders the items: hand on the settled items, and let an expert judge the others.
settled = table["state"] == "settled"
print(f"Of {settled.sum()} settled labels, {(wrong & settled).sum()} do not match the truth;")
print(f"of {(~settled).sum()} others, {(wrong & ~settled).sum()}.")

# `why` shows the votes behind a label: first those that differ from the majority.
print(f"\n{table['overturned'].sum()} gold labels differ from the majority.")
doubtful = table.sort_values(["overturned", "probability"], ascending=[False, True])
print(fit.why(doubtful["item"].head(1).tolist()))

# Let an expert judge the 20 items with the lowest probability, and fit again.
uncertain = table.sort_values("probability")["item"].head(20)
again = am.fit(data.with_truth({item: truth[item] for item in uncertain}), seed=1)
labels = again.gold().table.set_index("item")["label"]
left = sum(labels[item] != label for item, label in truth.items())
print(f"\nAfter 20 decisions of an expert, {left} of {len(truth)} gold labels do not match.")
