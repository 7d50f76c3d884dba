"""Create tensors from data, numbers, ranges and other tensors."""
