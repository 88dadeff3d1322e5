"""Readers and writers of documents with coreference: one file for each family of formats.

May import the files above it in ``io``, and errors and data.
"""
