"""`torch.ao`: quantization."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mt_nn.torch_names.ao import quantization
