"""Readers and writers of documents with coreference: one module per format family.

May import the parent modules in ``io``, and errors and data.
"""
