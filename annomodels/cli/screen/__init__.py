"""What a person sees in a terminal: rows, prose, words. Text in, text out; nothing is computed.

Files here import nothing of the package but each other and what columns are, so that every command
may use them.
"""
