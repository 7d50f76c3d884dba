"""Random numbers: the default generator, random tensors, and sampling."""
