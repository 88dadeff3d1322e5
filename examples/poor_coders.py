"""Find coders to pay, to retrain, to correct or to stop, without known labels.

The crowd has three coders who do not read, one who swaps two labels, and one with a bias. Each kind
of poor coder needs another action:

* the labels of a spammer do not depend on the item: stop, once this is 95 % certain;
* who swaps labels is informative once this is known: correct;
* a biased coder gives one label too often: retrain;
* of whom too little is known: give test items.

Run it with: python examples/poor_coders.py
"""

from __future__ import annotations

import annomodels as am

data = am.datasets.load("crowd")
fit = am.fit(data, seed=1)
print(fit.check())

# We ask for 70 % right labels.
target = 0.70
coders = fit.coders(target=target).table

print(f"\n{'coder':6} {'n':>3}  right so far (95 %)  P(below {target:.0%})  kind: advice")
for row in coders.sort_values("share_right").itertuples():
    interval = f"{row.share_right:.2f} ({row.share_right_low:.2f}-{row.share_right_high:.2f})"
    print(
        f"{row.coder:6} {row.n:3}  {interval:19}  {row.p_below_target:12.2f}  "
        f"{row.kind}: {row.advice}"
    )

# Do not decide by the estimate alone: a coder with few labels can be below the target by chance.
# Use the probability.
by_estimate = coders[coders["share_right"] < target]
by_probability = coders[coders["p_below_target"] > 0.95]
print(f"\nEstimated below {target:.0%}: {len(by_estimate)} coders.")
print(f"Below {target:.0%} with probability 0.95: {len(by_probability)} coders:")
print(f"  {', '.join(by_probability['coder'])}")

# Few right labels do not mean that labels are worthless. Before you stop a coder, look at the
# confusion matrix. Equal rows mean that the label does not depend on the truth; rows that point at
# the wrong label mean that it does.
confusion = fit.tree["posterior"]["confusion"].mean(("chain", "draw"))
for row in coders.sort_values("share_right").head(4).itertuples():
    print(f"\n{row.coder}: {row.advice}")
    for truth in data.labels:
        says = confusion.sel(coder=row.coder, truth=truth)
        shares = ", ".join(f"{label} {float(says.sel(label=label)):.0%}" for label in data.labels)
        print(f"  when the truth is {truth}, label {shares}")

# What was planted, for comparison.
planted = am.datasets.crowd_truth()
print(f"\nPlanted: spammers {', '.join(sorted(planted.spammers))};", end=" ")
print(f"swaps labels: {planted.adversary}; biased: {planted.biased}.")

# The shares of right labels, by the planted truth.
rows = data.to_frame()
right = rows["label"] == rows["item"].map(planted.truth)
actual = right.groupby(rows["coder"]).mean()
inside = sum(
    row.share_right_low <= actual[row.coder] <= row.share_right_high for row in coders.itertuples()
)
print(f"The actual share of right labels lies in {inside} of {len(coders)} intervals.")
