"""Tensors to and from elsewhere: other types and backends, shared memory, copies, text."""
