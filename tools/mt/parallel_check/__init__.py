"""`mt parallel-check`: Numba's parallel diagnostics of the loops of mt-fast's course."""
