"""`torch.backends.cudnn`: settings that programs may make; results never depend on them."""

from mt_nn.torch_names import _mirror

enabled = True
allow_tf32 = True
benchmark = False
deterministic = False


def is_available() -> bool:
    """Whether convolutions are cuDNN's: they are mt-cuda's."""
    return False


_mirror.finish(__name__)
