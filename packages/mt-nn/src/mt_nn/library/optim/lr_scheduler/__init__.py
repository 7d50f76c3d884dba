"""Schedules of the learning rate."""
