"""Differential fuzzing: random programs run here and on torch, compared after every step."""
