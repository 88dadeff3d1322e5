"""Gold spans: grouping of marks, estimation of the true spans, and decoding into one layer.

May import data, io, coefficients, kernels and engine settings. Reading and writing of saved fits,
report pages and audits are in other packages.
"""
