"""`torch.nn.utils.clip_grad`: gradients that do not grow too large."""

from mt_nn.utils.clipping import *
