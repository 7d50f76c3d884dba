"""Gradients as results, matrices of derivatives, and checks of derivatives."""
