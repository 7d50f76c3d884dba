"""torch's names of layouts and memory formats."""

from __future__ import annotations

from enum import Enum

from mt_tensor.core.extensions import extends
from mt_tensor.core.tensor import Tensor


class layout(Enum):  # noqa: N801 - torch's name
    """The layout of tensors; sparse ones are not supported."""

    strided = "torch.strided"


class memory_format(Enum):  # noqa: N801 - torch's name
    """Orders of the elements in memory."""

    contiguous_format = "torch.contiguous_format"
    preserve_format = "torch.preserve_format"
    channels_last = "torch.channels_last"
    channels_last_3d = "torch.channels_last_3d"


def layout_of(self: Tensor) -> layout:  # noqa: ARG001 - the same for all tensors
    """The layout of the tensor, `strided`."""
    return layout.strided


@extends("order of a memory format")
def has_format(x: Tensor, order: memory_format) -> bool:
    """Return whether the elements are in the order of a format, without gaps."""
    dims = {memory_format.channels_last: 4, memory_format.channels_last_3d: 5}.get(order)
    if dims is None:
        return x.is_contiguous()
    return x.ndim == dims and x.movedim(1, -1).is_contiguous()
