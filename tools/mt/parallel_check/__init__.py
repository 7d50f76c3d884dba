"""`mt parallel-check`: what Numba has made of the loops of mt-fast's course."""
