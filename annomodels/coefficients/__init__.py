"""Agreement coefficients: the classical value, its sampling draws and its model-implied draws.

Holds pure functions of statistics that are linear in the weights of the items, with leading batch
dimensions; a file imports only from those above it:

``distances``, ``sets``, ``metrics`` (how far two labels are apart), ``catalogue`` (the coefficients
as data), ``tables`` (joint tables of label pairs), ``formulas``, ``implied`` (coefficients of a
fitted model), ``rows``, ``conventions``, ``counts``, ``coder_pairs`` (from annotations to tables),
``weights`` (draws), ``reasons``, ``result``, ``evaluation``, ``requests``, ``notes`` and
``agreement`` (the public verb). Imports only NumPy, SciPy's sparse matrices, errors
and annotations.
"""
