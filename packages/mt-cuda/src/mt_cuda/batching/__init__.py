"""Small operations on many tensors in one launch, for optimizers."""
