"""Units on a continuum, and Krippendorff's alpha for unitizing.

Imports only NumPy, errors and the results of the coefficients.
"""
