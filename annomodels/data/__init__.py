"""Labels, and who gave them to which item: checked, coded, frozen; and the tree of results.

``errors`` aside, everything imports from here, and nothing here imports from anywhere else.
"""
