"""Models with difficulties, places on a scale or logits, which NUTS alone serves.

Imports what models may import; a compiled density is next to its model.
"""
