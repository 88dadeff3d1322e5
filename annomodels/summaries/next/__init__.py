"""Labels to ask for next: expected utility, items and coders.

Imports draws, coders and gold, but not checks.
"""
