"""Agreement taken apart: by label, item, coder, pair of coders and group.

Every part is a function of statistics that are linear in the weights of the items, so all parts
share the draws of the whole, and the difference of two parts is a posterior too. A file imports
only from those above it, and from the files of the coefficients:

``posterior`` (draws to intervals), ``difference``, ``result`` (:class:`Breakdown`), ``setup``
(what is asked for), ``columns`` (what all tables share), ``two_sided`` (one side of coders against
the other), ``labels``, ``items``, ``coders``, ``influence`` (without one coder), ``pairs``,
``groups``, ``spread`` (between groups), ``verb`` (:func:`breakdown`) and ``comparison`` (two data
sets). Imports only NumPy, SciPy's sparse matrices, errors and annotations beyond that.
"""
