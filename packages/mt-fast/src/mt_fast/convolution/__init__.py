"""Convolution, forward and backward."""
