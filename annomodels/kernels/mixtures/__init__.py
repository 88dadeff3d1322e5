"""Loops of the models whose items are in one of several states, see ``models.mixtures``.

states draws and counts for items; the other files draw the coders of one model. Imports what
kernels may import.
"""
