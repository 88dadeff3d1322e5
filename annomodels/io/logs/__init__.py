"""Readers of evaluation logs: what judges, scorers and models said of samples.

As in ``tools``, ``is_...(source, options)`` looks and ``read_...(source, options, found)`` fills
`found`. They may import ``tools/judgements.py``, files above it in ``io``, errors and validation.
"""
