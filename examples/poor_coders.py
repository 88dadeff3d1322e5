"""Find coders to train, to test or to correct, without known labels.

The simulated crowd has two coders who do not read and one who swaps two labels. Each kind needs
another action:

* the labels of a spammer do not depend on the item: stop asking once this is 95 % certain;
* who swaps labels is informative once this is known: correct the labels;
* a coder with few labels has not been measured yet: give test items.

Run it with: python examples/poor_coders.py
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
print(f"{fit.check()}\n")

# We ask for 70 % right labels.
target = 0.70
coders = fit.coders(target=target)
print(coders.as_text(24))

# Do not decide by the estimate alone: a coder with few labels can be below the target by chance.
table = coders.table
low = table.loc[table["p_below_target"] > 0.95, "coder"]
print(f"\nBelow {target:.0%} with 95 % probability: {', '.join(low)}.")

# What was planted, for comparison.
planted = am.datasets.crowd_truth()
print(f"Planted: spammers {', '.join(sorted(planted.spammers))}; {planted.adversary} swaps labels.")
actual = table["coder"].map(planted.share_right)
inside = actual.between(table["share_right_low"], table["share_right_high"])
print(f"{inside.sum()} of {len(table)} intervals contain the actual share of right labels.")
