"""Readers of published data, vocabularies, and batches of sequences."""
