"""Table formats, and the layout of items, coders and labels in tables.

May import the modules above it in ``io`` (border, objects), errors and data.
"""
