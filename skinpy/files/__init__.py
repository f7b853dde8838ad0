"""Files that are written, whole or not at all, and series of files that are read as one animation."""
