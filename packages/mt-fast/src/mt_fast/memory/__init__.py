"""Memory that starts at a cache line."""
