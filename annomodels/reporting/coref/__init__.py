"""The page on coreference: agreement, ambiguous places, coders, silver chains.

May import what the report may, and ``annomodels.coref``; only the command line imports it.
"""
