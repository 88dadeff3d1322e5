"""Mixture models: each item is in one of several states.

The rules of imports are those of the models; state_model.py and layout.py define the common parts.
"""
