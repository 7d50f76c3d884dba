"""Tensors to and from elsewhere: other types and backends, NumPy, text."""
