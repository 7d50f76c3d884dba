"""`torch.utils`: data, and activation checkpointing."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mt_nn.torch_names.utils import checkpoint, data
