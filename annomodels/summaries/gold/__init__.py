"""Gold labels: the most probable label of each item, its reasons, and expected errors.

Imports draws and skills, but not checks or next labels.
"""
