"""Functions of networks beyond convolution, pooling, dropout and the loss of classes."""
