"""Hooks: functions that are called around the calls of modules and the steps of optimizers."""
