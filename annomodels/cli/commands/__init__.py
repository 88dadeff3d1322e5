"""One command per file, the tables of a saved fit in one; a file is imported at first use."""
