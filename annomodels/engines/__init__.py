"""Inference engines: from a model and annotations to a ``RawResult`` of arrays.

Engines use the interface of models, never their names. Imports models and schema; kernels and
samplers load inside functions.
"""
