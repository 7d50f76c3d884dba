"""`torch.backends.mps`: GPUs of Apple's, which no backend is for."""


def is_available() -> bool:
    """Return whether tensors can be there: they cannot."""
    return False


is_built = is_available
