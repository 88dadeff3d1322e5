"""Where disagreement comes from: label pairs, items, coders, groups, gaps in who labelled what.

A file imports only from those above it, and from the coefficients and their breakdown:

``overlap`` (who shares items with whom), ``shares`` (parts of the observed disagreement beside
those of the expected), ``bias`` (labels a coder gives more often than others do), ``paradox`` (why
high agreement can give a low coefficient), ``result`` (:class:`Diagnosis`), ``sentences`` and
``verb`` (:func:`diagnose`). Imports only NumPy, SciPy's sparse matrices and special functions,
errors and annotations beyond that.
"""
