"""Memory of a GPU: caching, running out of it, and access by other libraries."""
