"""NUTS and PyMC's other step methods, on the PyMC models or on densities in loops of our own.

PyMC and nutpie are imported inside functions.
"""
