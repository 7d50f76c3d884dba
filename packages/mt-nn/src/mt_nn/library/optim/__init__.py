"""Optimizers beyond SGD and Adam, schedules of the learning rate, and averages of models."""
