"""`torch.utils.checkpoint`: recompute activations in backward instead of keeping them."""

from mt_tensor.autograd.checkpointing import *
