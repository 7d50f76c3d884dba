"""The lesson of stage 0; the README gives the order in which to read it."""
