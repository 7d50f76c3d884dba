"""Gather and scatter of whole slices."""
