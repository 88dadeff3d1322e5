"""Location of the labels: a whole cut into partitions, in memory, on disk or on a cluster.

Jobs go to where a partition lies; small results come back. Imports models, executors and `kept`,
no engine.
"""
