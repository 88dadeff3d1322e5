"""The next label of an item: what models and vote shares foretell, weighed by labels held out.

Imports draws and models; knows nothing of checks, and nothing here samples.
"""
