"""Readers of common file formats. Sizes in headers are not trusted."""
