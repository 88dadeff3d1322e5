"""Items: how uncertain each is, why, and what would help.

Imports draws and what coders are worth; knows nothing of gold labels or checks.
"""
