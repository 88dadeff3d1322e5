"""Find coders to pay, to retrain or to block, without known labels.

The crowd has three coders who do not read, one who swaps two labels, and one with a bias. Each kind
of poor coder needs another action:

* the labels of a spammer do not depend on the item: block;
* an adversary swaps labels, which are informative once this is known: find the misunderstanding;
* a biased coder gives one label too often: retrain;
* a coder with few labels has not been measured yet: wait.

Run it with: python examples/poor_coders.py
"""

from __future__ import annotations

import annomodels as am

data = am.datasets.load("crowd")
fit = am.fit(data, "hierarchical", seed=1)
print(fit.check())

# We ask for 70 % right labels.
target = 0.70
coders = fit.coders(target=target).table

print(f"\n{'coder':6} {'n':>3}  accuracy (95 %)      bits  P(below {target:.0%})  kind")
for row in coders.sort_values("accuracy").itertuples():
    interval = f"{row.accuracy:.2f} ({row.accuracy_low:.2f}-{row.accuracy_high:.2f})"
    print(
        f"{row.coder:6} {row.n:3}  {interval:18} {row.bits:6.2f}  {row.p_below_target:12.2f}  "
        f"{row.kind}{', ' + row.bias if row.bias else ''}"
    )

# Do not decide by the estimate alone: a coder with few labels can be below the target by chance.
# Use the probability.
by_estimate = coders[coders["accuracy"] < target]
by_probability = coders[coders["p_below_target"] > 0.95]
print(f"\nEstimated below {target:.0%}: {len(by_estimate)} coders.")
print(f"Below {target:.0%} with probability 0.95: {len(by_probability)} coders:")
print(f"  {', '.join(by_probability['coder'])}")

# Low accuracy does not mean that labels are worthless. Before you block a coder, look at the
# confusion matrix and at the information in one label. Equal rows mean that the label does not
# depend on the truth; rows that point at the wrong label mean that it does.
confusion = fit.tree["posterior"]["confusion"].mean(("chain", "draw"))
for row in coders.sort_values("accuracy").head(4).itertuples():
    print(f"\n{row.coder}: {row.bits:.2f} bits per label ({row.bits_low:.2f}-{row.bits_high:.2f})")
    for truth in data.labels:
        says = confusion.sel(coder=row.coder, truth=truth)
        shares = ", ".join(f"{label} {float(says.sel(label=label)):.0%}" for label in data.labels)
        print(f"  when the truth is {truth}, label {shares}")

# What was planted, for comparison.
planted = am.datasets.crowd_truth()
print(f"\nPlanted: spammers {', '.join(sorted(planted.spammers))};", end=" ")
print(f"swaps labels: {planted.adversary}; biased: {planted.biased}.")

# The planted accuracies are those on clear items. Some items are ambiguous, so most estimates are
# slightly lower.
inside = sum(
    row.accuracy_low <= planted.accuracy[row.coder] <= row.accuracy_high
    for row in coders.itertuples()
)
print(f"The planted accuracy on clear items lies in {inside} of {len(coders)} intervals.")
