"""How inference is done: a model and annotations in, a ``RawResult`` of arrays out.

Engines know the contract of the models, never their names. Imports models and schema; the kernels
and the samplers are loaded inside functions.
"""
