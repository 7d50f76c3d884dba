"""Many small changes in one launch: how an optimizer changes all parameters at once.

An optimizer computes the same formula for each of its parameters, and a launch for each would take
longer than the work. Within `together` an element-wise operation waits for others of its formula,
until there are enough, or until anything else is asked for. What depends on one that waits is never
taken along: then those before are launched first. So whoever calls the backend sees the same as
without it.
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
    """What groups of tensors have in common that are changed by one kernel.

    Attributes:
        places: for each view of the formula, which of the group's storages it is: what is changed
            in place is read and written, but passed once.
        unit: for each view, whether its elements follow each other; the others are one element.
    """

    places: tuple[int, ...]
    unit: tuple[bool, ...]

    @property
    def first(self) -> list[int]:
        """For each storage, the first view that it is."""
        return [self.places.index(place) for place in range(max(self.places) + 1)]


def together(
    formula: Formula, graph: Graph, types: Signature, pattern: Pattern, threads: int
) -> Kernel:
    """Return the kernel that computes a formula for groups of tensors, which are views of one call.

    Args:
        formula: what is computed.
        graph: the traced formula.
        types: the element types of a group.
        pattern: what the groups have in common.
        threads: threads of a block.
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
    """Calls of one formula that have not been launched yet.

    Attributes:
        key: what they have in common: formula, types, pattern and numbers.
        call: the first of them.
        groups: the views of each.
        written: the identities of the memories that they write to.
        read: those of the memories that they read.
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
        """Delay a call, and return whether that is possible."""
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
        """Launch what waits."""
        calls = self._waiting
        if calls is not None:
            self._waiting = None
            self._launch(calls)

    def _launch(self, calls: Waiting) -> None:
        ops = self._ops
        formula, types, pattern, values = calls.key
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
    """Let calls of one formula wait for each other within a block."""
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
    """Return the pattern of a call's views; one without places if it cannot be joined by others.

    That is where positions must be worked out from strides, and where a storage that is read and
    written is so by different views.

    Args:
        call: the call.
        views: what it is run on.
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


SPECIAL_CASES["together"] = delaying
