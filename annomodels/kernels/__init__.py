"""Compiled loops: random streams, passes over the labels, population steps, densities.

The only folder that imports numba on loading, so no module imports it at module level. Kernels
use arrays, not models, and all release the interpreter lock.
"""
