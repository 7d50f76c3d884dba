"""Tensors over arrays, from rules, after the model of others, and of a type by its name."""
