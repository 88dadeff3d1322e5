"""Next label of an item: a mixture of models and vote shares, weighted on held-out labels.

Imports draws and models, but not checks, and does not sample.
"""
