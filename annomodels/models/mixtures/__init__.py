"""Models whose items are in one of several states: coders perceive a mixture.

Imports what models may import; the family is written in state_model.py and layout.py.
"""
