"""One command per file; a file is imported when its command is used."""
