"""Analytic standard errors and intervals, for comparison with other packages.

``methods`` is the door; ``linearised`` holds Gwet's errors, ``classical`` those of single papers.
Imports only NumPy, SciPy's special functions and the coefficients above.
"""
