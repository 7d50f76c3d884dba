"""The guards of a program: conditions on the state that it was recorded with."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from mt_tensor.core.tensor import Tensor
from mt_tensor.programs.snapshot import Slot
from mt_tensor.programs.symbolic_numbers import SymbolicNumbers
from mt_tensor.programs.tensor_paths import TensorPaths


def add_guards(
    locations: TensorPaths,
    numbers: SymbolicNumbers,
) -> None:
    """Write all guards, and take the numbers that vary from their places.

    Args:
        locations: where tensors lie.
        numbers: the numbers that are inputs.
    """
    source, snapshot = locations.code, locations.snapshot
    for holder, copy in snapshot.holders:
        text = source.constant(holder, "c")
        source.guard(f"len({text}) == {len(copy)}")
        if isinstance(holder, dict) and len(copy) > 1 and id(holder) not in snapshot.namespaces:
            source.guard(f"same_items({text}, {source.constant(list(copy))})")
    for holder, items in snapshot.rows:
        text = source.constant(holder, "c") + (".values()" if isinstance(holder, dict) else "")
        source.guard(f"same_items({text}, {source.constant(items)})")
    for place, value in snapshot.slots:
        if place.id not in numbers.inputs:
            _ask_place(locations, place, value)
    count = itertools.count(1)
    for place, value in numbers.inputs.values():
        _take_numbers(locations, place, value, count)
    for question, answer in dict.fromkeys(numbers.guards):
        source.guard(f"{question} is {answer}")
    for tensor, slots in snapshot.tensors.values():
        if locations.is_constant(tensor):
            _ask_tensor(locations, tensor, slots)


def _ask_place(locations: TensorPaths, place: Slot, value: Any) -> None:
    """Ask for what lies in a place."""
    source, moves = locations.code, locations.is_rebound(place)
    if isinstance(place.holder, tuple) and not moves:
        return  # it never changes, and is asked for itself
    text = locations.slot(place)
    if isinstance(value, Tensor):
        if id(value) in locations.slots:
            _ask_like(locations, text, value)
        else:
            source.guard_same(text, value, False)
    elif isinstance(value, tuple) and moves:
        kind = source.constant(type(value))
        source.guard(f"type({text}) is {kind} and len({text}) == {len(value)}")
    elif isinstance(value, np.ndarray):
        source.guard_array(text, value)
    else:
        source.guard_same(text, value, True)


def _take_numbers(locations: TensorPaths, place: Slot, value: Any, count: Iterator[int]) -> None:
    """Take the numbers in a place, which are of the types that they had."""
    source, text = locations.code, locations.slot(place)
    parts = [(text, value)]
    if isinstance(value, tuple):
        source.guard(f"type({text}) is tuple and len({text}) == {len(value)}")
        parts = [(f"{text}[{at}]", each) for at, each in enumerate(value)]
    for part, each in parts:
        name = f"n{next(count)}"
        source.guards.append(f"{name} = {part}")
        source.guard(f"type({name}) is {type(each).__name__}")


def _ask_like(locations: TensorPaths, text: str, tensor: Tensor) -> None:
    """Ask for another tensor of the same kind."""
    source = locations.code
    (data, _, wanted, *_) = locations.snapshot.tensors[id(tensor)][1]
    layout, backend = source.constant(data.layout), source.constant(tensor.backend)
    source.guard(
        f"{text}._tensor.layout is {layout} and {text}.backend is {backend} "
        f"and {text}._requires_grad == {wanted!r} and {text}._node is None"
    )


def _ask_tensor(locations: TensorPaths, tensor: Tensor, slots: tuple[Any, ...]) -> None:
    """Ask whether a tensor has the memory, and the part in gradients, that it had."""
    source, text = locations.code, locations.tensor(tensor)
    data, grad, wanted, node, _, watch, name = slots
    source.guard_same(f"{text}._tensor", data, False)
    source.guard(f"{text}._requires_grad == {wanted!r} and {text}.name == {name!r}")
    if wanted:
        source.guard(f"{text}._grad {'is' if grad is None else 'is not'} None")
        source.guard_same(f"{text}._watch", watch, False)
    if node is None:
        source.guard(f"{text}._node is None")
