"""Executors of work: here, in threads, in processes, on a cluster.

Imports errors only. Work is a function and its arguments; what is computed is not known here.
"""
