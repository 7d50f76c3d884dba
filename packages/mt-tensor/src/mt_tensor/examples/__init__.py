"""Programs to read and to run: a network of tensors that learns."""
