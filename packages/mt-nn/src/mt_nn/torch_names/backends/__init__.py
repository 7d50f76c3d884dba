"""`torch.backends`: what libraries behind torch are asked and told; none of them is used here."""

from typing import TYPE_CHECKING


if TYPE_CHECKING:
    from mt_nn.torch_names.backends import cuda, cudnn, mps
