"""`torch.nn.utils.clip_grad`: gradients that do not grow too large."""

from mt_nn.library.utils.clipping import *
