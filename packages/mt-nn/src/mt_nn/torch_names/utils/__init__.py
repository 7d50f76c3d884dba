"""`torch.utils`: data, activation checkpointing, and logs for TensorBoard."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mt_nn.torch_names.utils import checkpoint, data, tensorboard
