"""Labels that do not fit into memory: streamed, coded, sorted and fitted block by block.

Imports io for the columns, engines for the passes and summaries for the tables; nothing here
holds a list that grows with the number of labels.
"""
