"""The libraries that run programs, with access to the properties of their values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import mt_nn.torch_names
import mt_tensor as mt
from mt_tensor.core.dtypes import Array

Names = dict[str, Any]
"""The namespace of a program."""


class Ours:
    """This project."""

    module: Any = mt_nn.torch_names
    tensor: type = mt.Tensor

    def array(self, x: Any) -> Array:
        """Return the elements, possibly as a view."""
        return np.asarray(x.detach())

    def memory(self, x: Any) -> int | None:
        """Return an id for the memory of a tensor; None if it has no elements."""
        owner = x._tensor.storage
        while isinstance(owner, np.ndarray) and isinstance(owner.base, np.ndarray):
            owner = owner.base
        return id(owner) if x.numel() else None


class Torch:
    """torch, the oracle."""

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        self.module: Any = torch
        self.tensor: type = torch.Tensor

    def array(self, x: Any) -> Array:
        """Return the elements, as a view."""
        x = x.detach()
        array: Array = (x.clone() if x._is_zerotensor() else x).numpy()
        return array

    def memory(self, x: Any) -> int | None:
        """Return an id for the memory of a tensor; None if it has no elements."""
        if not x.numel() or x._is_zerotensor():  # zero tensors have no memory
            return None
        return int(x.untyped_storage().data_ptr())


Library = Ours | Torch


def namespace(library: Library) -> Names:
    """Return the initial namespace of a program."""
    return {"torch": library.module, "inf": math.inf, "nan": math.nan}


def tensors_of(name: str, value: Any, library: Library) -> dict[str, Any]:
    """Return the tensors of a result by name: itself, or those in a tuple or list."""
    if isinstance(value, library.tensor):
        return {name: value}
    if isinstance(value, tuple | list):
        return {
            f"{name}[{i}]": part for i, part in enumerate(value) if isinstance(part, library.tensor)
        }
    return {}


def plain(value: Any, library: Library) -> Any:
    """Return the parts of a result that are not tensors, in a form common to both libraries."""
    if isinstance(value, library.tensor):
        return "a tensor"
    if isinstance(value, tuple | list):
        return [plain(part, library) for part in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    name = type(value).__name__
    return str(value).rpartition(".")[2] if name.lower() == "dtype" else "an object"


def lay_out(tensor: Any, strides: tuple[int, ...]) -> None:
    """Give a new tensor of torch the memory layout of ours, without an operation in its graph."""
    if tuple(tensor.stride()) != tuple(strides) and tensor.numel() and min(strides) > 0:
        tensor.data = tensor.new_empty_strided(tensor.shape, strides).copy_(tensor.detach())
