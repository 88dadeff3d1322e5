"""Checks of a fit: chains, data, posterior predictive checks and held-out truth.

Imports draws and skills, but not next labels.
"""
