"""Agreement taken apart, by label, item, coder, pair and group, and where disagreement comes from.

A breakdown is a grouping of the label pairs, a statistic that is linear in the weights of the
items, and draws that all parts share; so the difference of two parts is a posterior too. Imports
only NumPy, SciPy, errors, annotations and the files of the coefficients.
"""
