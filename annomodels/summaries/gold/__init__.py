"""Gold labels: most probable label of each item, and why it is that.

Imports draws and what coders are worth; knows nothing of checks or of further labels.
"""
