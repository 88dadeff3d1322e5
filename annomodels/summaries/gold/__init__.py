"""Gold labels: most probable label of each item, why it is that, and how right the labels are.

Imports draws and what coders are worth; knows nothing of checks or of further labels.
"""
