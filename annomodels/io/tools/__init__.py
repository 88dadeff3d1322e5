"""Readers of the exports of labeling tools: one file for each family of formats.

Each has ``is_...(source, options)``, which looks, and ``read_...(found)``, which fills the records
`found`. They may import the files above them in ``io``, and errors and validation.
"""
