"""What a program asks before it runs: whether all around is as it was when it was written down."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from mt_tensor.core.tensor import Tensor
from mt_tensor.programs.addresses import Addresses
from mt_tensor.programs.numbers import Numbers
from mt_tensor.programs.surroundings import Place


def ask(
    addresses: Addresses,
    numbers: Numbers,
) -> None:
    """Write all questions, and take the numbers that vary from their places.

    Args:
        addresses: where things lie.
        numbers: the numbers that are inputs.
    """
    source, picture = addresses.source, addresses.picture
    for holder, copy in picture.holders:
        text = source.constant(holder, "c")
        source.ask(f"len({text}) == {len(copy)}")
        if isinstance(holder, dict) and len(copy) > 1 and id(holder) not in picture.namespaces:
            source.ask(f"same_items({text}, {source.constant(list(copy))})")
    for holder, items in picture.rows:
        text = source.constant(holder, "c") + (".values()" if isinstance(holder, dict) else "")
        source.ask(f"same_items({text}, {source.constant(items)})")
    for place, value in picture.places:
        if place.id not in numbers.taken:
            _ask_place(addresses, place, value)
    count = itertools.count(1)
    for place, value in numbers.taken.values():
        _take_numbers(addresses, place, value, count)
    for question, answer in dict.fromkeys(numbers.guards):
        source.ask(f"{question} is {answer}")
    for tensor, slots in picture.tensors.values():
        if addresses.is_fixed(tensor):
            _ask_tensor(addresses, tensor, slots)


def _ask_place(addresses: Addresses, place: Place, value: Any) -> None:
    """Ask for what lies in a place."""
    source, moves = addresses.source, addresses.is_moving(place)
    if isinstance(place.holder, tuple) and not moves:
        return  # it never changes, and is asked for itself
    text = addresses.place(place)
    if isinstance(value, Tensor):
        if id(value) in addresses.moving:
            _ask_like(addresses, text, value)
        else:
            source.ask_same(text, value, False)
    elif isinstance(value, tuple) and moves:
        kind = source.constant(type(value))
        source.ask(f"type({text}) is {kind} and len({text}) == {len(value)}")
    elif isinstance(value, np.ndarray):
        source.ask_array(text, value)
    else:
        source.ask_same(text, value, True)


def _take_numbers(addresses: Addresses, place: Place, value: Any, count: Iterator[int]) -> None:
    """Take the numbers in a place, which are of the types that they had."""
    source, text = addresses.source, addresses.place(place)
    parts = [(text, value)]
    if isinstance(value, tuple):
        source.ask(f"type({text}) is tuple and len({text}) == {len(value)}")
        parts = [(f"{text}[{at}]", each) for at, each in enumerate(value)]
    for part, each in parts:
        name = f"n{next(count)}"
        source.questions.append(f"{name} = {part}")
        source.ask(f"type({name}) is {type(each).__name__}")


def _ask_like(addresses: Addresses, text: str, tensor: Tensor) -> None:
    """Ask for another tensor of the same kind."""
    source = addresses.source
    (data, _, wanted, *_) = addresses.picture.tensors[id(tensor)][1]
    layout, backend = source.constant(data.layout), source.constant(tensor.backend)
    source.ask(
        f"{text}._tensor.layout is {layout} and {text}.backend is {backend} "
        f"and {text}._requires_grad == {wanted!r} and {text}._node is None"
    )


def _ask_tensor(addresses: Addresses, tensor: Tensor, slots: tuple[Any, ...]) -> None:
    """Ask whether a tensor has the memory, and the part in gradients, that it had."""
    source, text = addresses.source, addresses.tensor(tensor)
    data, grad, wanted, node, _, watch, name = slots
    source.ask_same(f"{text}._tensor", data, False)
    source.ask(f"{text}._requires_grad == {wanted!r} and {text}.name == {name!r}")
    if wanted:
        source.ask(f"{text}._grad {'is' if grad is None else 'is not'} None")
        source.ask_same(f"{text}._watch", watch, False)
    if node is None:
        source.ask(f"{text}._node is None")
