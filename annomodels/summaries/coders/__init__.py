"""Coders: how good each is, of which kind, how often they answer, and groups of them.

Imports draws and what coders are worth; knows nothing of items, gold labels or checks.
"""
