"""Mutation testing of the packages with cosmic-ray: samples, and the tests that run on a mutant."""
