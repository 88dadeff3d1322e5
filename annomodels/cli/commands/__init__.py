"""Commands, one or two per file; a file is imported on first use."""
