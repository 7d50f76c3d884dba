"""Formulas whose results replace their arguments, as steps of optimizers do."""
