"""Annotations (checked, coded, frozen) and the result tree.

Everything imports from here; nothing here imports anything but errors, types and limits.
"""
