"""The page a lead forwards: one HTML file that needs no network and no script to be read.

``facts`` computes every summary when it is asked for, ``sections`` lay them out, ``page`` takes the
sections for which a fit gives what they need and writes the file. May import everything but the
command line; nothing but the command line imports it.
"""
