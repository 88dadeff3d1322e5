"""What a person sees in a terminal: rows, prose, words. Text in, text out; nothing is computed.

Files here import nothing of the package but each other, so that every command may use them.
"""
