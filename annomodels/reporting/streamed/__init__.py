"""The page on a fit of a scan: what can be known where the labels do not fit into memory.

May import what the report may; it takes tables, figures and sentences from the other pages, and
says of the rest that it needs the labels in memory.
"""
