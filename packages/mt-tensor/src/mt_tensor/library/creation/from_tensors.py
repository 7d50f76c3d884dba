"""New tensors after the model of one: of its element type and on its backend.

The functions that make tensors need `Tensor` itself, and so are imported when they are called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from mt_tensor.creation.from_rules import Options
from mt_tensor.public import method
from mt_tensor.tensor import Tensor


@method
def new(self: Tensor, *given: Any) -> Tensor:
    """Return a tensor of sizes or of data, of this element type and on this backend."""
    from mt_tensor.library.creation.typed import of_sizes_or_data

    return of_sizes_or_data(given, self.dtype, self.backend)


@method
def new_tensor(self: Tensor, data: Any, **options: Unpack[Options]) -> Tensor:
    """Return a new tensor with a copy of `data`; see `mt_tensor.tensor`."""
    from mt_tensor.creation.from_data import tensor
    from mt_tensor.creation.from_rules import after

    return tensor(data, **after(self, options))


@method
def new_empty(self: Tensor, *sizes: Any, size: Any = None, **options: Unpack[Options]) -> Tensor:
    """Return a tensor with arbitrary elements; see `mt_tensor.empty`."""
    from mt_tensor.creation.from_rules import after, empty

    return empty(*sizes, size=size, **after(self, options))


@method
def new_full(
    self: Tensor, size: Sequence[int], fill_value: Any, **options: Unpack[Options]
) -> Tensor:
    """Return a tensor in which every element is `fill_value`; see `mt_tensor.full`."""
    from mt_tensor.creation.from_rules import after, full

    return full(size, fill_value, **after(self, options))


@method
def new_zeros(self: Tensor, *sizes: Any, size: Any = None, **options: Unpack[Options]) -> Tensor:
    """Return a tensor of zeros; see `mt_tensor.zeros`."""
    from mt_tensor.creation.from_rules import after, zeros

    return zeros(*sizes, size=size, **after(self, options))


@method
def new_ones(self: Tensor, *sizes: Any, size: Any = None, **options: Unpack[Options]) -> Tensor:
    """Return a tensor of ones; see `mt_tensor.ones`."""
    from mt_tensor.creation.from_rules import after, ones

    return ones(*sizes, size=size, **after(self, options))
