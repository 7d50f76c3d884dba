"""Dtypes that NumPy lacks."""
