"""Random numbers: their source, tensors of them, and drawing with tensors."""
