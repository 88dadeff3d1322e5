"""Agreement taken apart, by label, item, coder, pair and group; where disagreement comes from.

Imports only NumPy, SciPy, errors, annotations and the files of the coefficients.
"""
