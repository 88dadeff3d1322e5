"""Loops of the models whose items are in one of several states, see ``models.mixtures``.

What is drawn and counted for items is in ``states``; the other files draw what one model believes
of its coders. Imports what kernels may import.
"""
