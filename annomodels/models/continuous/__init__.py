"""Models with difficulties, positions on a scale or logits, for NUTS only.

The rules of imports are those of the models; a compiled density is next to its model.
"""
