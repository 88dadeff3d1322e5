"""The next label of an item: predictions of models and vote shares, weighted by held-out labels.

Imports draws and models; knows nothing of checks, and nothing here samples.
"""
