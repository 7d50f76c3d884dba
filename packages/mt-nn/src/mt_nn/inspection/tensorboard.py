"""`SummaryWriter`: logs for TensorBoard, written by the package tensorboardX.

pip install "mt-nn[tensorboard]"
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mt_nn.errors import packages_needed
from mt_tensor import Tensor
from mt_tensor.backends.extending import map_leaves

with packages_needed("SummaryWriter needs tensorboardX: pip install 'mt-nn[tensorboard]'."):
    import tensorboardX

__all__ = ["SummaryWriter"]


class SummaryWriter(tensorboardX.SummaryWriter):  # type: ignore[misc]
    """A `tensorboardX.SummaryWriter` whose methods take tensors in place of arrays.

    Its arguments, and its methods such as `add_scalar`, are described in the documentation of
    tensorboardX, <https://tensorboardx.readthedocs.io>.
    """


def _taking_tensors(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        return method(*map_leaves(list(args), _array), **map_leaves(kwargs, _array))

    return called


def _array(value: Any) -> Any:
    """Return a tensor as an array; return other values unchanged."""
    if not isinstance(value, Tensor):
        return value
    value = value.detach()
    return (value.float() if value.dtype.is_narrow else value).cpu().numpy()


for _name in dir(tensorboardX.SummaryWriter):
    if _name.startswith("add_"):
        setattr(SummaryWriter, _name, _taking_tensors(getattr(tensorboardX.SummaryWriter, _name)))
