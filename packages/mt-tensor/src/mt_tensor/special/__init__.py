"""Special functions that NumPy lacks, on arrays."""
