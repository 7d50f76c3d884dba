"""`torch.nn.utils.clip_grad`: gradients that do not grow too large."""

from mt_nn.torch_names import _mirror
from mt_nn.utils.clipping import *

_mirror.finish(__name__)
