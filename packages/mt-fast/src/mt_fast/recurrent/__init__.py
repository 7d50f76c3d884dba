"""Recurrent layers: all steps in one kernel."""
