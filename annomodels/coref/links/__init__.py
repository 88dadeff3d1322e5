"""To a model of links and back: candidates of the mentions, and silver chains as a layer.

May import what `coref` may, and the coref files of documents and their views.
"""
