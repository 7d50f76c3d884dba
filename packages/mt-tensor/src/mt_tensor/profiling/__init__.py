"""Observing programs while they run."""
