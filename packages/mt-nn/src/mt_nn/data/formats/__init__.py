"""Readers of published formats. What a file says of its own size is not believed."""
