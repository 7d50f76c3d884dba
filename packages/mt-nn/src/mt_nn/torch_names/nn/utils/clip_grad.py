"""`torch.nn.utils.clip_grad`: gradients that do not grow too large."""

from mt_nn.library.utils.clipping import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
