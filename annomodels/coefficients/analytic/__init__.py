"""Analytic standard errors and intervals, for comparison with other packages.

Imports only NumPy, SciPy's special functions and the coefficients above.
"""
