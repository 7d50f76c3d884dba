"""Tensors side by side in one array, which is what ranks send to each other.

One long message takes less time than many short ones. float16 and bfloat16 travel as float32, in
which they add up without overflow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from mt_nn.parallel.group import Buffer, Group
from mt_tensor import DType, Tensor, float32, get_backend, zeros
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

    def put(self, place: int, tensor: Tensor | None) -> None:
        """Copy a tensor to its place; or zeros, if there is none."""
        part = self._parts[place]
        if tensor is None:
            part.zero_()
        else:
            _copy(tensor, part)

    def take(self, place: int, tensor: Tensor) -> None:
        """Copy what is at a place into a tensor."""
        _copy(self._parts[place], tensor)


def _copy(source: Tensor, target: Tensor) -> None:
    """Copy elements as the backend does: `copy_` would look at what does not matter here."""
    if source.backend is not target.backend:
        source = source.detach().to(target.backend)
    target.backend.copy(source._tensor, target._tensor)
    target._tensor.bump_version()


class Broadcast:
    """Gives all ranks the elements of the tensors of one rank, as often as it is called.

    Args:
        group: the ranks.
        tensors: which; a message for each type.
    """

    def __init__(self, group: Group, tensors: Sequence[Tensor]) -> None:
        self.tensors = tensors
        self._group = group
        alike: dict[tuple[DType, TensorBackend], list[Tensor]] = {}
        for tensor in tensors:
            alike.setdefault((traveling(tensor.dtype), tensor.backend), []).append(tensor)
        self._messages = [
            (Packed(group, [tensor.shape for tensor in some], *kind), some)
            for kind, some in alike.items()
        ]

    def __call__(self, what: str, root: int = 0) -> None:
        """Send the tensors of the rank `root`; `what` they are is for messages."""
        for packed, tensors in self._messages:
            if self._group.rank == root:
                for place, tensor in enumerate(tensors):
                    packed.put(place, tensor)
            self._group.broadcast(packed.buffer, what, root)
            if self._group.rank != root:
                for place, tensor in enumerate(tensors):
                    packed.take(place, tensor)


def broadcast(group: Group, tensors: Iterable[Tensor], what: str, root: int = 0) -> None:
    """Give all ranks the elements of the tensors of one rank, once."""
    if group.size > 1:
        Broadcast(group, [*tensors])(what, root)
