"""More ways to rearrange, join and split tensors."""
