"""`torch.nn.utils.clip_grad`: clipping of gradients."""

from mt_nn.utils.clipping import *
