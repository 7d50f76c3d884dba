"""The `numpy` backend: every primitive as calls of NumPy over whole arrays, or blocks of them."""
