"""Summaries of coders: accuracy, kind, answer rate and groups.

Imports draws and skills, but not items, gold labels or checks.
"""
