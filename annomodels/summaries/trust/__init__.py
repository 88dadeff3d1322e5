"""Return True if a fit can be believed: chains, data, what the model reproduces, held-out truth.

Imports draws and what coders are worth; knows nothing of further labels.
"""
