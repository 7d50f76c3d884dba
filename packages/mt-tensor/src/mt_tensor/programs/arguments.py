"""What a compiled function is called with, and what must be the same for a program to be run."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_autodiff.core.mode import recording
from mt_tensor.core.dtypes import get_default_dtype
from mt_tensor.core.extensions import BLOCKS
from mt_tensor.core.registry import current_backend
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.mixed_precision.precision import asked
from mt_tensor.products.precision import get_float32_matmul_precision
from mt_tensor.programs.buffers import alias_group
from mt_tensor.programs.pytree import leaves_in, structure_of
from mt_tensor.programs.snapshot import CONSTANT


class Arguments:
    """The arguments of a call.

    Attributes:
        args, kwargs: as they were given.
        leaves: all that is in them, in order.
        data: for each leaf the elements, if it is a tensor.
        groups: of the memory of each tensor.
        key: what must be the same for a program to be run: structure, shapes, types and modes.
    """

    __slots__ = ("args", "data", "groups", "key", "kwargs", "leaves")

    def __init__(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.args = args
        self.kwargs = kwargs
        self.leaves = list(leaves_in((args, kwargs) if kwargs else args))
        self.data: list[Any] = []
        self.groups: list[Any] = []
        key: list[Any] = []
        ids: list[int] = []
        for leaf in self.leaves:
            if isinstance(leaf, Tensor):
                data = leaf._tensor
                layout = data.layout
                wanted = leaf.requires_grad
                if layout.contiguous is not layout and not wanted:
                    data = _from_offset_zero(data)
                    layout = data.layout
                self.data.append(data)
                self.groups.append(alias_group(data.storage))
                known = layout if layout.contiguous is layout else _facts(layout)
                history = leaf._node is None, leaf._grad is None
                key.append((known, leaf.backend, leaf.name, wanted, *history))
                ids.append(id(leaf))
            elif type(leaf) is float:
                self.data.append(leaf)
                key.append(leaf.hex())  # in which nan is equal, and 0.0 is not -0.0
            elif isinstance(leaf, CONSTANT):
                self.data.append(leaf)
                hashable = repr(leaf) if isinstance(leaf, slice) else leaf
                key.append((type(leaf), hashable))
            else:
                self.data.append(leaf)
                key.append(id(leaf))  # which stays its own: see `others`
        several = len(self.groups) > 1
        seen: dict[int, int] = {}
        self.key = (
            tuple(key),
            tuple([structure_of(each, seen) for each in args]),
            structure_of(kwargs, seen) if kwargs else None,
            (tuple(map(self.groups.index, self.groups)), tuple(map(ids.index, ids)))
            if several
            else None,
            recording.get(),
            _precision() if BLOCKS.count else None,
            get_default_dtype(),
            current_backend(),
            get_float32_matmul_precision(),
        )

    def without_elements(self) -> Arguments:
        """Return these arguments without tensors, which would keep their memory."""
        self.args, self.kwargs, self.data = (), {}, []
        self.leaves = [None if isinstance(leaf, Tensor) else leaf for leaf in self.leaves]
        return self

    def difference(self, other: Arguments) -> str:
        """Return how other arguments differ from these; nothing if they are of one program."""
        if self.key == other.key:
            return ""
        for position, (a, b) in enumerate(zip(self.key[0], other.key[0], strict=False)):
            if a != b:
                what = "another shape" if isinstance(a, tuple) and len(a) > 2 else "another value"
                return f"argument {position} has {what}: pass a tensor of one shape"
        return "arguments have another structure, or a mode differs"

    @property
    def others(self) -> list[Any]:
        """What is known by its identity, and kept alive by a program so that no other has it."""
        return [x for x in self.leaves if not isinstance(x, (Tensor, *CONSTANT))]


def _facts(layout: Any) -> Any:
    return layout.dtype, layout.shape, layout.strides, layout.offset


def _precision() -> Any:
    return tuple(
        (device, None if each is None else each.dtype) for device, each in asked.get().items()
    )


def _from_offset_zero(data: TensorData) -> TensorData:
    """Return a view of an array as one of the part of the array that begins where the view does.

    So a program does not depend on which part, such as which batch of a dataset, is given.
    """
    layout = data.layout
    if not layout.offset or min(layout.strides) < 0 or not isinstance(data.storage, np.ndarray):
        return data
    part = data.with_layout(layout.like(layout.shape, layout.strides, 0))  # of one version
    last = sum(
        stride * (size - 1) for size, stride in zip(layout.shape, layout.strides, strict=True)
    )
    part._storage = data.storage[layout.offset : layout.offset + last + 1]
    return part
