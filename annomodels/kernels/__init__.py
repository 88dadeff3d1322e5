"""Compiled loops: random streams, passes over the labels, population steps, densities.

The only folder that imports numba when it is loaded; therefore nothing imports it at module level.
Kernels know arrays, not models, and every one releases the interpreter lock.
"""
