"""A program to read and to run: one network trained on several backends."""
