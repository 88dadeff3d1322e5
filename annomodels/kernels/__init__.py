"""Compiled loops: random streams, passes over the labels, population steps, densities.

The only folder that imports numba when it loads; so nothing imports it at module level. Kernels
know arrays, not models, and all release the interpreter lock.
"""
