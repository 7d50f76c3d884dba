"""Tensors of one element where Python asks for a number or a truth value."""

from __future__ import annotations

from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import ShapeError


def __pos__(self: Tensor) -> Tensor:
    return self


def __bool__(self: Tensor) -> bool:
    if self.numel() != 1:
        raise ShapeError(
            f"the truth of a tensor of shape {self.shape} is not defined: use x.any() or x.all()."
        )
    return bool(self.item())


def __float__(self: Tensor) -> float:
    return float(self.item())


def __int__(self: Tensor) -> int:
    return int(self.item())


def __index__(self: Tensor) -> int:
    if self.dtype.kind == "float" or self.numel() != 1:
        raise TypeError(
            f"a tensor of {self.dtype.name} and shape {self.shape} cannot be used as an index: "
            "that takes a single integer."
        )
    return int(self.item())
