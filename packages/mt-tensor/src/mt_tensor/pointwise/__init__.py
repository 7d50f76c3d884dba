"""Elementwise operations: the operator table with torch's arguments, in-place forms and fusion."""
