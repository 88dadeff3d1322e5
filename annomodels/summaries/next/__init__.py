"""Labels to ask for next: what they would be worth, of which items, by whom.

Imports draws, coders and gold; knows nothing of checks.
"""
