"""The guards of a program, which check that the state is the same as when it was recorded."""

from __future__ import annotations

import itertools
from typing import Any

from mt_tensor.core.tensor import Tensor
from mt_tensor.programs.replay_writer import ReplayWriter
from mt_tensor.programs.slots import Slot


def add_guards(code: ReplayWriter) -> None:
    """Write all guards, and load the numbers of optimizers."""
    snapshot, numbers = code.snapshot, code.recorder.numbers
    _guard_containers(code)
    for slot, value in snapshot.slots:
        if slot.id not in numbers.inputs:
            _guard_slot(code, slot, value)
    _load_numbers(code)
    for condition, result in dict.fromkeys(numbers.guards):
        code.guard(f"{condition} is {result}")
    for key, (tensor, slots) in snapshot.tensors.items():
        grad, path = slots[1], f"{code.tensor(tensor)}._grad"
        if isinstance(grad, Tensor) and code.tensor(grad) != path:  # also an argument, or shared
            code.guard(f"{path} is {code.tensor(grad)}")
        if key in code.positions:  # the rest is in the key of the arguments
            code.guard_same(f"{code.tensor(tensor)}._hooks", slots[-2], False)
        elif key in code.slots or key not in code.owners:
            _guard_tensor(code, tensor, slots)


def _load_numbers(code: ReplayWriter) -> None:
    """Assign the numbers of optimizers to local names, and require their types."""
    count = itertools.count(1)
    for slot, value in code.recorder.numbers.inputs.values():
        path, parts = code.slot(slot), [("", value)]
        if isinstance(value, tuple):
            code.guard(f"type({path}) is tuple and len({path}) == {len(value)}")
            parts = [(f"[{at}]", each) for at, each in enumerate(value)]
        for index, each in parts:
            name = f"n{next(count)}"
            code.guards.append(f"{name} = {path}{index}")
            code.guard(f"type({name}) is {type(each).__name__}")


def _guard_containers(code: ReplayWriter) -> None:
    """Require the same keys, in the same order, and lengths and elements of arrays."""
    snapshot = code.snapshot
    for holder, copy in snapshot.holders:
        name = code.constant(holder, "c")
        code.guard(f"len({name}) == {len(copy)}")
        if copy and snapshot.is_keyed(holder):
            code.guard(f"same_items({name}, {code.constant(list(copy))})")
    for holder, items in snapshot.long_containers:
        values = code.constant(holder, "c") + (".values()" if isinstance(holder, dict) else "")
        code.guard(f"same_items({values}, {code.constant(items)})")
    for array, elements in snapshot.arrays:
        code.guard(f"{code.constant(array)}.tobytes() == {code.constant(elements)}")


def _guard_slot(code: ReplayWriter, slot: Slot, value: Any) -> None:
    """Require that a slot has the same value, or tensors of the same layout if it is rebound."""
    is_rebound = code.is_rebound(slot)
    if isinstance(slot.holder, tuple) and not is_rebound:
        return  # the tuple itself is compared
    path = code.slot(slot)
    if isinstance(value, Tensor):
        if code.tensor(value) != path:  # a constant, an argument, or in several slots
            code.guard(f"{path} is {code.tensor(value)}")
    elif isinstance(value, tuple) and is_rebound:
        kind = code.constant(type(value))
        code.guard(f"type({path}) is {kind} and len({path}) == {len(value)}")
    else:
        code.guard_same(path, value, True)


def _guard_tensor(code: ReplayWriter, tensor: Tensor, slots: tuple[Any, ...]) -> None:
    """Require that a tensor has the same memory, name and autograd state."""
    name = code.tensor(tensor)
    data, grad, requires_grad, node, _, hooks, label = slots
    if code.is_fixed(tensor):
        code.guard_same(f"{name}._tensor", data, False)
    else:
        layout, backend = code.constant(data.layout), code.constant(tensor.backend)
        code.guard(f"type({name}) is {code.constant(type(tensor))} and {name}.backend is {backend}")
        code.guard(f"{name}._tensor.layout is {layout}")
    code.guard(f"{name}._requires_grad == {requires_grad!r} and {name}.name == {label!r}")
    code.guard(f"{name}._grad {'is' if grad is None else 'is not'} None")
    code.guard(f"{name}._node {'is' if node is None else 'is not'} None")
    code.guard_same(f"{name}._hooks", hooks, False)
