"""The arguments of a compiled function, and the key under which its programs are cached."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_autodiff.core.mode import recording
from mt_tensor.core.dtypes import get_default_dtype
from mt_tensor.core.extensions import AUTOCAST_BLOCKS
from mt_tensor.core.registry import current_backend
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.mixed_precision.precision import active_precisions
from mt_tensor.products.precision import get_float32_matmul_precision
from mt_tensor.programs.comparison import CONSTANT
from mt_tensor.programs.pytree import exact_key, flattened, structure_of
from mt_tensor.programs.storages import alias_group, pattern_of, storage_key


class Arguments:
    """The arguments of a call.

    Attributes:
        args, kwargs: the arguments.
        leaves: the values in nested containers, in order.
        data: the leaves, with their `TensorData` in place of tensors.
        groups: the alias group of each tensor.
        key: equal for calls that may run the same program: structure, layouts, values and modes.
    """

    __slots__ = ("args", "data", "groups", "key", "kwargs", "leaves")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args = args
        self.kwargs = kwargs
        self.leaves = flattened((args, kwargs) if kwargs else args)
        self.data: list[Any] = []
        self.groups: list[Any] = []
        key: list[Any] = []
        ids: list[int] = []
        for leaf in self.leaves:
            data = leaf
            if isinstance(leaf, Tensor):
                data = leaf._tensor
                layout: Any = data.layout
                requires_grad = leaf.requires_grad
                if layout.contiguous is not layout and not requires_grad:
                    data = _from_offset_zero(data)
                    layout = data.layout
                self.groups.append(alias_group(data.storage))
                if layout.contiguous is not layout:  # only contiguous layouts are always shared
                    layout = (layout.dtype, layout.shape, layout.strides, layout.offset)
                history = leaf._node is None, leaf._grad is None
                key.append((type(leaf), layout, leaf.backend, leaf.name, requires_grad, *history))
                ids.append(id(leaf))
            elif isinstance(leaf, CONSTANT):
                key.append(exact_key(leaf))
            else:
                key.append(id(leaf))  # a program keeps it alive: see `objects`
            self.data.append(data)
        aliases = None
        if len(ids) > 1:
            keys = [storage_key(each.storage) for each in self.data if isinstance(each, TensorData)]
            aliases = pattern_of(self.groups), pattern_of(keys), pattern_of(ids)
        seen: dict[int, int] = {}
        self.key = (
            tuple(key),
            tuple([structure_of(each, seen) for each in args]),
            structure_of(kwargs, seen) if kwargs else None,
            aliases,
            recording.get(),
            _autocast_dtypes() if AUTOCAST_BLOCKS.count else None,
            get_default_dtype(),
            current_backend(),
            get_float32_matmul_precision(),
        )

    def release(self) -> None:
        """Drop the tensors, which keep memory alive; keys can still be compared."""
        self.args, self.kwargs, self.data = (), {}, []
        self.leaves = [leaf for leaf in self.leaves if not isinstance(leaf, Tensor)]

    def difference(self, other: Arguments) -> str:
        """Return why the arguments of another call need another program, or "" if they do not."""
        if self.key == other.key:
            return ""
        for position, (a, b) in enumerate(zip(self.key[0], other.key[0], strict=False)):
            if a != b:
                is_tensor = isinstance(a, tuple) and len(a) > 3
                what = "shape: pass tensors of one shape" if is_tensor else "value: pass a tensor"
                return f"argument {position} has another {what}"
        return "arguments have another structure, or a mode differs"

    @property
    def objects(self) -> list[Any]:
        """The leaves that are compared by identity; a program keeps them alive."""
        return [x for x in self.leaves if not isinstance(x, (Tensor, *CONSTANT))]


def _autocast_dtypes() -> Any:
    return tuple(
        (device, None if each is None else each.dtype)
        for device, each in active_precisions.get().items()
    )


def _from_offset_zero(data: TensorData) -> TensorData:
    """Return the same view with offset 0, as a view of the part of the array that starts with it.

    A program then does not depend on the offset, such as that of a batch in a dataset.
    """
    layout = data.layout
    if not layout.offset or min(layout.strides) < 0 or not isinstance(data.storage, np.ndarray):
        return data
    part = data.with_layout(layout.like(layout.shape, layout.strides, 0))  # of the same version
    sizes = zip(layout.shape, layout.strides, strict=True)
    last = layout.offset + sum(stride * (size - 1) for size, stride in sizes)
    part._storage = data.storage[layout.offset : last + 1]
    return part
