"""Executors: in this thread, in several threads or on a cluster.

Imports errors only. A call is a function and its arguments; executors do not depend on the work.
"""
