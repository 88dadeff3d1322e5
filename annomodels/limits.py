"""Limits that people meet in tables, messages and pages, each with its unit and reason."""

from __future__ import annotations

# states of an item: nothing to do; more labels would help; an expert should decide; truth is known
STATES = ("settled", "needs labels", "contested", "decided")
# minimum probability of a settled gold label: one error in 20, as for 95 % intervals
SETTLED = 0.95
# minimum probability of a statement about a coder to be called very probable
CERTAIN = 0.95

# labels of a coder: below the first nothing is concluded (intervals of skill span useless to fine),
# below the second little can be said, from the third a confusion matrix of their own can be learned
CODER_JUDGED = 5
CODER_THIN = 10
CODER_MATRIX = 20
# labels of a coder per class below which a confusion matrix is mostly its prior, whose rows know
# nothing of each other: whether the coder guesses is then told by the labels themselves
CODER_ROW = 5
# skill (kappa with the truth) below which labels hardly depend on the item
SKILL_USELESS = 0.2

# minimum labels of an item, and of labels unlike its majority, to distinguish two readings
# from errors in simulated crowds; `run` lists such items, `check` announces them
CONTESTED_LABELS = 8
CONTESTED_APART = 2
# minimum ratio to chance of coder pairs voting together on these items, for a division into
# groups of coders
CONTESTED_SIDES = 2.0
# minimum labels of the median item to estimate differences in item difficulty
ITEM_DIFFICULTY = 3
# minimum proportion of labels unlike the gold label for a hard item
DISSENT = 0.25

# rows of a table from which its labels are fitted block by block: in memory they take gigabytes
ROWS_IN_MEMORY = 20_000_000
# A finding is a warning only if it is certain and reaches the limit here; else it is a detail.
# share of the gold labels or known labels that it concerns: shares of errors are read in percent
NOTICED = 0.01
# share of all confusions that a pair of labels has: from here a rule on this pair alone prevents
# one confusion in ten
CONFUSED_PAIR = 0.1
# times the variance of the errors on an item that independent coders have; log-odds are then that
# many times too large, so from here a gold label with 5 % probability of an error has 6.4 %
DISPERSION = 1.1
# alpha, or share of equal labels, of the labels beyond that of the model: half of the last step
# that guidelines distinguish (.667, .8)
AGREEMENT_OFF = 0.05
# share of a coder's labels, or of the common items of two coders, that the model does not reproduce
SHARE_OFF = 0.1
# R-hat of wrong labels or shares from which their intervals are too narrow by 5 %, and by 10 %
RESULT_RHAT, RESULT_RHAT_WORST = 1.05, 1.1
# independent draws of wrong labels or shares below which ends of intervals are off by a seventh of
# half their width, and by a fifth
RESULT_DRAWS, RESULT_DRAWS_WORST = 100.0, 40.0
# mean difference of P(truth) between chains over items, beyond Monte Carlo error:
# probabilities have two digits
P_OFF, P_OFF_WORST = 0.02, 0.05

# proportion of items with two coders, and coders, below which errors cannot be attributed
SHARED_ITEMS = 0.5
CODERS_COMPARED = 3
# labels without disagreement from which their independence is questioned: if
# one in 33 was wrong, as for careful experts, 100 labels would all be right in 5 % of cases
UNANIMOUS = 100
# points of a rating scale from which experts and crowds are often a point apart; of the public sets
# with ordered labels the default covered adult2 (four) and missed valence5 (five)
LONG_SCALE = 5
# minimum items with known labels to test probabilities
KNOWN_TESTED = 20

# groups of items, such as documents or batches, from which intervals resample whole groups; the
# variance between fewer is hardly known (95 % interval of its ratio to that of ten groups, as of
# chi-squared with nine degrees of freedom: 0.5 to 3.3), so items are resampled instead
GROUPS_RESAMPLED = 10
# audits that the page advises: share of its width to which the interval of wrong labels should
# narrow, share above which nobody is told that it narrows (less than a fifth changes no
# decision), items of an hour and of half a working day
AUDIT_GOAL = 0.5
AUDIT_WORTH = 0.8
AUDIT_HOUR = 60
AUDIT_MOST = 240

# labels to ask for next by default; largest share for one coder, among this many coders or more
NEXT_LABELS = 100
NEXT_SHARE = 0.25
NEXT_CODERS = 8
# information per label, relative to the mean, below which a coder is not asked
NEXT_WORTH = 0.5

# labels of tokens by coders up to which alpha of tokens is computed next to that of spans: about
# five seconds
MOST_TOKENS = 500_000
# documents of an audit of spans by default: about an hour of marking
AUDIT_DOCUMENTS = 20
