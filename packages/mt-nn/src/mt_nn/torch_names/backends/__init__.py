"""`torch.backends`: settings of libraries that torch uses."""

from typing import TYPE_CHECKING


if TYPE_CHECKING:
    from mt_nn.torch_names.backends import cuda, cudnn, mps
