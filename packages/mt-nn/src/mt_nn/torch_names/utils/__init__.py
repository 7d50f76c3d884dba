"""`torch.utils`: data."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mt_nn.torch_names.utils import data
