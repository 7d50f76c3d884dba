"""Whole slices read and added by index."""
