"""Random programs on this project and on torch, compared behind every step."""
