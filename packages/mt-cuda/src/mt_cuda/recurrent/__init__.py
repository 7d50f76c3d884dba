"""Recurrent layers: the kernels of one step, forward and backward."""
