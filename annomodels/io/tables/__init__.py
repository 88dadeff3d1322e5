"""Tables of cells: how they are written in files, and how items, coders and labels lie in them.

May import what stands above it in ``io`` (border, archives, objects), and errors and data.
"""
