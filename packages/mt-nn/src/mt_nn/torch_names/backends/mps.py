"""`torch.backends.mps`: GPUs of Apple, for which there is no backend."""


def is_available() -> bool:
    """Return False: this backend does not exist here."""
    return False


is_built = is_available
