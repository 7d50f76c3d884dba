"""`torch.backends.cudnn`: settings that programs may make; results never depend on them."""

enabled = True
allow_tf32 = True
benchmark = False
deterministic = False


def is_available() -> bool:
    """Return whether convolutions are cuDNN's: they are mt-cuda's."""
    return False
