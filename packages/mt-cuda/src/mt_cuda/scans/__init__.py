"""Cumulative sums, products and extremes; linear recurrences."""
