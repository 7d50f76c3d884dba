"""Extremes, norms, softmax, statistics and truth."""
