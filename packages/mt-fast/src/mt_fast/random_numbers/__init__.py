"""Random numbers, drawn by all threads."""
