"""A program to read and to run: one training on several backends."""
