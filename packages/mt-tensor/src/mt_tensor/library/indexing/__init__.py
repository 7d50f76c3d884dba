"""Filling, finding and scattering elements."""
