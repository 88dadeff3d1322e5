"""Models whose items are in one of several states: what coders perceive is a mixture.

Imports what models may import; the family is written in ``state_model.py`` and ``layout.py``.
"""
