"""Labels that do not fit into memory: streamed, coded, sorted and fitted block by block.

Imports io for columns, engines for passes and summaries for tables. Memory use does not grow with
the number of labels.
"""
