"""Batch, layer, RMS and group normalization."""
