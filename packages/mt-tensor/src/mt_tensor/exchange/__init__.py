"""Conversion, copies, printing, and exchange of memory with other libraries."""
