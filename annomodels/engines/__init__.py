"""Inference: a model and annotations in, a ``RawResult`` of arrays out.

Engines know the contract of the models, never their names. Imports models and schema; kernels and
samplers load inside functions.
"""
