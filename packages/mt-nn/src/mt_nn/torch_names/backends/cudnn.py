"""`torch.backends.cudnn`: settings without an effect."""

enabled = True
allow_tf32 = True
benchmark = False
deterministic = False


def is_available() -> bool:
    """Return False: convolutions on a GPU are those of mt-cuda."""
    return False
