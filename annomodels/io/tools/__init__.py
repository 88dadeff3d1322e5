"""Readers for exports of labeling tools: one module per family of formats.

In each, ``is_...(source, options)`` detects the format, and ``read_...(found)`` fills the records
`found`. They may import the modules above them in ``io``, errors and validation.
"""
