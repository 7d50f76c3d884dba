"""One pass over memory: neighbouring operations on elements, of which nothing between is stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from zlib import crc32

from mt_operators import Formula
from mt_operators.core.tracing import graph_of, trace
from mt_tensor.core.dtypes import bool_, float32, float64
from mt_tensor.core.layout import Layout
from mt_tensor.programs.program import Instruction, View

LEAST = 16384
"""Elements from which a reduction takes along what computes them: fewer are in the cache anyway."""

FOLD = "fold"
"""By what name a backend offers, as a kernel, to reduce what a formula computes in one pass.

It is a function of the backend, the formula, the layouts of its inputs (None for numbers) and of
its result, and the operator, the dimensions and `keepdim` of the reduction. What it returns is a
function of the inputs that returns the result; or None, if it has none for such views.
"""

MOST_STEPS = 64
"""How many operations a pass over memory has at most: more would not fit the registers."""


def fused(calls: Sequence[Instruction], kept: set[Any]) -> list[Instruction]:
    """Make neighbouring operations on elements one pass: nothing between them goes to memory.

    An operation is computed where its result is read, if that is one place which reads it element
    by element, if what the operation reads is still what it was, and if the place does not write to
    another view of it: the pass would read what it has just written.
    """
    calls = list(calls)
    readers = _readers(calls)
    changed = {view.memory.group for each in calls for view in each.changes}
    position = 0
    while position < len(calls):
        producer = calls[position]
        reader = _only_reader(producer, readers, kept | changed)
        if reader is None or _writes_elsewhere_in(reader, producer.reads):
            position += 1
            continue
        if _unchanged_until(calls, position, reader):
            one = (composed if reader.formula else reduced)(producer, reader)
            if one is not None:
                calls[calls.index(reader)] = one
                del calls[position]
                for view in one.reads:
                    users = readers.get(id(view.memory), [])
                    readers[id(view.memory)] = [
                        one if each in (producer, reader) else each for each in users
                    ]
                continue
        position += 1
    return calls


def _readers(calls: Iterable[Instruction]) -> dict[int, list[Instruction]]:
    readers: dict[int, list[Instruction]] = {}
    for each in calls:
        for view in each.reads:
            users = readers.setdefault(id(view.memory), [])
            if each not in users:
                users.append(each)
        for box in each.boxes:
            for group in box.holds:
                readers.setdefault(group, []).append(each)
    return readers


def _only_reader(
    call: Instruction, readers: dict[int, list[Instruction]], taken: set[Any]
) -> Instruction | None:
    """Return the operation on elements, or reduction, that reads what one made, if it is all."""
    if call.formula is None or call.changes or len(call.makes) != 1 or call.formula.outputs != 1:
        return None
    (made,) = call.makes
    if made.memory.group in taken or readers.get(made.memory.group):
        return None
    users = readers.get(id(made.memory), [])
    if len(users) != 1 or users[0].backend is not call.backend:
        return None
    if users[0].formula is None and (users[0].name != "reduce" or made.layout.size < LEAST):
        return None
    views = [view for view in users[0].reads if view.memory is made.memory]
    if any(view.layout is not made.layout for view in views):
        return None
    return users[0]


def _writes_elsewhere_in(call: Instruction, views: Iterable[View]) -> bool:
    """Whether a call writes to memory of views, other than each element to its own place."""
    return any(
        view.memory.group == changed.memory.group
        and (view.memory is not changed.memory or view.layout is not changed.layout)
        for changed in call.changes
        for view in views
    )


def _unchanged_until(calls: Sequence[Instruction], position: int, reader: Instruction) -> bool:
    """Whether nobody changes what a call reads before its reader does."""
    groups = {view.memory.group for view in calls[position].reads}
    for each in calls[position + 1 :]:
        if each is reader:
            return True
        if groups & {view.memory.group for view in each.changes}:
            return False
    return False


def composed(producer: Instruction, reader: Instruction) -> Instruction | None:
    """Return two operations on elements as one, which gives the same bits; None if none does.

    Both compute in the same type, float32 or float64, and over the same elements.
    """
    first, second = producer.formula, reader.formula
    if first is None or second is None:
        return None
    (made,) = producer.makes
    shape = made.layout.shape
    out = reader.arguments[0]
    target = out if isinstance(out, Layout) else reader.changes[0].layout
    types = {_type_of(producer), _type_of(reader)}
    if target.shape != shape or len(types) != 1 or types & {None}:
        return None
    if made.layout.dtype is not bool_ and made.layout.dtype not in types:
        return None
    if made.layout.dtype is bool_ and not all(
        graph_of(first).expressions[at].is_bool for at in graph_of(first).outputs
    ):
        return None
    inputs: list[Any] = []

    def position_of(value: Any) -> int:
        for at, each in enumerate(inputs):
            if each is value or (
                isinstance(value, View)
                and isinstance(each, View)
                and each.memory is value.memory
                and each.layout is value.layout
            ):
                return at
        inputs.append(value)
        return len(inputs) - 1

    before = [position_of(value) for value in producer.arguments[1:]]
    after: list[int | None] = []
    for value in reader.arguments[1:]:
        is_made = isinstance(value, View) and value.memory is made.memory
        after.append(None if is_made else position_of(value))
    function, other = first.function, second.function

    def both(*values: Any) -> Any:
        between = function(*[values[at] for at in before])
        return other(*[between if at is None else values[at] for at in after])

    name = f"{first.name}_{second.name}"
    if len(name) > 80:
        name = f"fused_{crc32(name.encode())}"  # the same in each process, as caches need it
    outputs = second.outputs
    formula = Formula(name, len(inputs), outputs, both, [f"x{i}" for i in range(len(inputs))])
    try:
        graph = trace(name, both, len(inputs), outputs if outputs > 1 else None)
    except Exception:  # noqa: BLE001 - whatever it is, both stay as they are
        return None
    steps = [e for e in graph.expressions if e.operation not in ("argument", "constant")]
    if len(steps) > MOST_STEPS or len(graph.reads) != len(inputs):
        return None
    formula.cache["graph"] = graph
    return Instruction(
        name,
        reader.backend,
        reader.backend.elementwise(formula),
        (out, *inputs),
        {},
        reader.results,
        reader.changes,
        formula,
        reader.pure,
    )


def reduced(producer: Instruction, reader: Instruction) -> Instruction | None:
    """Return an operation on elements and the reduction of its result as one call, if there is one.

    It gives the same bits.
    """
    formula, kernel = producer.formula, reader.backend.kernel(FOLD)
    (made,) = producer.makes
    if formula is None or kernel is None or made.layout.dtype is not _type_of(producer):
        return None
    inputs = producer.arguments[1:]
    layouts = [value.layout if isinstance(value, View) else None for value in inputs]
    operator, _, *rest = reader.arguments
    function = kernel(
        reader.backend, formula, layouts, made.layout, operator, *rest, **reader.options
    )
    if function is None:
        return None
    return Instruction(
        f"{operator.name}_of_{formula.name}",
        reader.backend,
        function,
        inputs,
        {},
        reader.results,
        work=(producer.operations or 0) + (reader.operations or 0),
    )


def _type_of(call: Instruction) -> Any:
    """Return the type that an operation on elements computes in, if it is float32 or float64."""
    kinds = {view.layout.dtype for view in call.reads} - {bool_}
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    return kind if kind in (float32, float64) else None
