"""Example programs: a trainable network of tensors."""
