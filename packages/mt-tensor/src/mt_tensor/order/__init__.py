"""Cumulative operations, sorting, searching, counting, quantiles and differences."""
