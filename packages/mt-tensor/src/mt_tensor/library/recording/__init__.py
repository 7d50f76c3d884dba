"""Hooks, and gradients of tensors that share memory."""
