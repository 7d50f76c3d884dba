"""`torch.linalg`: linear algebra."""

from mt_nn.torch_names import _mirror
from mt_tensor.linalg import *

_mirror.finish(__name__)
