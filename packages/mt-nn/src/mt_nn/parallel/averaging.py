"""Averaging of gradients over all ranks, overlapped with backpropagation.

Gradients become complete from the last layer to the first. They are collected in *buckets* in that
order. As soon as a bucket is full, its sum is started, while earlier layers are still being
differentiated (Li et al. 2020, "PyTorch Distributed"). All ranks start the same sums in the same
order. After the last gradient, wait for all sums.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from mt_nn.core.parameter import Parameter
from mt_nn.errors import RankError
from mt_nn.parallel.group import Group, Pending
from mt_tensor import DType, Tensor, float32, get_backend, zeros
from mt_tensor.backends import TensorBackend
from mt_tensor.extending import Array

# --- Packing --------------------------------------------------------------------------------------


def transfer_dtype(dtype: DType) -> DType:
    """Return the dtype in which elements are sent: float32 for narrow floating-point dtypes."""
    return float32 if dtype.is_narrow else dtype


class Packed:
    """A contiguous buffer in host memory for several tensors of one dtype.

    Args:
        shapes: the shapes of the tensors.
        dtype: the dtype of the buffer.
        backend: the backend of the tensors.

    Attributes:
        tensor: the buffer as a 1-D tensor.
        buffer: the same memory as a NumPy array.
    """

    def __init__(
        self, shapes: Sequence[tuple[int, ...]], dtype: DType, backend: TensorBackend
    ) -> None:
        ends = np.cumsum([0, *map(math.prod, shapes)]).tolist()
        tensor = zeros(ends[-1], dtype=dtype, backend=backend)
        if not isinstance(tensor._tensor.storage, np.ndarray):
            tensor = tensor.to(get_backend("numpy"))
        self.tensor = tensor
        self.buffer: Array = tensor.numpy()
        self._parts = [
            tensor[start:end].view(shape)
            for start, end, shape in zip(ends, ends[1:], shapes, strict=False)
        ]

    def put(self, index: int, tensor: Tensor | None) -> None:
        """Copy a tensor to its part of the buffer; fill the part with zeros for None."""
        part = self._parts[index]
        if tensor is None:
            part.zero_()
        else:
            _copy(tensor, part)

    def take(self, index: int, tensor: Tensor) -> None:
        """Copy a part of the buffer to a tensor."""
        _copy(self._parts[index], tensor)


def _copy(source: Tensor, target: Tensor) -> None:
    """Copy elements with the backend, without the checks of `copy_`."""
    if source.backend is not target.backend:
        source = source.detach().to(target.backend)
    target.backend.copy(source._tensor, target._tensor)
    target._tensor.bump_version()


def broadcast(group: Group, tensors: Iterable[Tensor], what: str, root: int = 0) -> None:
    """Copy the elements of tensors from the rank `root` to all others.

    There is one message per dtype; `what` describes the tensors in error messages.
    """
    if group.size == 1:
        return
    groups: dict[tuple[DType, TensorBackend], list[Tensor]] = {}
    for tensor in tensors:
        groups.setdefault((transfer_dtype(tensor.dtype), tensor.backend), []).append(tensor)
    for kind, members in groups.items():
        packed = Packed([tensor.shape for tensor in members], *kind)
        if group.rank == root:
            for index, tensor in enumerate(members):
                packed.put(index, tensor)
        group.broadcast(packed.buffer, what, root)
        if group.rank != root:
            for index, tensor in enumerate(members):
                packed.take(index, tensor)


# --- Averaging ------------------------------------------------------------------------------------


FIRST_BYTES = 2**20
"""The size of the first bucket, which is small so that it is full early."""

Named = tuple[str, Parameter]


class _Bucket:
    """Gradients of some parameters, which are summed with one message."""

    def __init__(self, members: Sequence[Named]) -> None:
        self.members = members
        first = members[0][1]
        shapes = [parameter.shape for _, parameter in members]
        self.packed = Packed(shapes, transfer_dtype(first.dtype), first.backend)
        self.missing = set(range(len(members)))
        self.sum: Pending | None = None


class Averaging:
    """Average gradients as soon as all parameters have one.

    Args:
        group: the ranks.
        parameters: names and parameters, in the order in which a model uses them.
        bucket_bytes: the size of all buckets except the first.
    """

    def __init__(self, group: Group, parameters: Sequence[Named], bucket_bytes: float) -> None:
        self._group = group
        self._buckets = [_Bucket(each) for each in _split(parameters, bucket_bytes)]
        self._positions = {
            id(parameter): (bucket, index)
            for bucket in self._buckets
            for index, (_, parameter) in enumerate(bucket.members)
        }
        self._parameters = [p for bucket in self._buckets for _, p in bucket.members]
        self._started = 0  # the number of buckets whose sum was started
        self._unused: Array | None = None  # 1 for each parameter that is not used on this rank
        self.active = False
        for _, parameter in parameters:
            parameter.register_post_accumulate_grad_hook(self._gradient_is_complete)

    def expect(self, unused: Collection[int] | None) -> None:
        """Prepare for the gradients of a new result.

        Args:
            unused: the ids of the parameters that it does not depend on; None if unknown.

        Raises:
            RankError: only some of the parameters received a gradient from the last result.
        """
        missing = [
            bucket.members[index][0] for bucket in self._buckets for index in sorted(bucket.missing)
        ]
        if missing and len(missing) < len(self._positions):
            self._reset()
            raise RankError(
                f"{', '.join(missing[:5])}{', ...' if len(missing) > 5 else ''} received no "
                "gradient from the last result, so gradients could not be averaged: let the result "
                "depend on all parameters, or use DataParallel(find_unused_parameters=True)."
            )
        self.active = True
        self._unused = None
        if unused is not None:
            self._unused = np.array([id(each) in unused for each in self._parameters], np.int32)
            for each in self._parameters:
                if id(each) in unused:
                    self._pack(each)
            self._advance()

    def _gradient_is_complete(self, parameter: Parameter) -> None:
        if self.active:
            self._pack(parameter)
            self._advance()

    def _pack(self, parameter: Parameter) -> None:
        """Copy a gradient to its bucket."""
        bucket, index = self._positions[id(parameter)]
        if index not in bucket.missing:
            raise RankError(
                f"{bucket.members[index][0]} received a second gradient before all parameters had "
                "one: compute all gradients except the last ones within no_sync(), or "
                "differentiate the sum of the results."
            )
        bucket.missing.discard(index)
        bucket.packed.put(index, parameter.grad)

    def _advance(self) -> None:
        """Start the sums of full buckets, in order; after the last one, finish."""
        for bucket in self._buckets[: self._started]:
            if bucket.sum is not None:
                bucket.sum.progress()
        while self._started < len(self._buckets) and not self._buckets[self._started].missing:
            bucket = self._buckets[self._started]
            self._started += 1
            what = f"gradients {self._started} of {len(self._buckets)}"
            bucket.sum = self._group.start_sum(bucket.packed.buffer, what)
        if self._started == len(self._buckets):
            self._finish()

    def _finish(self) -> None:
        """Wait for the sums, and store the means as gradients."""
        unused = self._unused_on_all_ranks()
        for bucket in self._buckets:
            if bucket.sum is not None:
                bucket.sum.wait()
            bucket.packed.tensor.div_(self._group.size)
            for index, (_, parameter) in enumerate(bucket.members):
                if id(parameter) in unused:
                    continue
                if parameter.grad is None:
                    parameter.grad = parameter._full(parameter.shape, 0.0, parameter.dtype)
                bucket.packed.take(index, parameter.grad)
        self._reset()

    def _unused_on_all_ranks(self) -> set[int]:
        """Return the ids of the parameters that are not used on any rank."""
        if self._unused is None:
            return set()
        self._group.sum(self._unused, "unused parameters")
        indices = np.flatnonzero(self._unused == self._group.size)
        return {id(self._parameters[index]) for index in indices}

    def _reset(self) -> None:
        """Prepare for the next gradients."""
        self._started = 0
        for bucket in self._buckets:
            bucket.missing = set(range(len(bucket.members)))
            bucket.sum = None


def _split(parameters: Sequence[Named], bucket_bytes: float) -> list[list[Named]]:
    """Split parameters into buckets of one dtype and backend each, starting with the last."""
    buckets: list[list[Named]] = []
    free = 0.0
    before: tuple[DType, TensorBackend] | None = None
    for name, parameter in reversed(parameters):
        kind = transfer_dtype(parameter.dtype), parameter.backend
        size = parameter.numel() * kind[0].itemsize
        if size > free or kind != before:
            free = bucket_bytes if buckets else min(FIRST_BYTES, bucket_bytes)
            buckets.append([])
        before = kind
        buckets[-1].append((name, parameter))
        free -= size
    return buckets
