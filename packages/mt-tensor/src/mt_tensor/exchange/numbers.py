"""Conversion of tensors of one element to Python numbers and bools."""

from __future__ import annotations

from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import ShapeError


def __pos__(self: Tensor) -> Tensor:
    return self


def __bool__(self: Tensor) -> bool:
    if self.numel() != 1:
        raise ShapeError(
            f"bool() of a tensor of shape {self.shape} is not defined: use x.any() or x.all()."
        )
    return bool(self.item())


def __float__(self: Tensor) -> float:
    return float(self.item())


def __int__(self: Tensor) -> int:
    return int(self.item())


def __index__(self: Tensor) -> int:
    if self.dtype.kind == "float" or self.numel() != 1:
        raise TypeError(
            f"a {self.dtype.name} tensor of shape {self.shape} cannot be an index: only a single "
            "integer can."
        )
    return int(self.item())
