"""`mt declare`: what type checkers and editors are told of the methods of `Tensor`."""
