"""Formulas whose results replace their arguments, as in steps of optimizers."""
