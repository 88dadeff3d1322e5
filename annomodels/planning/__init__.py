"""Before and between rounds of labeling: simulated data, designs, and model choice.

Imports data, priors, models, coefficients, summaries and the fit; only the command line imports
it.
"""
