"""`torch.backends.mps`: GPUs of Apple's, which no backend is for."""

from mt_nn.torch_names import _mirror


def is_available() -> bool:
    """Whether tensors can be there: they cannot."""
    return False


is_built = is_available

_mirror.finish(__name__)
