"""Memory that begins at a cache line."""
