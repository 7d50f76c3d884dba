"""Reductions: extremes, products, norms, softmax, statistics and logical reductions."""
