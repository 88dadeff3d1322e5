"""From a result tree to tables: gold, coders, items, agreement, checks.

Imports the schema, the coefficients and the models; knows nothing of engines, plots or reports.
"""
