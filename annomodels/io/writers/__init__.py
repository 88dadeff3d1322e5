"""Write gold labels, soft labels and judgments in layouts that tools import.

``catalog.py`` lists them. May import errors, validation, annotations and the rest of ``io``.
"""
