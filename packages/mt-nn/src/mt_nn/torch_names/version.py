"""`torch.version`: which version this is, and of which GPUs' libraries: of none."""

from mt_nn import __version__
from mt_nn.torch_names import _mirror

cuda = None
hip = None

_mirror.finish(__name__)
