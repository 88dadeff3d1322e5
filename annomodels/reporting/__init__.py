"""The page a lead forwards: one HTML file that needs no network and no script to be read.

``collect`` computes every summary once, ``tables`` and ``figures`` lay them out, ``page`` writes
the file. May import everything but the command line; nothing but the command line imports it.
"""
