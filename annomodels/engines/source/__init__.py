"""Location of the labels: partitions in memory, on disk or on a cluster.

Jobs run where a partition is; small results come back. Imports models, executors and `kept`,
no engine.
"""
