"""`torch.utils.checkpoint`: computing activations again in the backward pass."""

from mt_nn.utils.checkpointing import checkpoint as checkpoint
