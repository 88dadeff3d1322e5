"""Report page: one HTML file that needs no network, and no script to read it.

``facts`` computes each summary on first use, ``sections`` lay them out, and ``page`` selects the
sections that apply to a fit and writes the file. May import everything except the command line;
only the command line imports it.
"""
