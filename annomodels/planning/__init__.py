"""Before and between rounds of labeling: made-up data, designs, and which model suits.

Imports data, priors, models, coefficients, summaries and the fit; only the command line imports
it.
"""
