"""Models with difficulties, places on a scale or logits, which NUTS alone serves.

Imports what models may import; a density in compiled loops stands beside the model it is of.
"""
