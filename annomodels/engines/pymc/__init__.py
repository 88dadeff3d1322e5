"""NUTS and PyMC's other step methods, on PyMC models or on compiled densities.

PyMC and nutpie are imported inside functions.
"""
