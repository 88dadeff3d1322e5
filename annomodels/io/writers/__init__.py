"""Ways back into tools: gold labels, soft labels and judgements in the layouts they import.

``catalog.py`` lists them. May import errors, validation, annotations and the rest of ``io``.
"""
