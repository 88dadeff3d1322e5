"""Units on a continuum: who marked which stretch of which text, and how far coders agree on it.

``checks`` (every problem of a list of units), ``units`` and ``alpha`` (Krippendorff's alpha for
unitizing). Imports only NumPy, errors and the results of the coefficients.
"""
