"""What coders' judgments say about the true interpretations of mentions, and about the coders.

May import what `coref` may, and the coref files of documents and their views.
"""
