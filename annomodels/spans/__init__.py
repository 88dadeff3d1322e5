"""Gold spans: marks become groups, a model estimates their truth, and decoding gives one layer.

May import data, io, coefficients, the kernels, and what an engine is told. Files of a fit are read
and written elsewhere; so are pages and audits.
"""
