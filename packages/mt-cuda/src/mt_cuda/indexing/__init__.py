"""Indices that are checked on the device, and embeddings."""
