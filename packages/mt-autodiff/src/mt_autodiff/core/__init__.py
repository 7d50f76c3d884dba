"""The lesson of stage 1; the README gives the order in which to read it."""
