"""Summaries of networks, and profiling."""
