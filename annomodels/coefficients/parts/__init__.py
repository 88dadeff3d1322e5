"""Agreement taken apart, by label, item, coder, pair and group, and where disagreement comes from.

A breakdown is a grouping of the label pairs, a statistic that is linear in the weights of the
items, and draws that all parts share; so the difference of two parts is a posterior too. A file
imports only from those above it, and from the files of the coefficients:

``setup`` (what is asked for), ``comparison`` (two data sets), ``results`` (what comes out),
``grouped`` (label pairs by coder, pair, group or item), ``table`` (draws, intervals, the whole);
then one file for each way to group, ``labels``, ``items``, ``coders``, ``pairs`` and ``groups``,
with ``influence`` (without one item or coder), and ``breakdown`` (the verb); for ``diagnose``:
``shares`` (who has a share in the disagreement), ``paradox`` (high agreement, low kappa) and
``sentences``. Imports only NumPy, SciPy's sparse matrices, errors and annotations beyond that.
"""
