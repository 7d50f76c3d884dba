"""How tensors are printed."""
