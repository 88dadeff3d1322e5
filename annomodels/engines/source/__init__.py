"""Where the labels are: a whole cut into partitions, in memory, on disk or on a cluster.

Jobs go to where a partition lies; what comes back is small. Imports models, executors and what
chains keep, no engine.
"""
