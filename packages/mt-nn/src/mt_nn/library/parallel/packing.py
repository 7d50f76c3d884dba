"""Tensors side by side in one array on the host, which is what ranks send to each other.

One long message takes less time than many short ones. float16 and bfloat16 travel as float32, in
which they add up without overflow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from mt_nn.library.parallel.group import Group
from mt_tensor import DType, Tensor, from_numpy, no_grad
from mt_tensor.extending import Array


def traveling(dtype: DType) -> npt.DTypeLike:
    """Return the NumPy type in which elements of a type are sent."""
    return np.dtype(np.float32) if dtype.is_narrow else np.dtype(dtype.numpy)


class Packed:
    """Room for tensors of one type, one after the other.

    Args:
        shapes: those of the tensors.
        dtype: the type in which they travel.
    """

    def __init__(self, shapes: Sequence[tuple[int, ...]], dtype: npt.DTypeLike) -> None:
        ends = np.cumsum([0, *map(math.prod, shapes)]).tolist()
        self.array: Array = np.zeros(ends[-1], dtype)
        self._parts = [
            self.array[start:end].reshape(shape)
            for start, end, shape in zip(ends, ends[1:], shapes, strict=False)
        ]

    def put(self, place: int, tensor: Tensor | None) -> None:
        """Copy a tensor to its place; or zeros, if there is none."""
        part = self._parts[place]
        if tensor is None:
            part[...] = 0
        else:
            tensor = tensor.detach()
            np.copyto(part, (tensor.float() if tensor.dtype.is_narrow else tensor).numpy())

    @no_grad()
    def take(self, place: int, tensor: Tensor) -> None:
        """Copy what is at a place into a tensor."""
        tensor.detach().copy_(from_numpy(self._parts[place], backend=tensor.backend))


def broadcast(group: Group, tensors: Iterable[Tensor], what: str, root: int = 0) -> None:
    """Give all ranks the elements of the tensors of one rank, a message for each type."""
    if group.size == 1:
        return
    by_type: dict[npt.DTypeLike, list[Tensor]] = {}
    for tensor in tensors:
        by_type.setdefault(traveling(tensor.dtype), []).append(tensor)
    for dtype, alike in by_type.items():
        packed = Packed([tensor.shape for tensor in alike], dtype)
        if group.rank == root:
            for place, tensor in enumerate(alike):
                packed.put(place, tensor)
        group.broadcast(packed.array, what, root)
        if group.rank != root:
            for place, tensor in enumerate(alike):
                packed.take(place, tensor)
