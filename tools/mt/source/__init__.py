"""Source code as text. Nothing is imported, so that GPU kernels can be shown on any machine."""
