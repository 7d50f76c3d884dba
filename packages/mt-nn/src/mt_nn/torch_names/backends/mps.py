"""`torch.backends.mps`: GPUs of Apple, for which there is no backend."""


def is_available() -> bool:
    """Return False, since there is no such backend."""
    return False


is_built = is_available
