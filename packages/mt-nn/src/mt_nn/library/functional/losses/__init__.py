"""Losses of numbers, labels, likelihoods, sequences and similarities."""
