"""Labels, and who gave them to which item: checked, coded, frozen; and the tree of results.

Everything imports from here; nothing here imports anything but errors, types and limits.
"""
