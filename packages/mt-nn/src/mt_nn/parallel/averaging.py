"""Averages of gradients over all ranks, made while backpropagation goes on.

Gradients become complete from the last layer to the first. They are gathered in *buckets* in that
order, and as soon as a bucket is full its sum is begun, while the layers before are still being
differentiated (Li and others, PyTorch Distributed, 2020). All ranks begin the same sums in the same
order. When the last gradient is there, what is left of the waiting is done.
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


def traveling(dtype: DType) -> DType:
    """Return the type in which elements of a type are sent."""
    return float32 if dtype.is_narrow else dtype


class Packed:
    """Room for tensors of one type, one after the other.

    It is memory of the host, from where messages are sent.

    Args:
        shapes: those of the tensors.
        dtype: the type in which they travel.
        backend: that of the tensors.

    Attributes:
        tensor: all of the room, 1-D.
        buffer: the same, as a group takes it.
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


def broadcast(group: Group, tensors: Iterable[Tensor], what: str, root: int = 0) -> None:
    """Give all ranks the elements of the tensors of one rank, `root`.

    There is a message for each type; `what` the tensors are is for error messages.
    """
    if group.size == 1:
        return
    alike: dict[tuple[DType, TensorBackend], list[Tensor]] = {}
    for tensor in tensors:
        alike.setdefault((traveling(tensor.dtype), tensor.backend), []).append(tensor)
    for kind, some in alike.items():
        packed = Packed([tensor.shape for tensor in some], *kind)
        if group.rank == root:
            for place, tensor in enumerate(some):
                packed.put(place, tensor)
        group.broadcast(packed.buffer, what, root)
        if group.rank != root:
            for place, tensor in enumerate(some):
                packed.take(place, tensor)


# --- Averaging ------------------------------------------------------------------------------------


FIRST_BYTES = 2**20
"""The size of the first bucket: a small one is full early."""

Named = tuple[str, Parameter]


class _Bucket:
    """Gradients of some parameters, which are added up in one message."""

    def __init__(self, members: Sequence[Named]) -> None:
        self.members = members
        first = members[0][1]
        shapes = [parameter.shape for _, parameter in members]
        self.packed = Packed(shapes, traveling(first.dtype), first.backend)
        self.missing = set(range(len(members)))
        self.sum: Pending | None = None


class Averaging:
    """Averages the gradients of parameters whenever all of them have one.

    Args:
        group: the ranks.
        parameters: by name, in the order in which a model uses them.
        bucket_bytes: how large buckets are, except the first one.
    """

    def __init__(self, group: Group, parameters: Sequence[Named], bucket_bytes: float) -> None:
        self._group = group
        self._buckets = [_Bucket(each) for each in _divided(parameters, bucket_bytes)]
        self._places = {
            id(parameter): (bucket, place)
            for bucket in self._buckets
            for place, (_, parameter) in enumerate(bucket.members)
        }
        self._parameters = [p for bucket in self._buckets for _, p in bucket.members]
        self._begun = 0  # how many buckets
        self._unused: Array | None = None  # of which parameters no gradient is expected here
        self.active = False
        for _, parameter in parameters:
            parameter.register_post_accumulate_grad_hook(self._arrived)

    def expect(self, unused: Collection[int] | None) -> None:
        """Prepare for the gradients of a new result.

        Args:
            unused: the parameters, by `id`, that it does not depend on; None if nobody has looked.

        Raises:
            RankError: of the last result, some parameters have got a gradient and others have not.
        """
        missing = [
            bucket.members[place][0] for bucket in self._buckets for place in sorted(bucket.missing)
        ]
        if missing and len(missing) < len(self._places):
            self._forget()
            raise RankError(
                f"of the last result, {', '.join(missing[:5])}"
                f"{', ...' if len(missing) > 5 else ''} got no gradient, so that no rank could go "
                "on: let a result depend on all parameters, or give DataParallel "
                "find_unused_parameters=True."
            )
        self.active = True
        self._unused = None
        if unused is not None:
            self._unused = np.array([id(each) in unused for each in self._parameters], np.int32)
            for each in self._parameters:
                if id(each) in unused:
                    self._note(each)
            self._go_on()

    def average(self) -> None:
        """Average the gradients that parameters have now; one that is missing counts as zeros."""
        self.expect({id(p) for p in self._parameters if p.grad is None})
        for parameter in self._parameters:
            if parameter.grad is not None:
                self._note(parameter)
        self._go_on()
        self.active = False

    def _arrived(self, parameter: Parameter) -> None:
        """Take the gradient of a parameter, which is complete."""
        if self.active:
            self._note(parameter)
            self._go_on()

    def _note(self, parameter: Parameter) -> None:
        bucket, place = self._places[id(parameter)]
        if place not in bucket.missing:
            raise RankError(
                f"{bucket.members[place][0]} got a second gradient before all parameters had one: "
                "compute all but the last within no_sync(), or differentiate the sum of the "
                "results."
            )
        bucket.missing.discard(place)
        bucket.packed.put(place, parameter.grad)

    def _go_on(self) -> None:
        """Begin the sums of buckets that are full, in their order; finish when there is none."""
        for bucket in self._buckets[: self._begun]:
            if bucket.sum is not None:
                bucket.sum.progress()
        while self._begun < len(self._buckets) and not self._buckets[self._begun].missing:
            bucket = self._buckets[self._begun]
            self._begun += 1
            what = f"gradients {self._begun} of {len(self._buckets)}"
            bucket.sum = self._group.start_sum(bucket.packed.buffer, what)
        if self._begun == len(self._buckets):
            self._finish()

    def _finish(self) -> None:
        """Wait for the sums, and let gradients be means."""
        used_nowhere = self._used_nowhere()
        for bucket in self._buckets:
            if bucket.sum is not None:
                bucket.sum.wait()
            bucket.packed.tensor.div_(self._group.size)
            for place, (_, parameter) in enumerate(bucket.members):
                if id(parameter) in used_nowhere:
                    continue
                if parameter.grad is None:
                    parameter.grad = parameter._full(parameter.shape, 0.0, parameter.dtype)
                bucket.packed.take(place, parameter.grad)
        self._forget()

    def _used_nowhere(self) -> set[int]:
        """Return the parameters, by `id`, that the result depends on at no rank."""
        if self._unused is None:
            return set()
        self._group.sum(self._unused, "unused parameters")
        nowhere = np.flatnonzero(self._unused == self._group.size)
        return {id(self._parameters[number]) for number in nowhere}

    def _forget(self) -> None:
        """Be ready for the next gradients."""
        self._begun = 0
        for bucket in self._buckets:
            bucket.missing = set(range(len(bucket.members)))
            bucket.sum = None


def _divided(parameters: Sequence[Named], bucket_bytes: float) -> list[list[Named]]:
    """Return parameters in buckets: the last ones first, of one type and backend each."""
    buckets: list[list[Named]] = []
    room = 0.0
    before: tuple[DType, TensorBackend] | None = None
    for name, parameter in reversed(parameters):
        kind = traveling(parameter.dtype), parameter.backend
        size = parameter.numel() * kind[0].itemsize
        if size > room or kind != before:
            room = bucket_bytes if buckets else min(FIRST_BYTES, bucket_bytes)
            buckets.append([])
        before = kind
        buckets[-1].append((name, parameter))
        room -= size
    return buckets
