"""Kernels of the models with item states, see ``models.mixtures``.

Imports what kernels may import.
"""
