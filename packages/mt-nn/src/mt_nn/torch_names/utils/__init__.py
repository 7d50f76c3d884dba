"""`torch.utils`: data."""

from typing import TYPE_CHECKING

from mt_nn.torch_names import _mirror

if TYPE_CHECKING:
    from mt_nn.torch_names.utils import data

_mirror.finish(__name__)
