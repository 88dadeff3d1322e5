"""Agreement taken apart, by label, item, coder, pair and group, and where disagreement comes from.

Every part is a function of statistics that are linear in the weights of the items, so all parts
share the draws of the whole, and the difference of two parts is a posterior too. A file imports
only from those above it, and from the files of the coefficients:

``results`` (what comes out), ``setup`` (what is asked for), ``columns`` (what all tables share),
``two_sided`` (one side of coders against the other), ``labels``, ``items``, ``influence`` (without
one coder), ``coders``, ``pairs``, ``groups``, ``breakdown`` (the verb) and ``comparison`` (two data
sets); for ``diagnose``: ``shares`` (who has a share in the disagreement), ``paradox`` (high
agreement, low kappa) and ``sentences``. Imports only NumPy, SciPy's sparse matrices, errors and
annotations beyond that.
"""
