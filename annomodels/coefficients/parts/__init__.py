"""Agreement by label, item, coder, pair and group; sources of disagreement.

Imports only NumPy, SciPy, errors, annotations and the files of the coefficients.
"""
