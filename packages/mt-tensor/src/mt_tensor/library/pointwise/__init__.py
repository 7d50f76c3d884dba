"""Element-wise functions with settings, fused functions, and forms in place."""
