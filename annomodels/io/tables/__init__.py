"""Tables of cells: how they are written in files, and how items, coders and labels lie in them.

May import what stands above it in ``io`` (border, objects), and errors and data.
"""
