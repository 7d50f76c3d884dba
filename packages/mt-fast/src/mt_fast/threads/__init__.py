"""Numba's threads: how they start, wait, and survive forks."""
