"""Making tensors of what there is, or filled with a number."""
