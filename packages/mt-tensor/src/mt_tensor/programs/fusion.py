"""Fusion: merge dependent elementwise operations into one, without intermediate buffers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from zlib import crc32

from mt_operators import Formula
from mt_operators.core.tracing import graph_of, trace
from mt_tensor.core.dtypes import bool_, float32, float64
from mt_tensor.core.layout import Layout
from mt_tensor.programs.program import Buffer, Instruction, View

MIN_SIZE = 16384
"""The minimum number of elements of a producer that is fused with a reduction.

Fewer elements stay in the cache anyway.
"""

FOLD = "fold"
"""The name of the kernel by which a backend fuses a formula with the reduction of its result.

It is a function of the backend, the formula, the layouts of its inputs (None for numbers) and of
its result, and the operator, the dimensions and `keepdim` of the reduction. It returns a function
of the inputs that returns the reduced result; or None for views that it does not support.
"""

MAX_OPERATIONS = 64
"""The maximum number of operations of a fused formula; more would not fit into registers."""


def fuse_elementwise(calls: Sequence[Instruction], live_out: set[Any]) -> list[Instruction]:
    """Fuse elementwise operations with the only instruction that reads their result.

    The reader is an elementwise operation over the same elements, or a reduction. No instruction
    between the two may change the inputs of the producer, and the reader must not write to another
    view of them: a fused operation would read elements that it has just written.
    """
    calls = list(calls)
    readers: dict[Buffer, list[Instruction]] = {}
    fixed = set(live_out)
    for call in calls:
        fixed.update(call.changed_groups, *[each.groups for each in call.consumed])
        for buffer in {view.buffer for view in call.reads}:
            readers.setdefault(buffer, []).append(call)
    position = 0
    while position < len(calls):
        producer = calls[position]
        reader = _only_reader(producer, readers, fixed)
        one = None
        if (
            reader is not None
            and not _writes_elsewhere_in(reader, producer.reads)
            and _unchanged_until(calls, position, reader)
        ):
            one = (composed if reader.formula else reduced)(producer, reader)
        if reader is None or one is None:
            position += 1
            continue
        calls[calls.index(reader)] = one
        del calls[position]
        for view in one.reads:
            readers[view.buffer] = [
                one if each in (producer, reader) else each for each in readers[view.buffer]
            ]
    return calls


def _only_reader(
    call: Instruction, readers: dict[Buffer, list[Instruction]], fixed: set[Any]
) -> Instruction | None:
    """Return the only instruction that reads a result, if the two may be fused."""
    if call.formula is None or call.changes or len(call.makes) != 1 or call.formula.outputs != 1:
        return None
    (made,) = call.makes
    users = readers.get(made.buffer, [])
    if made.buffer.group in fixed or len(users) != 1 or users[0].backend is not call.backend:
        return None
    if users[0].formula is None and (users[0].name != "reduce" or made.layout.size < MIN_SIZE):
        return None
    views = [view for view in users[0].reads if view.buffer is made.buffer]
    return users[0] if all(view == made for view in views) else None


def _writes_elsewhere_in(call: Instruction, views: Iterable[View]) -> bool:
    """Return whether an instruction writes to an alias of some views, other than the same view."""
    return any(
        view.buffer.group == changed.buffer.group and view != changed
        for changed in call.changes
        for view in views
    )


def _unchanged_until(calls: Sequence[Instruction], position: int, reader: Instruction) -> bool:
    """Return whether the operands of an instruction are unchanged until a later one, `reader`."""
    end = calls.index(reader)
    return end > position and all(
        each.changed_groups.isdisjoint(calls[position].uses) for each in calls[position + 1 : end]
    )


def composed(producer: Instruction, reader: Instruction) -> Instruction | None:
    """Return two elementwise operations as one with the same bits; None if that is not possible.

    Both must compute in the same dtype, float32 or float64, and over the same elements.
    """
    first, second = producer.formula, reader.formula
    if first is None or second is None:
        return None
    (made,) = producer.makes
    out = reader.arguments[0]
    target = out if isinstance(out, Layout) else reader.changes[0].layout
    dtype = _dtype_of(producer)
    if target.shape != made.layout.shape or dtype is None or dtype is not _dtype_of(reader):
        return None
    if made.layout.dtype is bool_:
        graph = graph_of(first)
        if not all(graph.expressions[at].is_bool for at in graph.outputs):
            return None
    elif made.layout.dtype is not dtype:
        return None
    inputs: list[Any] = []

    def position_of(value: Any) -> int:
        for at, each in enumerate(inputs):
            if each is value or (isinstance(each, View) and each == value):
                return at
        inputs.append(value)
        return len(inputs) - 1

    before = [position_of(value) for value in producer.arguments[1:]]
    after = [
        None if isinstance(value, View) and value.buffer is made.buffer else position_of(value)
        for value in reader.arguments[1:]
    ]

    def both(*values: Any) -> Any:
        intermediate = first.function(*[values[at] for at in before])
        return second.function(*[intermediate if at is None else values[at] for at in after])

    name = f"{first.name}_{second.name}"
    if len(name) > 80:
        name = f"fused_{crc32(name.encode())}"  # the same in each process, as caches need it
    outputs = second.outputs
    formula = Formula(name, len(inputs), outputs, both, [f"x{i}" for i in range(len(inputs))])
    try:
        graph = trace(name, both, len(inputs), outputs if outputs > 1 else None)
    except Exception:  # noqa: BLE001 - on any error, the two are not fused
        return None
    steps = [e for e in graph.expressions if e.operation not in ("argument", "constant")]
    if len(steps) > MAX_OPERATIONS or len(graph.reads) != len(inputs):
        return None
    formula.cache["graph"] = graph
    function = reader.backend.elementwise(formula)
    return replace(reader, name=name, function=function, arguments=(out, *inputs), formula=formula)


def reduced(producer: Instruction, reader: Instruction) -> Instruction | None:
    """Return an elementwise operation and the reduction of its result as one instruction.

    The bits are the same. The result is None if the backend has no kernel for that.
    """
    formula, kernel = producer.formula, reader.backend.kernel(FOLD)
    (made,) = producer.makes
    if formula is None or kernel is None or made.layout.dtype is not _dtype_of(producer):
        return None
    inputs = producer.arguments[1:]
    layouts = [value.layout if isinstance(value, View) else None for value in inputs]
    operator, _, *rest = reader.arguments
    function = kernel(
        reader.backend, formula, layouts, made.layout, operator, *rest, **reader.options
    )
    if function is None:
        return None
    name = f"{operator.name}_of_{formula.name}"
    work = (producer.operations or 0) + (reader.operations or 0)
    return replace(reader, name=name, function=function, arguments=inputs, options={}, work=work)


def _dtype_of(call: Instruction) -> Any:
    """Return the dtype that an elementwise operation computes in, if it is float32 or float64."""
    dtypes = {view.layout.dtype for view in call.reads} - {bool_}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    return dtype if dtype in (float32, float64) else None
