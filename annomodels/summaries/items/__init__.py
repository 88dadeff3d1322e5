"""Summaries of items: uncertainty, its reasons and remedies.

Imports draws and skills, but not gold labels or checks.
"""
