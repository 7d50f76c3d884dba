"""Code read as text. Nothing of it is imported, so that kernels of a GPU show on any machine."""
