"""Tensors side by side in one array, which is what ranks send to each other.

One long message takes less time than many short ones. float16 and bfloat16 travel as float32, in
which they add up without overflow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from mt_nn.library.parallel.group import Buffer, Group
from mt_tensor import DType, Tensor, float32, get_backend, no_grad, zeros
from mt_tensor.backends import TensorBackend


def traveling(dtype: DType) -> DType:
    """Return the type in which elements of a type are sent."""
    return float32 if dtype.is_narrow else dtype


class Packed:
    """Room for tensors of one type, one after the other.

    It is memory of the tensors' own backend if messages can be sent from there, else of the host.

    Args:
        group: the ranks.
        shapes: those of the tensors.
        dtype: the type in which they travel.
        backend: that of the tensors.

    Attributes:
        tensor: all of the room, 1-D.
        buffer: the same, as a group takes it.
    """

    def __init__(
        self, group: Group, shapes: Sequence[tuple[int, ...]], dtype: DType, backend: TensorBackend
    ) -> None:
        ends = np.cumsum([0, *map(math.prod, shapes)]).tolist()
        tensor = zeros(ends[-1], dtype=dtype, backend=backend)
        if not group.reaches(backend) and not isinstance(tensor._tensor.storage, np.ndarray):
            tensor = tensor.to(get_backend("numpy"))
        self.tensor = tensor
        self.buffer: Buffer = tensor if group.reaches(backend) else tensor.numpy()
        self._parts = [
            tensor[start:end].view(shape)
            for start, end, shape in zip(ends, ends[1:], shapes, strict=False)
        ]

    @no_grad()
    def put(self, place: int, tensor: Tensor | None) -> None:
        """Copy a tensor to its place; or zeros, if there is none."""
        if tensor is None:
            self._parts[place].zero_()
        else:
            self._parts[place].copy_(tensor.detach())

    @no_grad()
    def take(self, place: int, tensor: Tensor) -> None:
        """Copy what is at a place into a tensor."""
        tensor.detach().copy_(self._parts[place])


def broadcast(group: Group, tensors: Iterable[Tensor], what: str, root: int = 0) -> None:
    """Give all ranks the elements of the tensors of one rank, a message for each type."""
    if group.size == 1:
        return
    alike: dict[tuple[DType, TensorBackend], list[Tensor]] = {}
    for tensor in tensors:
        alike.setdefault((traveling(tensor.dtype), tensor.backend), []).append(tensor)
    for (dtype, backend), some in alike.items():
        packed = Packed(group, [tensor.shape for tensor in some], dtype, backend)
        if group.rank == root:
            for place, tensor in enumerate(some):
                packed.put(place, tensor)
        group.broadcast(packed.buffer, what, root)
        if group.rank != root:
            for place, tensor in enumerate(some):
                packed.take(place, tensor)
