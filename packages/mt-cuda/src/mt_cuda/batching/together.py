"""Many small updates in one launch: how an optimizer updates all parameters at once.

An optimizer computes the same formula for each of its parameters, and a launch for each would take
longer than the work. Inside `batch_calls` an elementwise operation is delayed until there are
enough operations of its formula, or until any other operation is called. An operation that depends
on a delayed one is not added to it: the delayed ones are launched first. So results do not change.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from mt_cuda.batching import groups
from mt_cuda.batching.groups import TENSORS
from mt_cuda.core import elementwise
from mt_cuda.core.backend import Call, CudaOps, Plan
from mt_cuda.core.elementwise import Signature
from mt_cuda.core.kernel import Kernel, Parameter, define
from mt_cuda.core.layout import merge
from mt_cuda.core.tables import SPECIAL_CASES
from mt_operators import Formula
from mt_operators.core.graph import Graph
from mt_tensor import TensorData


@dataclass(frozen=True, slots=True)
class Pattern:
    """The common structure of groups of tensors that one kernel updates.

    Attributes:
        places: for each view of the formula, the index of its storage in the group: a view that is
            updated in place is read and written, but passed once.
        unit: for each view, whether its elements are contiguous; the others are one element.
    """

    places: tuple[int, ...]
    unit: tuple[bool, ...]

    @property
    def first(self) -> list[int]:
        """For each storage, the index of its first view."""
        return [self.places.index(place) for place in range(max(self.places) + 1)]


def together(
    formula: Formula, graph: Graph, types: Signature, pattern: Pattern, threads: int
) -> Kernel:
    """Return the kernel that computes a formula for several groups of tensors, one for each call.

    Args:
        formula: the formula.
        graph: the traced formula.
        types: the dtypes of a group.
        pattern: the common structure of the groups.
        threads: the number of threads per block.
    """
    storages = [types.operands[view] for view in pattern.first]
    names = [storages[place][0] for place in pattern.places]
    elements = {
        view: f"{name}[{'i' if row else '0'}]"
        for (view, _), name, row in zip(types.operands, names, pattern.unit, strict=True)
    }
    body = [
        *elementwise.element(graph, types),
        *groups.find([name for name, _ in storages]),
        *groups.visit(threads, elementwise.apply(types, elements)),
    ]
    parameters = [
        *groups.counts(),
        *(Parameter(name, types.computed.name) for name in types.numbers),
        *groups.storages(storages),
    ]
    order = "".join(map(str, pattern.places))
    return define(f"{formula.name}_{types}_together_{order}", parameters, body)


@dataclass(slots=True)
class Waiting:
    """Delayed calls of one formula.

    Attributes:
        key: their common formula, dtypes, pattern and numbers.
        call: the first of them.
        groups: the views of each.
        written: the identities of the allocations that they write.
        read: the identities of the allocations that they read.
    """

    key: tuple[Formula, Signature, Pattern, tuple[np.generic, ...]]
    call: Call
    groups: list[Sequence[TensorData]] = field(default_factory=list)
    written: set[Hashable] = field(default_factory=set)
    read: set[Hashable] = field(default_factory=set)


class Queue:
    """The calls that one thread delays, all of one formula."""

    def __init__(self, ops: CudaOps) -> None:
        self._ops = ops
        self._waiting: Waiting | None = None

    def takes(self, call: Call, views: Sequence[TensorData], values: Sequence[np.generic]) -> bool:
        """Delay a call if possible; return whether it was delayed."""
        ops = self._ops
        memories = [ops.machine.identity(view.storage) for view in views]
        owners = tuple(map(memories.index, memories))
        pattern = ops.remembered((call, owners), lambda: _pattern(call, views, owners))
        if not pattern.places or None in memories:
            return False
        outputs = len(call.types.outputs)
        written, read = memories[-outputs:], memories[:-outputs]
        key = (call.formula, call.types, pattern, tuple(values))
        calls = self._waiting
        if calls is not None:
            depends = not (calls.written.isdisjoint(memories) and calls.read.isdisjoint(written))
            if depends or calls.key != key:
                self.settle()
        calls = self._waiting
        if calls is None:
            calls = self._waiting = Waiting(key, call)
        calls.groups.append(views)
        calls.written.update(written)
        calls.read.update(read)
        if len(calls.groups) == TENSORS:
            self.settle()
        return True

    def settle(self) -> None:
        """Launch the delayed calls."""
        calls, self._waiting = self._waiting, None
        if calls is None:
            return
        ops, (formula, types, pattern, values) = self._ops, calls.key
        if len(calls.groups) == 1:
            ops.over_elements(calls.call, calls.groups[0], values)
            return
        sizes = [group[-1].size for group in calls.groups]
        threads = ops.machine.size.threads

        def plan() -> Plan:
            kernel = together(formula, ops.graph(formula), types, pattern, threads)
            numbers, blocks = groups.counts_of(sizes, threads)
            return ops.plan(kernel, (blocks, 1), threads, numbers)

        planned = ops.remembered((formula, types, pattern, *sizes), plan)
        filled = [*calls.groups, *[calls.groups[-1]] * (TENSORS - len(sizes))]
        ops.launch(planned, [group[k] for group in filled for k in pattern.first], values)


@contextmanager
def delaying(ops: CudaOps) -> Iterator[None]:
    """Delay calls of one formula within a block, to launch them together."""
    if ops.thread.queue is not None:
        yield
        return
    ops.thread.queue = Queue(ops)
    try:
        yield
    finally:
        try:
            ops.settle()
        finally:
            ops.thread.queue = None


def _pattern(call: Call, views: Sequence[TensorData], owners: Sequence[int]) -> Pattern:
    """Return the pattern of a call's views; one without places if the call cannot be delayed.

    This is the case if positions depend on strides, or if a storage is read and written through
    different views.

    Args:
        call: the call.
        views: its views.
        owners: for each view, the first one whose memory it shares.
    """
    alone, outputs = Pattern((), ()), len(call.types.outputs)
    unit = merge(call.shape, call.strides).unit()
    if unit is None or not all(unit[-outputs:]):
        return alone
    known: dict[Hashable, int] = {}
    of_owner: dict[int, set[int]] = {}
    places = []
    for view, owner, row in zip(views, owners, unit, strict=True):
        places.append(known.setdefault((owner, view.offset, row, view.dtype), len(known)))
        of_owner.setdefault(owner, set()).add(places[-1])
    if any(len(of_owner[owner]) > 1 for owner in owners[-outputs:]):
        return alone
    return Pattern(tuple(places), unit)


SPECIAL_CASES["batch_calls"] = delaying
